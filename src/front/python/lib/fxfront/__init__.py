"""What the command does with Python: find a model in a file, trace it, report on it."""

"""Passes over graphs, each in a module of its own."""

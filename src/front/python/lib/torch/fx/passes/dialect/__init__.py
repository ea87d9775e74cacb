"""Passes for one kind of graph."""

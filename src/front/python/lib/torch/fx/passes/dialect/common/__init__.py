"""Passes for any kind of graph."""

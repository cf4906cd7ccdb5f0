"""Stands in for the questions about ranks and groups."""

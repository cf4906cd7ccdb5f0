"""Stands in for the package of collective operators."""

"""Stands in for the parts of the adapter that its vendor may still change."""

"""Comparing the numbers of two runs."""

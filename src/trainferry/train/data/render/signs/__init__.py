"""Rendered street-name signs: several views of one plate, and its text."""

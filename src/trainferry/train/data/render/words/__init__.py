"""Labelled pictures of words, drawn in the manner of street signs."""

"""Follows what the checks ask about: shapes to their roots, loops, options, operators."""

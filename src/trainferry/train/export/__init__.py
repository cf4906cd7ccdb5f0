"""A trained network as a file for other programs, and whether it answers the same."""

from __future__ import annotations

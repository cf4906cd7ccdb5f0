"""How good a network is: scores of words, classes and signs, and what went wrong."""

from __future__ import annotations

"""Starts the ranks of a plan here, with torch elastic's agent, and watches over them."""

from __future__ import annotations

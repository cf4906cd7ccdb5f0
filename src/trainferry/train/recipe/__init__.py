"""What decides a run: its sections, how they are read and what is checked."""

from __future__ import annotations

"""Looking into a run: overflows, dumps, profiles, and two runs side by side."""

from __future__ import annotations

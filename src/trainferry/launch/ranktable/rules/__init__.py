"""The rules of a rank table; each yields what it finds wrong."""

from __future__ import annotations

"""The rules, one per file; the file's name is the rule's name."""

from __future__ import annotations

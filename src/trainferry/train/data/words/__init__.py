"""Pictures of words: records, alphabet, checks and variation."""

from __future__ import annotations

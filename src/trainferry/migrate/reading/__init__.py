"""The parts of reading a source: its bytes, its tokens, its tree and the places between them."""

from __future__ import annotations

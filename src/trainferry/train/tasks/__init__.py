"""What a network is trained for: loss, decoding and score."""

from __future__ import annotations

"""The networks, each in one file: layers only, no loss, no decoding, no device."""

from __future__ import annotations

"""Two runs side by side: what differs, and where they part."""

from __future__ import annotations

"""What all ranks check together before a training: that they are all there, alike and connected."""

from __future__ import annotations

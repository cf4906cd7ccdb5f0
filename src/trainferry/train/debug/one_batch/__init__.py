"""One batch learnt by heart: whether pictures, labels, learning rate and network go together."""

from __future__ import annotations

"""From record files and pictures to batches."""

from __future__ import annotations

"""Carries training across hardware: TensorFlow 1.15 to Ascend NPUs, one device to many."""

from __future__ import annotations

__version__ = "0.1.0"

"""TensorFlow checkpoints, read without TensorFlow."""

from __future__ import annotations

"""Training: data, networks, tasks, loop, checkpoint, evaluation and export."""

from __future__ import annotations

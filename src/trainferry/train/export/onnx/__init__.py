"""ONNX written by hand: nodes, facts about the input, and the file."""

from __future__ import annotations

"""Rewrites TensorFlow 1.15 projects for Ascend NPUs: read, names, find, rules, edit, write."""

from __future__ import annotations

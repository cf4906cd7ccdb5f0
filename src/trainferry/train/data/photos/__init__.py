"""Photographs with a class: records, folders, ImageNet, checks, crops and variation."""

from __future__ import annotations

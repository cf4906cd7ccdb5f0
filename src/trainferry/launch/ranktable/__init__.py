"""Rank tables: which server, device and address each rank of a job on Ascend NPUs has."""

from __future__ import annotations

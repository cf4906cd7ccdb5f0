"""Processes on one machine or many: rank tables, ranks and environment, supervision."""

from __future__ import annotations

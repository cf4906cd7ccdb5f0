"""LMDB files, read without the library: a memory map, two meta pages and a B+ tree."""

from __future__ import annotations

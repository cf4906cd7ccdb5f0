"""Which files are pictures, by their names."""

from __future__ import annotations

PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm")


def is_picture(name: str) -> bool:
    return name.lower().endswith(PICTURE_SUFFIXES)

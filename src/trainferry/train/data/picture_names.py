"""Which files are pictures, by their names."""

from __future__ import annotations

from pathlib import Path

PICTURE_SUFFIXES = (
    *(".jpg", ".jpeg", ".jfif", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"),
)


def is_picture(name: str) -> bool:
    return name.lower().endswith(PICTURE_SUFFIXES)


def holds_pictures(folder: Path) -> bool:
    """Tell whether there are pictures in a folder, or in the folders in it."""
    if not folder.is_dir():
        return False
    inside = list(folder.iterdir())
    return any(is_picture(path.name) for path in inside) or any(
        is_picture(path.name) for each in inside if each.is_dir() for path in each.iterdir()
    )

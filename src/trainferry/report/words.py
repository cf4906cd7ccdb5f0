"""Colours as a terminal shows them."""

from __future__ import annotations

_STYLES = {"red": "31", "yellow": "33", "green": "32", "bold": "1", "dim": "2", "cyan": "36"}


def painted(text: str, *styles: str) -> str:
    """Text with the codes of a terminal around it."""
    return f"\033[{';'.join(_STYLES[style] for style in styles)}m{text}\033[0m"

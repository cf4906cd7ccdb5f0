"""An HTML page that needs nothing else: open it from a file, print it, send it.

What comes from the project is shown, never run: the page allows no script but its own.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from trainferry.report.pieces import shown


def html_page(title: str, body: str, more_style: str = "") -> str:
    """The whole file; `body` is HTML, `title` is text, `more_style` comes after our own."""
    files = resources.files("trainferry.report")
    style = "\n" + files.joinpath("page.css").read_text("utf-8") + more_style
    script = "\n" + files.joinpath("page.js").read_text("utf-8")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en" data-language="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

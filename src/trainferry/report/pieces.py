"""Small pieces of an HTML page. Whatever comes from a project passes through `shown`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from html import escape

# Would do nothing, end the line, turn the text round or be refused by the encoding.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def shown(text: object) -> str:
    """Text for between tags or quotes; what cannot be seen stands as its number."""
    return escape(_UNSEEN.sub(_as_escape, str(text)))


def _as_escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def both(english: str, chinese_text: str) -> str:
    """A text in both languages; the page shows one."""
    return f'<span class="en">{shown(english)}</span><span class="zh">{shown(chinese_text)}</span>'


def code(text: str) -> str:
    """Text, with what stands in backticks as code."""
    pieces = shown(text).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )


def path_text(path: object) -> str:
    """A path that may be broken after its parts."""
    return re.sub(r"(?<=[/_])(?=.)", "<wbr>", shown(path))


def section(name: str, english: str, chinese_text: str, content: str) -> str:
    return f'<section id="{name}"><h2>{both(english, chinese_text)}</h2>{content}</section>'


def table(name: str, titles: Iterable[tuple[str, str]], bodies: str) -> str:
    head = "".join(f"<th>{both(*title)}</th>" for title in titles)
    return f'<table id="{name}"><thead><tr>{head}</tr></thead>{bodies}</table>'


def select(
    name: str, every: str, every_chinese: str, values: Iterable[tuple[str, str, str]]
) -> str:
    """A choice between values, each with its text in both languages."""
    choices = "".join(
        f'<option value="{shown(value)}" data-en="{shown(english)}" '
        f'data-zh="{shown(chinese_text)}">{shown(english)}</option>'
        for value, english, chinese_text in [("", every, every_chinese), *values]
    )
    return f'<select name="{name}" aria-label="{shown(every)}">{choices}</select>'


def counted_choices(counts: Counter[str]) -> list[tuple[str, str, str]]:
    return [(name, text := f"{name} ({number:,})", text) for name, number in counts.most_common()]


def search(name: str, english: str, chinese_text: str) -> str:
    return (
        f'<input type="search" id="{name}" aria-label="{shown(english)}" '
        f'placeholder="{shown(english)}" data-en="{shown(english)}" '
        f'data-zh="{shown(chinese_text)}">'
    )

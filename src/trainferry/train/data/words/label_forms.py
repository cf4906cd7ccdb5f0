"""The forms in which people write down which picture shows which text.

Each form reads a line, or says that the line is not of that form. What reads as two forms is
for the caller to refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

from trainferry.train.data.pack import Problem
from trainferry.train.data.words.picture_files import Labelled

_QUOTED = re.compile(r'([^\t"]+?), *"(.*)" *')
_ESCAPED = re.compile(r'\\(["\\])')


@dataclass(frozen=True)
class Form:
    """One way to write a line: its name, how it looks, who writes so, and its reader.

    `parse` returns the pictures of a line and their text, or None for a line of another form.
    """

    name: str
    looks: str
    writers: str
    parse: Callable[[str], tuple[list[str], str] | None]


def parse_tab(line: str) -> tuple[list[str], str] | None:
    """Read `file<TAB>text`; several files with one text are a JSON list."""
    name, tab, text = line.partition("\t")
    if not tab or not name or "\t" in text or name.startswith("{") or _is_detection(text):
        return None
    return _several(name) or [name], text


def parse_quoted(line: str) -> tuple[list[str], str] | None:
    r"""Read `file, "text"`, in which `\"` is a quotation mark."""
    match = _QUOTED.fullmatch(line)
    return None if match is None else ([match[1]], _ESCAPED.sub(r"\1", match[2]))


def parse_json(line: str) -> tuple[list[str], str] | None:
    """Read `{"filename": file, "text": text}`, or with `img_path`."""
    if not line.startswith("{"):
        return None
    entry = _load(line)
    return _file_and_text(entry, entry) if isinstance(entry, dict) else None


TAB = Form("tab", "`file<TAB>text`", "PaddleOCR and clovaai", parse_tab)
QUOTED = Form("quoted", '`file, "text"`', "ICDAR", parse_quoted)
JSON_LINES = Form("jsonl", '`{"filename": file, "text": text}`', "MMOCR", parse_json)
FORMS = (TAB, QUOTED, JSON_LINES)


def parse_document(text: str) -> list[Any] | None:
    """Return the entries of an annotation file of MMOCR 1.x, or None when `text` is none."""
    document = _load(text) if text.lstrip().startswith("{") else None
    entries = document.get("data_list") if isinstance(document, dict) else None
    return entries if isinstance(entries, list) else None


def read_lines(form: Form, lines: Iterable[tuple[int, str]], file: str) -> Iterator[Labelled]:
    """Read numbered lines; those of another form become problems with their number."""
    for number, line in lines:
        found = form.parse(line)
        if found is None:
            yield Problem(f"{file}:{number}", f"line that is not {form.looks}: {line[:80]}")
        else:
            yield from _words(*found)


def read_document(entries: Iterable[Any], file: str) -> Iterator[Labelled]:
    """Read the entries of an annotation file of MMOCR 1.x, each with one text."""
    for number, entry in enumerate(entries, 1):
        instances = entry.get("instances") if isinstance(entry, dict) else None
        one = instances[0] if isinstance(instances, list) and len(instances) == 1 else None
        found = _file_and_text(entry, one) if isinstance(one, dict) else None
        if found is None:
            yield Problem(f"{file}, entry {number}", "entry without `img_path` and one `text`")
        else:
            yield from _words(*found)


def _words(names: list[str], text: str) -> Iterator[Labelled]:
    for name in names:
        yield (name, text) if text else Problem(name, "empty text")


def _several(name: str) -> list[str] | None:
    found = _load(name) if name.startswith("[") else None
    return found if isinstance(found, list) and all(map(_is_text, found)) else None


def _is_detection(text: str) -> bool:
    """Tell the boxes of a whole page, of PaddleOCR's other kind of list, from a text."""
    return text.startswith("[{") and '"transcription"' in text


def _file_and_text(one: dict[str, Any], other: dict[str, Any]) -> tuple[list[str], str] | None:
    names = [one[key] for key in ("filename", "img_path") if key in one]
    text = other.get("text")
    return (names, text) if len(names) == 1 and _is_text(names[0]) and _is_text(text) else None


def _is_text(value: object) -> TypeGuard[str]:
    """Tell text from other values, and from the halves of characters that JSON can hold."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None

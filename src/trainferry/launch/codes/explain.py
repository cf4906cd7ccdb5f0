"""A code in plain words: what it says, what may be behind it, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainferry.launch.codes.find import Sighting, find_codes, likely_root
from trainferry.launch.codes.table import Code, family_of

_MOST_BYTES = 8 << 20


def explain_code(code: Code, word: str) -> str:
    """The page of a code; `word` is how it was written, which may be one of many."""
    return "\n".join(_page(code, word))


def describe_code(code: Code, word: str) -> dict[str, Any]:
    """The same as JSON."""
    told = asdict(code)
    del told["name"], told["texts"]
    return {"code": word, "family": family_of(word), **told}


def describe_sighting(sighting: Sighting) -> dict[str, Any]:
    """Where a code was met, and its page as JSON; a code that is unknown has no page."""
    where = {
        "log": sighting.log,
        "line": sighting.line,
        "text": sighting.text,
        "moment": sighting.moment,
        "times": sighting.times,
    }
    if sighting.code is None:
        return {"code": sighting.word, "family": family_of(sighting.word), **where}
    return {**describe_code(sighting.code, sighting.word), **where}


def explain_end(log: Path) -> tuple[str, ...]:
    """Two lines on the code that most likely ended the process of `log`; none if none is known.

    Of a very long log the end is read.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _MOST_BYTES))
            text = file.read().decode(errors="backslashreplace")
    except FileNotFoundError:
        return ()
    root = likely_root(find_codes(text.splitlines(), str(log)))
    if root is None or root.code is None:
        return ()
    what = "in its log" if root.code.texts else f"{root.word} in its log"
    return f"{what}: {root.code.says}", f"-> {root.code.what_to_do[0]}"


def _page(code: Code, word: str) -> Iterator[str]:
    family = family_of(word)
    yield f"{word}  {family}" if family else word
    yield ""
    yield f"{code.says[0].upper()}{code.says[1:]}."
    if code.causes:
        yield "\nWhat may be behind it:"
        yield from (f"  - {cause}" for cause in code.causes)
    yield "\nWhat to do:"
    yield from (f"  {number}. {what}" for number, what in enumerate(code.what_to_do, start=1))
    if code.seen:
        yield "\nSeen by users:"
        yield from (f"  - {one.what} ({one.thread})" for one in code.seen)
    if code.sources:
        yield "\nSource:"
        yield from (f"  {source}" for source in code.sources)

"""Text files of users, and what to do about one that is not UTF-8."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from trainferry.errors import DataError

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path, option: str) -> str:
    """Return a text in UTF-8, with a mark at its start or without.

    Raises DataError for another encoding, with a command that turns it for `option`; OSError
    for what cannot be read.
    """
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise not_utf8(path, line, data[:2], option) from error


def not_utf8(path: Path, line: int, start: bytes, option: str) -> DataError:
    """Say what a file is that starts so, and how it becomes UTF-8."""
    if start in UTF16_MARKS:
        return DataError(f"`{path}` is UTF-16, not UTF-8", hint=_turn(path, "UTF-16", option))
    return DataError(
        f"line {line} of `{path}` is not UTF-8",
        hint=f"{_turn(path, 'GB18030', option)}; -f says what the file is in now: GB18030 is what "
        "Chinese Windows writes",
    )


def _turn(path: Path, encoding: str, option: str) -> str:
    copy = quote(f"{path.stem}_utf8{path.suffix}")
    return f"iconv -f {encoding} -t UTF-8 {quote(str(path))} > {copy}, then {option} {copy}"

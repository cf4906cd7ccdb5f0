"""The lines of a label file: UTF-8, with or without a mark at the start, any line ends."""

from __future__ import annotations

from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.text_file import UTF16_MARKS, not_utf8

_HEAD_BYTES = 1 << 20
_MARK = b"\xef\xbb\xbf"
_OPTION = "--labels"


def read_head(path: Path) -> list[str]:
    """Return the first lines, as far as they matter to tell the form.

    Lines in UTF-16 are understood here, so that the file is found, and refused with the reason.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD_BYTES)
            more = bool(file.read(1))
    except OSError as error:
        raise _unreadable(path, error) from error
    if data.startswith(UTF16_MARKS):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    lines = [line.decode("utf-8", "replace") for line in _split(data)]
    whole = lines[:-1] if more and len(lines) > 1 else lines
    return [line.removesuffix("\r") for line in whole if line.strip()]


def refuse_utf16(path: Path) -> None:
    """Raise DataError for a file that says by its first bytes that it is UTF-16."""
    try:
        with path.open("rb") as file:
            start = file.read(2)
    except OSError as error:
        raise _unreadable(path, error) from error
    if start in UTF16_MARKS:
        raise not_utf8(path, 1, start, _OPTION)


def read_list(path: Path) -> list[tuple[int, str]]:
    """Return all lines that are not blank, with their numbers. Raises DataError for a bad one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    lines = []
    for number, line in enumerate(_split(data), 1):
        try:
            text = line.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise not_utf8(path, number, data[:2], _OPTION) from error
        if text.strip():
            lines.append((number, text))
    if not lines:
        raise DataError(f"`{path}` is empty", hint="write one `file<TAB>text` line per picture")
    return lines


def _split(data: bytes) -> list[bytes]:
    """Part the lines, whose ends may be those of old Macs, too: no other has a lone CR."""
    end = b"\r" if b"\n" not in data else b"\n"
    return data.removeprefix(_MARK).split(end)


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"cannot read `{path}`: {error.strerror or error}",
        hint="words need a label file, such as a gt.tsv with a `file<TAB>text` line per picture",
    )

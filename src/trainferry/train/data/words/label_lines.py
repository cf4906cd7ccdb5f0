"""The lines of a label file: UTF-8, with or without a mark at the start, any line ends."""

from __future__ import annotations

from pathlib import Path

from trainferry.errors import DataError

_HEAD_BYTES = 1 << 20
_MARK = b"\xef\xbb\xbf"


def read_head(path: Path) -> list[str]:
    """Return the first lines, as far as they matter to tell the form."""
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD_BYTES)
            more = bool(file.read(1))
    except OSError as error:
        raise _unreadable(path, error) from error
    lines = data.removeprefix(_MARK).decode("utf-8", "replace").split("\n")
    whole = lines[:-1] if more and len(lines) > 1 else lines
    return [line.removesuffix("\r") for line in whole if line.strip()]


def read_list(path: Path) -> list[tuple[int, str]]:
    """Return all lines that are not blank, with their numbers. Raises DataError for a bad one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    lines = []
    for number, line in enumerate(data.removeprefix(_MARK).split(b"\n"), 1):
        try:
            text = line.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of `{path}` is not UTF-8",
                hint="save the file as UTF-8, for example with iconv -t utf-8",
            ) from error
        if text.strip():
            lines.append((number, text))
    if not lines:
        raise DataError(f"`{path}` is empty", hint="write one `file<TAB>text` line per picture")
    return lines


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"cannot read `{path}`: {error.strerror or error}",
        hint="words need a label file, such as a gt.tsv with a `file<TAB>text` line per picture",
    )

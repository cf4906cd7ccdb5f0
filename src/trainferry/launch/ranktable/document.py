"""The file of a rank table as JSON, read with an eye on what editors and people do to it."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from trainferry.errors import DataError, WriteError
from trainferry.launch.ranktable.finding import Finding

_MOST_BYTES = 64 << 20
_FILE = "the file"
# JSON can name halves of characters, which no file in UTF-8 can hold unescaped.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def read_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(
                f"`{path}` has {path.stat().st_size >> 20} MiB; no rank table is that large",
                hint="check the path: a table of 1,024 devices has about 80 KiB",
            )
        return path.read_bytes()
    except OSError as error:
        raise DataError(
            f"`{path}` cannot be read: {error.strerror}", hint="check the path, and who may read it"
        ) from error


def parse_document(data: bytes) -> tuple[dict[str, Any] | None, list[Finding]]:
    """The JSON object in `data`, or None where there is none, and what was found on the way."""
    findings: list[Finding] = []
    text = _decode(data, findings)
    if text is None:
        return None, findings

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        findings.extend(_twice(pairs))
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        findings.append(_not_json(text, error))
        return None, findings
    except RecursionError:
        findings.append(
            Finding("json", "error", _FILE, "is nested too deeply", "this is no rank table")
        )
        return None, findings
    if not isinstance(document, dict):
        findings.append(_no_object(document))
        return None, findings
    return document, findings


def format_document(document: object, indent: str = "") -> str:
    """JSON with a line for each device, so that a table of a thousand can be read and compared."""
    inner = indent + "  "
    if isinstance(document, dict) and not (indent and _is_flat(document)):
        lines = [
            f"{inner}{_dump(key)}: {format_document(value, inner)}"
            for key, value in document.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
    if isinstance(document, list) and not _is_flat(dict(enumerate(document))):
        lines = [inner + format_document(value, inner) for value in document]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return _dump(document)


def write_whole(path: Path, text: str) -> None:
    """Write a new file whole or not at all; never over another one."""
    if path.exists():
        raise WriteError(
            f"`{path}` is there already, and is left as it is",
            hint="remove it, or give another name",
        )
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        os.link(temporary, path)
    except FileExistsError as error:
        raise WriteError(
            f"`{path}` appeared meanwhile, and is left as it is",
            hint="remove it, or give another name",
        ) from error
    except OSError as error:
        raise WriteError(
            f"`{path}` cannot be written: {error.strerror}; nothing was left there",
            hint="check that the folder is there, that you may write to it, and its space",
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()


def _decode(data: bytes, findings: list[Finding]) -> str | None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        findings.append(
            Finding("json", "error", _FILE, "is in UTF-16", "save it again as UTF-8, without BOM")
        )
        return None
    if data.startswith(codecs.BOM_UTF8):
        findings.append(
            Finding(
                "json",
                "warning",
                _FILE,
                "starts with a byte order mark, which many programs cannot read",
                "save it again as UTF-8 without BOM: `sed -i '1s/^\\xEF\\xBB\\xBF//' FILE`",
            )
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is no text in UTF-8: byte {error.start:,} is 0x{data[error.start]:02x}"
        findings.append(Finding("json", "error", _FILE, problem, "save it again as UTF-8"))
        return None


def _no_object(document: object) -> Finding:
    kind, fix = "a single value", "check the path, or make a table: `trainferry ranktable make`"
    if isinstance(document, list):
        kind = "a list"
        if len(document) == 1 and isinstance(document[0], dict):
            fix = "delete the outermost `[` and `]`"
    problem = f"holds {kind} where a rank table is one object"
    return Finding("json", "error", _FILE, problem, fix)


def _twice(pairs: list[tuple[str, Any]]) -> list[Finding]:
    values = dict(pairs)
    named = [f"`{key}` {values[key]!r}" for key in ("server_id", "device_id") if key in values]
    where = f"the entry with {' and '.join(named)}" if named else _FILE
    return [
        Finding(
            "keys",
            "error",
            where,
            f"`{key}` is there {times} times, and programs differ in which one they take",
            f"keep one `{key}`",
        )
        for key, times in Counter(key for key, _ in pairs).items()
        if times > 1
    ]


def _not_json(text: str, error: json.JSONDecodeError) -> Finding:
    where = f"line {error.lineno}, column {error.colno}"
    if not text.strip():
        return Finding("json", "error", _FILE, "is empty", "make one: `trainferry ranktable make`")
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    fix = "correct it there"
    if rest.startswith(("//", "#", "/*")):
        fix = "delete the comments: JSON has none, though the vendor's examples show some"
    elif not rest or error.msg.startswith("Unterminated string"):
        fix = "the end is missing: copy the file again, or close what is open"
    elif rest.startswith(("}", "]")) or before.endswith(","):
        fix = "delete the comma before it"
    elif rest.startswith("'"):
        fix = 'write "double quotes"'
    elif error.msg.startswith("Extra data"):
        fix = "one file holds one table: delete what follows it"
    problem = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
    if rest:
        problem += f", at `{rest.splitlines()[0][:40]}`"
    return Finding("json", "error", where, problem, fix)


def _dump(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _HALF_CHARACTER.search(text) else text


def _is_flat(values: dict[Any, Any]) -> bool:
    return not any(isinstance(value, dict | list) for value in values.values())

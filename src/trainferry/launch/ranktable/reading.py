"""From the bytes of a rank table file to the table, or to all that stands in the way of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainferry.launch.ranktable.document import parse_document, read_bytes
from trainferry.launch.ranktable.fields import Notes
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.group_list import parse_group_list, write_group_list
from trainferry.launch.ranktable.server_list import parse_server_list, write_server_list
from trainferry.launch.ranktable.table import RankTable


@dataclass(frozen=True)
class Reading:
    """A table, or None, and what was found while reading it."""

    table: RankTable | None
    findings: tuple[Finding, ...]


def read_table(path: Path) -> Reading:
    """Read the file; raises only where there is no file to read."""
    reading = parse_table(read_bytes(path))
    if path.suffix == ".json":
        return reading
    problem = f"is called `{path.name}`, and HCCL opens files that end in `.json` alone"
    named = Finding("file name", "warning", "the file", problem, "rename it")
    return replace(reading, findings=(*reading.findings, named))


def parse_table(data: bytes) -> Reading:
    document, findings = parse_document(data)
    if document is None:
        return Reading(None, tuple(findings))
    notes = Notes(findings)
    table = _parse(document, notes)
    return Reading(table, tuple(notes.findings))


def write_table(table: RankTable) -> dict[str, Any]:
    """The JSON document of a table, in its template."""
    if table.template == "server-list":
        return write_server_list(table)
    return write_group_list(table)


def _parse(document: dict[str, Any], notes: Notes) -> RankTable | None:
    has_servers, has_groups = "server_list" in document, "group_list" in document
    if has_servers and has_groups:
        problem = "has both a `server_list` and a `group_list`, which are two templates"
        fix = "delete one: keep `server_list`, with `version` and `server_count`, for new tables"
        notes.lack(Finding("template", "error", "the table", problem, fix))
        return None
    if has_servers:
        return parse_server_list(document, notes)
    if has_groups:
        return parse_group_list(document, notes)
    notes.lack(Finding("template", "error", "the table", *_neither(document)))
    return None


def _neither(document: dict[str, Any]) -> tuple[str, str]:
    if "server_group_list" in document:
        return (
            "is a scheduler's global rank table: it has a `server_group_list`",
            "take one group of it: a rank table has the `server_list` of one job",
        )
    keys = ", ".join(f"`{key}`" for key in list(document)[:6]) or "nothing"
    return (
        f"has neither a `server_list` nor a `group_list`; it has {keys}",
        "check the path, or make a table: `trainferry ranktable make`",
    )

"""The frame of a report in SARIF 2.1.0, the form that code hosts show beside the lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from trainferry import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_log(
    rules: list[dict[str, Any]],
    results: list[dict[str, Any]],
    notifications: list[dict[str, Any]],
    *,
    successful: bool,
) -> dict[str, Any]:
    """One run with all rules and results; `successful` says that our program did its work."""
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "trainferry", "version": __version__, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"PROJECT": {"description": {"text": "the project"}}},
                "results": results,
                "invocations": [
                    {
                        "executionSuccessful": successful,
                        "toolExecutionNotifications": notifications,
                    }
                ],
            }
        ],
    }


def rule_json(name: str, title: str, page: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": page.strip()},
        "help": {"text": page.strip()},
        "defaultConfiguration": {"level": "warning"},
        "properties": properties,
    }


def location(path: str, line: int, column: int = 1, end_line: int = 0) -> dict[str, Any]:
    """A place in the project; lines and columns count from 1.

    Where the name of the file is not UTF-8, the address has its bytes.
    """
    uri = quote(path.encode("utf-8", "surrogateescape"))
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": "PROJECT"},
            "region": {"startLine": line, "startColumn": column, "endLine": max(line, end_line)},
        }
    }

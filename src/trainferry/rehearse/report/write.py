"""Writes all forms of the report into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.rehearse.rehearsal_json import as_json
from trainferry.rehearse.report.html import html_report
from trainferry.rehearse.report.markdown import markdown_report
from trainferry.rehearse.report.sarif import sarif_report


def write_reports(rehearsal: Rehearsal, folder: Path) -> Path:
    """Write the reports; return the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.html": html_report(rehearsal),
        "report.md": markdown_report(rehearsal),
        "report.json": json.dumps(as_json(rehearsal), indent=1),
        "report.sarif": json.dumps(sarif_report(rehearsal), indent=1),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    return folder / "report.html"

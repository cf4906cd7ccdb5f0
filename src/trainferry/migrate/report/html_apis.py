"""The table of the HTML page with every TensorFlow name that the project calls."""

from __future__ import annotations

from pathlib import PurePosixPath

from trainferry.migrate.apis import ApiUse
from trainferry.migrate.migration import Migration
from trainferry.migrate.report import chinese
from trainferry.migrate.report.groups import api_counts
from trainferry.migrate.support import Verdict
from trainferry.report.pieces import (
    both,
    code,
    path_text,
    search,
    section,
    select,
    shown,
    table,
)

_FIRST_PLACES = 4
_MOST_PLACES = 60
_TITLES = (
    ("name", "名称"),
    ("calls", "调用"),
    ("on the NPU", "在 NPU 上"),
    ("note", "备注"),
    ("where", "位置"),
)
# What needs a look comes first.
_ORDER = (
    Verdict.UNSUPPORTED,
    Verdict.DISPUTED,
    Verdict.PARTLY,
    Verdict.UNKNOWN,
    Verdict.DEPRECATED,
    Verdict.SUPPORTED_AFTER_MIGRATION,
    Verdict.HARMLESS,
    Verdict.SUPPORTED,
)


def apis_section(migration: Migration) -> str:
    counts = api_counts(migration)
    if not counts:
        return ""
    verdicts = [
        (
            verdict.name.lower(),
            f"{verdict.value} ({counts[verdict]:,})",
            f"{chinese.SUPPORT[verdict]} ({counts[verdict]:,})",
        )
        for verdict in _ORDER
        if verdict in counts
    ]
    controls = (
        '<form class="filters" id="api-filters">'
        + select("verdict", "every verdict", "全部", verdicts)
        + search("api-search", "search names", "搜索名称")
        + "</form>"
    )
    apis = sorted(migration.apis, key=lambda api: _ORDER.index(api.support.verdict))
    rows = f"<tbody>{''.join(map(_row, apis))}</tbody>"
    content = controls + table("api-table", _TITLES, rows)
    return section("apis", "TensorFlow names called", "调用的 TensorFlow 接口", content)


def _row(api: ApiUse) -> str:
    verdict = api.support.verdict
    look = "look " if verdict.needs_a_look else ""
    return (
        f'<tr data-verdict="{verdict.name.lower()}"><td><code>{path_text(api.name)}</code></td>'
        f'<td class="number">{len(api.places):,}</td>'
        f'<td class="{look}{verdict.name.lower()}">'
        f"{both(verdict.value, chinese.SUPPORT[verdict])}</td>"
        f'<td>{code(api.support.note)}</td><td class="place">{_places(api.places)}</td></tr>'
    )


def _places(places: tuple[tuple[PurePosixPath, int], ...]) -> str:
    first = _lines(places[:_FIRST_PLACES])
    if len(places) <= _FIRST_PLACES:
        return first
    rest = _lines(places[_FIRST_PLACES:_MOST_PLACES])
    left = len(places) - _MOST_PLACES
    if left > 0:
        rest += both(f"and {left:,} more: see the JSON report", f"另有 {left:,} 处，见 JSON 报告")
    return f"{first}<details><summary>+{len(places) - _FIRST_PLACES:,}</summary>{rest}</details>"


def _lines(places: tuple[tuple[PurePosixPath, int], ...]) -> str:
    """One text rather than elements: large projects have tens of thousands of places."""
    text = "\n".join(shown(f"{path}:{line}") for path, line in places)
    return f'<div class="places">{text}</div>'

"""The findings of the HTML page: filters, and a table with the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.rehearse.report import chinese
from trainferry.rehearse.report.sentences import MEANINGS, ranks_of
from trainferry.report.pieces import (
    both,
    code,
    counted_choices,
    path_text,
    search,
    section,
    select,
    shown,
    table,
)

_TITLES = (("#", "#"), ("severity", "程度"), ("where", "位置"), ("what", "说明"))
_MOST_PLACES = 12
_MOST_OPERATORS = 8


def findings_section(rehearsal: Rehearsal) -> str:
    """All findings; the number of one is its place among all, from 1."""
    if not rehearsal.findings:
        text = both("Nothing was found.", "没有发现问题。")
        if rehearsal.sides[0].steps == 0:
            text = both("There was no train step to look at.", "没有可供检查的训练步。")
        return section("findings", "Findings", "发现", f"<p>{text}</p>")
    count = (
        f'<p class="quiet" id="shown" aria-live="polite" data-all="{len(rehearsal.findings)}"></p>'
    )
    content = (
        _filters(rehearsal) + count + table("finding-table", _TITLES, "".join(_bodies(rehearsal)))
    )
    return section("findings", "Findings", "发现", content)


def badge(severity: Severity) -> str:
    return f'<span class="badge {severity.value}">{both(*chinese.SEVERITIES[severity])}</span>'


def _filters(rehearsal: Rehearsal) -> str:
    chips = "".join(
        f'<label class="chip {one.value}"><input type="checkbox" name="outcome" '
        f'value="{one.value}" checked> {both(*chinese.SEVERITIES[one])} '
        f"({rehearsal.count(one):,})</label>"
        for one in Severity
    )
    checks = counted_choices(Counter(one.check for one in rehearsal.findings))
    files = counted_choices(Counter(name for one in rehearsal.findings for name in _files(one)))
    return (
        f'<form class="filters" id="filters">{chips}'
        + select("rule", "every check", "全部检查项", checks)
        + select("file", "every file", "全部文件", files)
        + search("search", "search", "搜索")
        + f'<button type="reset">{both("clear", "清除")}</button></form>{_legend()}'
    )


def _legend() -> str:
    texts = (
        f"<span>{badge(one)} {both(MEANINGS[one], chinese.MEANINGS[one])}</span>"
        for one in Severity
    )
    return f'<p class="quiet legend">{"".join(texts)}</p>'


def _bodies(rehearsal: Rehearsal) -> Iterator[str]:
    numbered = enumerate(rehearsal.findings, start=1)
    for severity, some in groupby(numbered, key=lambda pair: pair[1].severity):
        rows = "".join(_row(number, finding, rehearsal) for number, finding in some)
        title = both(MEANINGS[severity], chinese.MEANINGS[severity])
        yield f'<tbody><tr class="group"><th colspan="4">{title}</th></tr>{rows}</tbody>'


def _row(number: int, finding: Finding, rehearsal: Rehearsal) -> str:
    check = shown(finding.check)
    ranks = ranks_of(finding, rehearsal)
    where = "<br>".join(path_text(place) for place in finding.places[:_MOST_PLACES])
    where += _more(len(finding.places) - _MOST_PLACES)
    return (
        f'<tr class="finding" id="finding-{number}" tabindex="0" '
        f'data-outcome="{finding.severity.value}" data-rule="{check}" '
        f'data-file="{shown(chr(10).join(_files(finding)))}">'
        f'<td class="no">{number}</td><td>{badge(finding.severity)}</td>'
        f'<td class="place">{where}{"<br>" if where else ""}'
        f'<a class="rule" href="#rule-{check}">{check}</a>'
        f"{f'<br>{shown(ranks)}' if ranks else ''}</td>"
        f"<td>{_line(finding, rehearsal)}{_hint(finding)}<p>{code(finding.message)}</p>"
        f'<p class="do">{code(finding.hint)}</p>{_operators(finding)}</td></tr>'
    )


def _line(finding: Finding, rehearsal: Rehearsal) -> str:
    lines = dict(rehearsal.lines)
    known = [lines[place] for place in finding.places if place in lines]
    return f'<code class="line">{shown(known[0])}</code>' if known else ""


def _hint(finding: Finding) -> str:
    text = chinese.check_texts().get(finding.check)
    if text is None:
        return ""
    return f'<p class="zh"><b>{code(text.title)}</b></p><p class="zh hint">{code(text.text)}</p>'


def _operators(finding: Finding) -> str:
    if not finding.operators:
        return ""
    names = ", ".join(path_text(name) for name in finding.operators[:_MOST_OPERATORS])
    more = _more(len(finding.operators) - _MOST_OPERATORS)
    return f'<p class="operators">{both("operators: ", "算子：")}{names}{more}</p>'


def _more(number: int) -> str:
    return f" {both(f'and {number:,} more', f'等，另有 {number:,} 个')}" if number > 0 else ""


def _files(finding: Finding) -> list[str]:
    return list(dict.fromkeys(place.rpartition(":")[0] or place for place in finding.places))

"""The findings of the HTML page: filters, and a table ordered by what blocks a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from trainferry.migrate.migration import Migration, Told
from trainferry.migrate.report import chinese
from trainferry.migrate.report.groups import place
from trainferry.migrate.report.html_pieces import badge
from trainferry.migrate.rule import Concern, Outcome
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

_TITLES = (("#", "#"), ("outcome", "结果"), ("where", "位置"), ("what", "说明"))
_ORDER = (Outcome.BY_HAND, Outcome.CHECK, Outcome.CHANGED)


def findings_section(migration: Migration) -> str:
    """All findings; the number of one is its place among all, from 1."""
    told = migration.told
    if not told:
        text = both("Nothing was found to change.", "没有需要改动的地方。")
        return section("findings", "Findings", "发现", f"<p>{text}</p>")
    bodies = "".join(_bodies(migration))
    count = f'<p class="quiet" id="shown" aria-live="polite" data-all="{len(told)}"></p>'
    content = _filters(migration) + count + table("finding-table", _TITLES, bodies)
    return section("findings", "Findings", "发现", content)


def _filters(migration: Migration) -> str:
    told = migration.told
    outcomes = "".join(
        f'<label class="chip {outcome.name.lower()}"><input type="checkbox" name="outcome" '
        f'value="{outcome.name.lower()}" checked> {both(*chinese.OUTCOME_WORDS[outcome])} '
        f"({migration.counts[outcome]:,})</label>"
        for outcome in _ORDER
    )
    concerns = Counter(one.concern for one in told)
    reasons = [
        (concern.name.lower(), f"{concern.value} ({n:,})", f"{chinese.CONCERNS[concern]} ({n:,})")
        for concern in Concern
        if (n := concerns[concern])
    ]
    rules = counted_choices(Counter(one.rule.name for one in told))
    paths = counted_choices(Counter(str(one.path) for one in told))
    return (
        f'<form class="filters" id="filters">{outcomes}'
        + select("concern", "every reason", "全部原因", reasons)
        + select("rule", "every rule", "全部规则", rules)
        + select("file", "every file", "全部文件", paths)
        + search("search", "search", "搜索")
        + f'<button type="reset">{both("clear", "清除")}</button></form>{_legend()}'
    )


def _legend() -> str:
    texts = (
        f"<span>{badge(one)} {both(one.value, chinese.OUTCOMES[one])}</span>" for one in _ORDER
    )
    return f'<p class="quiet legend">{"".join(texts)}</p>'


def _bodies(migration: Migration) -> Iterator[str]:
    changed = {file.path for file in migration.changed}
    numbered = enumerate(migration.told, start=1)
    for concern, some in groupby(numbered, key=lambda pair: pair[1].concern):
        rows = "".join(_row(number, told, told.path in changed) for number, told in some)
        title = both(concern.value, chinese.CONCERNS[concern])
        yield f'<tbody><tr class="group"><th colspan="4">{title}</th></tr>{rows}</tbody>'


def _row(number: int, told: Told, file_changed: bool) -> str:
    where = path_text(place(told))
    if file_changed and told.outcome is not Outcome.BY_HAND:
        where = f'<a class="where" href="#change-{number}">{where}</a>'
    rule = shown(told.rule.name)
    text = chinese.rule_texts().get(told.rule.name)
    hint = f'<p class="zh"><b>{code(text.title)}</b></p>' if text else ""
    hint += f'<p class="zh hint">{code(text.text)}</p>' if text else ""
    return (
        f'<tr class="finding" id="finding-{number}" tabindex="0" '
        f'data-outcome="{told.outcome.name.lower()}" data-rule="{rule}" '
        f'data-file="{shown(told.path)}" data-concern="{told.concern.name.lower()}">'
        f'<td class="no">{number}</td><td>{badge(told.outcome)}</td>'
        f'<td class="place">{where}<br><a class="rule" href="#rule-{rule}">{rule}</a></td>'
        f'<td><code class="line">{shown(told.text)}</code>{hint}'
        f"<p>{code(told.message)}</p></td></tr>"
    )

"""The report of a rehearsal as one HTML page, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from trainferry import __version__
from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.finding import Severity
from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.rehearse.report import chinese
from trainferry.rehearse.report.html_findings import findings_section
from trainferry.rehearse.report.html_runs import comparison_section, failures, runs_section
from trainferry.rehearse.report.sentences import LIMITS
from trainferry.report.page import html_page
from trainferry.report.pieces import both, code, section, shown


def html_report(rehearsal: Rehearsal) -> str:
    """The whole page."""
    files = resources.files("trainferry.rehearse.report")
    style = files.joinpath("page.css").read_text("utf-8")
    title = f"{Path(rehearsal.project).name}: {rehearsal.verdict.value}"
    return html_page(title, "\n".join(_parts(rehearsal)), style)


def _parts(rehearsal: Rehearsal) -> Iterator[str]:
    sections = {
        "failures": failures(rehearsal),
        "findings": findings_section(rehearsal),
        "comparison": comparison_section(rehearsal),
        "runs": runs_section(rehearsal),
        "checks": _checks(rehearsal),
        "again": _again(rehearsal),
    }
    yield f"<header>{_head(rehearsal)}{_navigation(sections)}</header>"
    yield "<main>"
    yield from filter(None, sections.values())
    yield "</main>"
    yield _foot()


def _head(rehearsal: Rehearsal) -> str:
    verdict = rehearsal.verdict
    first = rehearsal.sides[0]
    numbers = [
        (
            *chinese.SEVERITIES[one],
            rehearsal.count(one),
            one.value if rehearsal.count(one) else "none",
        )
        for one in Severity
    ]
    numbers += [
        ("train steps", "训练步数", first.steps, ""),
        ("ranks", "进程（rank）", len(first.ranks), ""),
    ]
    cards = "".join(
        f'<div class="card {name}"><b>{number:,}</b>{both(english, in_chinese)}</div>'
        for english, in_chinese, number, name in numbers
    )
    summaries = "".join(
        f"<p>{both(one.summary, chinese.comparison(one))}</p>" for one in rehearsal.compared
    )
    return (
        f'<div class="top"><h1>{shown(Path(rehearsal.project).name)}</h1>'
        '<button id="language" type="button">中文</button></div>'
        f'<p class="verdict {verdict.name.lower()}">'
        f"{both(verdict.value, chinese.VERDICTS[verdict])}</p>"
        f'<div class="cards">{cards}</div><div>{summaries}</div>'
        f'<p class="quiet">{_how(rehearsal)} {both(LIMITS, chinese.LIMITS)}</p>'
    )


def _how(rehearsal: Rehearsal) -> str:
    python, wishes = rehearsal.plan["python"], rehearsal.plan["wishes"]
    entry, adapter = rehearsal.plan["entry"], wishes["adapter"]
    with_what = f"Python {python['version']}, TensorFlow {python['tensorflow']}"
    return both(
        f"{rehearsal.project}, script {entry}, {with_what}, adapter {adapter}, "
        f"{rehearsal.seconds:.0f} s.",
        f"{rehearsal.project}，脚本 {entry}，{with_what}，适配器 {adapter}，"
        f"用时 {rehearsal.seconds:.0f} 秒。",
    )


_LINKS = (
    ("failures", "What went wrong", "出错之处"),
    ("findings", "Findings", "发现"),
    ("comparison", "Comparison", "对比"),
    ("runs", "Runs", "运行"),
    ("checks", "Checks", "检查项"),
    ("again", "Again", "重新运行"),
)


def _navigation(sections: dict[str, str]) -> str:
    links = (f'<a href="#{name}">{both(*texts)}</a>' for name, *texts in _LINKS if sections[name])
    return f"<nav>{''.join(links)}</nav>"


def _checks(rehearsal: Rehearsal) -> str:
    pages = "".join(_check(name) for name in sorted({one.check for one in rehearsal.findings}))
    return section("checks", "Checks that spoke", "涉及的检查项", pages) if pages else ""


def _check(name: str) -> str:
    check = all_checks().get(name)
    text = chinese.check_texts().get(name)
    title = check.title if check else name
    hint = f'<p class="zh">{code(text.text)}</p>' if text else ""
    page = f"<pre>{shown(check.page.strip())}</pre>" if check else ""
    return (
        f'<details id="rule-{shown(name)}"><summary><b>{shown(name)}</b> '
        f'<span class="en">{code(title)}</span>'
        f'<span class="zh">{code(text.title if text else title)}</span>'
        f"</summary>{hint}{page}</details>"
    )


def _again(rehearsal: Rehearsal) -> str:
    notes = "".join(f"<li>{shown(note)}</li>" for note in rehearsal.prepared)
    listed = f"<ul>{notes}</ul>" if notes else ""
    told = both("What was prepared before the scripts ran:", "运行脚本之前所做的准备：")
    content = f"<pre>{shown(rehearsal.plan['command'])}</pre>"
    if listed:
        content += f"<p>{told}</p>{listed}"
    return section("again", "Run it again", "重新运行", content)


def _foot() -> str:
    keys = both(
        "Keys: / search, j and k next and previous finding, o open its check, l language",
        "快捷键：/ 搜索，j 与 k 移到下一条与上一条，o 打开对应的检查项，l 切换语言",
    )
    return f'<footer class="quiet"><p>{keys}</p><p>trainferry {__version__}</p></footer>'

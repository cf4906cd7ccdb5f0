"""The report of a rehearsal as one HTML page, in English and Chinese."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.finding import Severity
from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.rehearse.report import chinese
from trainferry.rehearse.report.html_findings import findings_section
from trainferry.rehearse.report.html_runs import comparison_section, failures, runs_section
from trainferry.rehearse.report.sentences import LIMITS
from trainferry.report.frame import frame, top
from trainferry.report.page import html_page
from trainferry.report.pieces import both, code, section, shown


def html_report(rehearsal: Rehearsal) -> str:
    """The whole page."""
    files = resources.files("trainferry.rehearse.report")
    style = files.joinpath("page.css").read_text("utf-8")
    title = f"{Path(rehearsal.project).name}: {rehearsal.verdict.value}"
    body = frame(_head(rehearsal), _LINKS, _sections(rehearsal), _KEYS)
    return html_page(title, body, style)


def _sections(rehearsal: Rehearsal) -> dict[str, str]:
    return {
        "failures": failures(rehearsal),
        "findings": findings_section(rehearsal),
        "comparison": comparison_section(rehearsal),
        "runs": runs_section(rehearsal),
        "checks": _checks(rehearsal),
        "again": _again(rehearsal),
    }


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
    summaries = "".join(
        f"<p>{both(one.summary, chinese.comparison(one))}</p>" for one in rehearsal.compared
    )
    words = verdict.value, chinese.VERDICTS[verdict]
    return (
        top(Path(rehearsal.project).name, verdict.name.lower(), words, numbers)
        + f"<div>{summaries}</div>"
        + f'<p class="quiet">{_how(rehearsal)} {both(LIMITS, chinese.LIMITS)}</p>'
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
_KEYS = (
    "Keys: / search, j and k next and previous finding, o open its check, l language",
    "快捷键：/ 搜索，j 与 k 移到下一条与上一条，o 打开对应的检查项，l 切换语言",
)


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

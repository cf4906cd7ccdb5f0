"""The report of a migration as one HTML page."""

from __future__ import annotations

from trainferry.migrate.entries import Entry
from trainferry.migrate.migration import Migration
from trainferry.migrate.report import chinese
from trainferry.migrate.report.html_apis import apis_section
from trainferry.migrate.report.html_changes import changes_section
from trainferry.migrate.report.html_findings import findings_section
from trainferry.migrate.rule import Outcome, Rule
from trainferry.report.frame import frame, top
from trainferry.report.page import html_page
from trainferry.report.pieces import both, code, path_text, section, shown


def html_report(migration: Migration) -> str:
    """The whole page, in English and Chinese."""
    title = f"{migration.root.resolve().name}: {migration.verdict.value}"
    return html_page(title, frame(_head(migration), _LINKS, _sections(migration), _KEYS))


def _sections(migration: Migration) -> dict[str, str]:
    return {
        "missing": _missing(migration),
        "findings": findings_section(migration),
        "changes": changes_section(migration),
        "apis": apis_section(migration),
        "programs": _programs(migration),
        "rules": _rules(migration),
        "not-read": _not_read(migration),
    }


def _head(migration: Migration) -> str:
    numbers = [
        ("files", "文件", len(migration.files), ""),
        ("changed files", "改动的文件", len(migration.changed), ""),
    ]
    numbers += [
        (*chinese.OUTCOME_WORDS[outcome], migration.counts[outcome], outcome.name.lower())
        for outcome in (Outcome.BY_HAND, Outcome.CHECK, Outcome.CHANGED)
    ]
    if migration.suppressed:
        numbers.append(("ignored", "已忽略", migration.suppressed, ""))
    if migration.in_baseline:
        numbers.append(("in the baseline", "基线中已有", migration.in_baseline, ""))
    name, verdict = migration.root.resolve().name, migration.verdict
    words = verdict.value, chinese.VERDICTS[verdict]
    return (
        top(name, verdict.name.lower(), words, numbers)
        + f'<p class="quiet">{_target(migration)}</p>'
    )


def _target(migration: Migration) -> str:
    options = migration.options
    return both(
        f"For chip {options.chip}, adapter {options.adapter}, distributed {options.distributed}. "
        "The verdict is about the code; nothing was run on an NPU.",
        f"目标：芯片 {options.chip}，适配器 {options.adapter}，分布式 {options.distributed}。"
        "结论只针对代码，没有在 NPU 上运行过。",
    )


_LINKS = (
    ("findings", "Findings", "发现"),
    ("changes", "Changes", "改动"),
    ("apis", "TensorFlow names", "接口"),
    ("programs", "Programs", "程序"),
    ("rules", "Rules", "规则"),
    ("not-read", "Not read", "未读取"),
)
_KEYS = (
    "Keys: / search, j and k next and previous finding, o open its change or rule, l language",
    "快捷键：/ 搜索，j 与 k 移到下一条与上一条，o 打开对应的改动或规则，l 切换语言",
)


def _missing(migration: Migration) -> str:
    """What blocks a run; a rule's line shows its findings when it is clicked."""
    rules = {told.rule.name for told in migration.blocking}
    items = ""
    for english, in_chinese in zip(migration.missing(), chinese.missing(migration), strict=True):
        name = english.partition(":")[0]
        text = both(english, in_chinese)
        if name in rules:
            text = f'<a href="#findings" data-show-rule="{shown(name)}">{text}</a>'
        items += f"<li>{text}</li>"
    return section("missing", "What is missing", "还缺什么", f"<ul>{items}</ul>") if items else ""


def _programs(migration: Migration) -> str:
    items = "".join(map(_program, migration.entries))
    return section("programs", "Programs", "程序入口", f"<ul>{items}</ul>") if items else ""


def _program(entry: Entry) -> str:
    trains = f' <span class="badge">{both("trains", "训练")}</span>' if entry.trains else ""
    names = " ".join(one.name for one in entry.arguments)
    arguments = f'<br><span class="quiet">{path_text(names)}</span>' if names else ""
    return f"<li><code>{path_text(entry.path)}</code>{trains}{arguments}</li>"


def _rules(migration: Migration) -> str:
    used = {told.rule.name: told.rule for told in migration.told}
    pages = "".join(_rule(used[name]) for name in sorted(used))
    return section("rules", "Rules that spoke", "涉及的规则", pages) if pages else ""


def _rule(rule: Rule) -> str:
    text = chinese.rule_texts().get(rule.name)
    titles = both(rule.title, text.title if text else rule.title)
    hint = f'<p class="zh">{code(text.text)}</p>' if text else ""
    return (
        f'<details id="rule-{shown(rule.name)}">'
        f"<summary><b>{shown(rule.name)}</b> {titles}</summary>"
        f"{hint}<pre>{shown(rule.page.strip())}</pre></details>"
    )


def _not_read(migration: Migration) -> str:
    lines = [f"{one.path}:{one.line}: {one.reason}" for one in migration.unreadable]
    lines += [f"{path}: {reason}" for path, reason in migration.skipped]
    lines += [f"{one.path}: {one.rule}: {one.trace}" for one in migration.failures]
    items = "".join(f"<li><code>{shown(line)}</code></li>" for line in lines)
    title = ("Not read, or left alone", "未读取或未处理")
    return section("not-read", *title, f"<ul>{items}</ul>") if items else ""

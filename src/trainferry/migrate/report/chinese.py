"""Chinese for the HTML report: fixed texts here, those of the rules in `chinese.toml`."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from trainferry.migrate import migration, support
from trainferry.migrate.rule import Concern, Outcome

OUTCOMES = {
    Outcome.CHANGED: "已改写，结果不变",
    Outcome.CHECK: "已改写，结果可能不同，请看说明",
    Outcome.BY_HAND: "未改动，请按说明手工处理",
}
OUTCOME_WORDS = {
    Outcome.CHANGED: ("changed", "已改写"),
    Outcome.CHECK: ("check", "需核对"),
    Outcome.BY_HAND: ("by hand", "需手工"),
}
CONCERNS = {
    Concern.RUN: "在 NPU 上运行所必需",
    Concern.RESULT: "保持结果一致所必需",
    Concern.DISTRIBUTED: "多卡训练所必需",
    Concern.PRECISION: "影响精度",
    Concern.SPEED: "影响速度",
    Concern.TIDY: "值得了解",
}
VERDICTS = {
    migration.Verdict.READY: "可以开始演练",
    migration.Verdict.MISSING: "尚未就绪：还有需手工完成的工作",
    migration.Verdict.NOT_TENSORFLOW: "没有找到 TensorFlow 代码",
}
SUPPORT = {
    support.Verdict.SUPPORTED: "可直接运行",
    support.Verdict.SUPPORTED_AFTER_MIGRATION: "迁移后可运行",
    support.Verdict.HARMLESS: "在 NPU 上无作用，也无害",
    support.Verdict.PARTLY: "有条件地运行",
    support.Verdict.DEPRECATED: "TensorFlow 或厂商已弃用，可能可以运行",
    support.Verdict.DISPUTED: "厂商的说法自相矛盾：使用前请先试",
    support.Verdict.UNSUPPORTED: "不能在 NPU 上运行",
    support.Verdict.UNKNOWN: "没有任何说明",
}


@dataclass(frozen=True)
class RuleText:
    """A rule in Chinese: its title, and in a sentence or two what to know or do."""

    title: str
    text: str


@functools.cache
def rule_texts() -> Mapping[str, RuleText]:
    text = resources.files("trainferry.migrate.report").joinpath("chinese.toml").read_text("utf-8")
    return {name: RuleText(**fields) for name, fields in tomllib.loads(text).items()}


def missing(migrated: migration.Migration) -> Iterator[str]:
    """What `Migration.missing` says, sentence by sentence."""
    if migrated.failures:
        yield f"{migrated.files_left_alone:,} 个文件因本工具的错误而未处理"
    if migrated.unreadable:
        yield f"{len(migrated.unreadable):,} 个文件或单元无法读取"
    for rule, number in Counter(told.rule.name for told in migrated.blocking).most_common():
        text = rule_texts().get(rule)
        yield f"{rule}：{number:,} 处需手工修改" + (f"（{text.title}）" if text else "")

"""Chinese for the HTML report: fixed texts here, those of the checks in `chinese.toml`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from trainferry.rehearse.finding import Severity
from trainferry.rehearse.rehearsal import Compared, Outcome, Verdict

VERDICTS = {
    Verdict.RUNS: "可以运行",
    Verdict.REFUSED: "会被设备拒绝",
    Verdict.DIFFER: "数值不一致",
    Verdict.DID_NOT_RUN: "未能运行",
}
SEVERITIES = {
    Severity.REFUSED: ("refused", "拒绝"),
    Severity.RISK: ("risk", "风险"),
    Severity.NOTE: ("note", "提示"),
}
MEANINGS = {
    Severity.REFUSED: "设备会报错、挂起或算出不同的结果",
    Severity.RISK: "可以运行，但会更慢，或在此处未出现的情况下出错",
    Severity.NOTE: "值得了解",
}
OUTCOMES = {
    Outcome.GOOD: "正常结束",
    Outcome.REFUSED: "因设备会拒绝的操作而停止",
    Outcome.FAILED: "失败",
    Outcome.STOPPED: "因其他 rank 失败而被终止",
}
LIMITS = "没有在 NPU 上运行过：精度、内存、速度和编译器均不在演练范围内。"
ONLY_ORIGINAL_RUNS = "原始脚本以单进程可以运行：请在迁移所做的改动中，或多卡共用的资源中查找原因。"
_SIDES = {
    "migrated": "迁移后",
    "original": "原始",
    "original again": "再次运行的原始",
    "migrated, one rank": "迁移后（单卡）",
}


@dataclass(frozen=True)
class CheckText:
    """A check in Chinese: its title, and in a sentence or two what to know or do."""

    title: str
    text: str


@functools.cache
def check_texts() -> Mapping[str, CheckText]:
    text = resources.files("trainferry.rehearse.report").joinpath("chinese.toml").read_text("utf-8")
    return {name: CheckText(**fields) for name, fields in tomllib.loads(text).items()}


def comparison(compared: Compared) -> str:
    """What `Compared.summary` says."""
    names = "与".join(side_name(name) for name in compared.what.split(" and ", 1))
    if compared.agrees:
        return f"{names}：{compared.steps} 步数值一致。"
    if not compared.is_claim and compared.what.startswith("migrated"):
        return f"{names}：{compared.steps} 步，各步差异见下表。"
    if compared.parts_at is None:
        return f"{names}：没有可以对比的训练步。"
    when = "第一步之前" if compared.parts_at == 0 else f"第 {compared.parts_at} 步"
    noise = "，但不超过原工程两次运行之间的差异" if compared.is_noise else ""
    return f"{names}：{when}出现差异（{compared.parts_in}）{noise}。"


def side_name(name: str) -> str:
    return _SIDES.get(name, name.replace("migrated in ", "迁移后 "))

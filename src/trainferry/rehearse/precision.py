"""Reads where an emulated precision bit: overflows, constants and gradients that vanish."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.rehearse.checks import (
    precision_constant,
    precision_not_emulated,
    precision_overflow,
    precision_underflow,
)
from trainferry.rehearse.finding import Finding

_FILE = "precision.jsonl"
_SHARE = 0.1  # of an operator's numbers: fewer that become zero are told by nobody
_SHOWN = 20


def precision_findings(folder: Path) -> list[Finding]:
    """What the rank in `folder` met; nothing where it emulated no precision."""
    path = folder / _FILE
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    told = [line for line in lines if line["kind"] == "emulated"]
    kind = told[0]["type"] if told else "16 bits"
    losses = list(_losses(line for line in lines if line["kind"] == "rounded"))
    return [
        *_constants((line for line in lines if line["kind"] == "constant"), kind),
        *_overflows(losses, kind),
        *_underflows(losses, kind),
        *_late(told),
    ]


@dataclass(frozen=True)
class _Loss:
    """What one operator lost by rounding, over all steps."""

    operator: str
    type: str
    place: str
    overflow: int
    first: int | None
    """The step that overflowed first."""
    share: float
    """Of its numbers that became zero, in the worst step."""
    step: int

    @property
    def places(self) -> tuple[str, ...]:
        return (self.place,) if self.place else ()


def _losses(lines: Iterable[dict[str, Any]]) -> Iterator[_Loss]:
    by_operator: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_operator.setdefault(line["operator"], []).append(line)
    for operator, told in by_operator.items():
        worst = max(told, key=_share)
        yield _Loss(
            operator=operator,
            type=told[0]["type"],
            place=told[0]["place"],
            overflow=sum(line["overflow"] for line in told),
            first=next((line["step"] for line in told if line["overflow"]), None),
            share=_share(worst),
            step=worst["step"],
        )


def _share(line: dict[str, Any]) -> float:
    return float(line["underflow"]) / line["nonzero"] if line["nonzero"] else 0.0


def _constants(lines: Iterable[dict[str, Any]], kind: str) -> Iterator[Finding]:
    for line in lines:
        becomes = line["becomes"]
        shown = becomes if isinstance(becomes, str) else f"{becomes:g}"
        yield Finding(
            "precision-constant",
            precision_constant.TOLD.severity,
            f"the constant {line['value']:g} becomes {shown} in {kind}",
            precision_constant.TOLD.hint,
            places=(line["place"],) if line["place"] else (),
            operators=(line["operator"],),
        )


def _overflows(losses: list[_Loss], kind: str) -> Iterator[Finding]:
    found = sorted((one for one in losses if one.first is not None), key=lambda one: one.first or 0)
    for one in found[:_SHOWN]:
        yield Finding(
            "precision-overflow",
            precision_overflow.TOLD.severity,
            f"{one.overflow} numbers of `{one.operator}` ({one.type}) are beyond {kind} and become "
            f"infinite, first at step {one.first}",
            precision_overflow.TOLD.hint,
            places=one.places,
            operators=(one.operator,),
        )


def _underflows(losses: list[_Loss], kind: str) -> Iterator[Finding]:
    found = sorted(losses, key=lambda one: -one.share)
    for one in found[:_SHOWN]:
        if one.share >= _SHARE:
            yield Finding(
                "precision-underflow",
                precision_underflow.TOLD.severity,
                f"{one.share:.0%} of the numbers of `{one.operator}` ({one.type}) are too small "
                f"for {kind} and become zero at step {one.step}",
                precision_underflow.TOLD.hint,
                places=one.places,
                operators=(one.operator,),
            )


def _late(told: list[dict[str, Any]]) -> Iterator[Finding]:
    late = max((line["late"] for line in told), default=0)
    if late:
        yield Finding(
            "precision-not-emulated",
            precision_not_emulated.TOLD.severity,
            f"{late} operators kept 32 bits: a session had them before the gradients were built",
            precision_not_emulated.TOLD.hint,
        )

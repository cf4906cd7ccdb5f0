"""The catalogue of checks: complete, and a page for each."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.rehearse.checks.made_up_facts import op, trained
from trainferry.rehearse import catalogue, hub_checks
from trainferry.rehearse.catalogue import Check, all_checks
from trainferry.rehearse.check import check_run
from trainferry.rehearse.endings import REFUSALS
from trainferry.rehearse.tracing.operator_table import operator_table

REHEARSE = Path(catalogue.__file__).parent
CHECKS = list(all_checks().values())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_has_a_page(check: Check) -> None:
    assert check.title
    assert len(check.page.splitlines()) > 2
    assert check.page.splitlines()[0].endswith(".")
    assert check.on_rank or check.on_ranks or check.told


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_finds_by_its_own_name_only(check: Check) -> None:
    source = (REHEARSE / "checks" / f"{check.name.replace('-', '_')}.py").read_text("utf-8")
    named = re.findall(r'Finding\(\s*"([\w-]+)"', source)
    assert set(named) <= {check.name}


def test_notes_of_the_stand_ins_have_checks() -> None:
    told: set[str] = set()
    for path in (REHEARSE / "stand_in").rglob("*.py"):
        text = path.read_text("utf-8")
        told |= set(re.findall(r'\bnote\(\s*"([\w-]+)"', text))
        told |= set(re.findall(r'_steps", "(loop-[\w-]+)"\)', text))
    assert len(told) > 8
    assert {
        name for name in told if name not in all_checks() or not all_checks()[name].told
    } == set()


def test_what_the_hub_and_endings_tell_has_checks() -> None:
    text = Path(hub_checks.__file__).read_text("utf-8")
    told = set(re.findall(r'"((?:ranks?|graphs)-[a-z]+)"', text))
    told |= {name for name, _ in REFUSALS.values()}
    assert len(told) > 4
    assert {
        name for name in told if name not in all_checks() or not all_checks()[name].told
    } == set()


def test_the_operator_table_knows_who_runs_what() -> None:
    table = operator_table()
    assert len(table) > 800
    assert {one.runs_on for one in table.values()} == {"core", "cpu", "compiler", "hccl"}
    assert table["Conv2D"].takes("float16")
    assert not table["Conv2D"].takes("float64")
    assert table["Where"].takes("bool")
    assert "PyFunc" not in table


def test_a_graph_of_25000_operators_is_checked_in_seconds() -> None:
    operators = [op("x0", "Placeholder", shape=(None, 8))]
    operators += [
        op(f"x{number}", "Relu", [f"x{number - 1}"], shape=(None, 8)) for number in range(1, 25_000)
    ]
    opened = {one.name: ((None, 8),) for one in operators}
    started = time.perf_counter()
    check_run([trained(*operators, pinned={"graphs/1.json": opened})])
    assert time.perf_counter() - started < 5

"""What the stand-ins refuse is what `migrate` says that the device refuses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.rehearse.stand_in.tensorflows import STAND_IN
from trainferry.migrate.parameter_table import Consequence
from trainferry.migrate.parameters import check_run_config


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(STAND_IN))
    import trainferry_stand_in.options as module

    yield module
    for name in [name for name in sys.modules if name.startswith("trainferry_stand_in")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"precision_mode": "allow_mix_precision"},
        {"precision_mode": "fp16"},
        {"precision_mode": "force_fp32", "precision_mode_v2": "origin"},
        {"modify_mixlist": "list.json"},
        {"modify_mixlist": "list.json", "precision_mode_v2": "mixed_float16"},
        {"iterations_per_loop": 10, "mix_compile_mode": True},
        {"iterations_per_loop": 10, "mix_compile_mode": False},
        {"iterations_per_loop": 0},
        {"iterations_per_loop": "10"},
        {"jit_compile": True},
        {"jit_compile": "auto"},
        {"hcom_parallel": 1},
        {"buffer_optimize": "off_optimize"},
        {"buffer_optimize": "off"},
        {"graph_run_mode": 3},
        {"optypelist_for_implmode": "Pooling"},
        {"optypelist_for_implmode": "Pooling", "op_select_implmode": "high_precision"},
        {"dynamic_input": True, "dynamic_graph_execute_mode": "lazy_recompile"},
        {
            "dynamic_input": True,
            "dynamic_graph_execute_mode": "lazy_recompile",
            "iterations_per_loop": 2,
        },
        {"compress_weight_conf": "file", "enable_compress_weight": True},
        {"variable_placement": "Nowhere"},
        {"deterministic": 2},
    ],
)
def test_both_refuse_the_same(values: dict[str, object], options: ModuleType) -> None:
    told = {
        problem.name
        for problem in check_run_config(values)
        if problem.consequence is Consequence.REFUSED
    }
    refused = {problem.name for problem in options.check_options(values) if problem.refused}
    assert refused == told


def test_dumping_needs_a_folder(options: ModuleType) -> None:
    (problem,) = options.check_options({"enable_dump": True})
    assert problem.refused
    assert options.check_options({"enable_dump": True, "dump_path": "there"}) == []


def test_an_option_that_does_not_exist_is_told(options: ModuleType) -> None:
    (problem,) = options.check_options({"allow_mix_compile": True})
    assert not problem.refused
    assert "allow_mix_compile" in problem.message

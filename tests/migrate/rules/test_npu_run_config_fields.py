"""The arguments of NPURunConfig are checked, each at its place."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged
from trainferry.migrate.rounds import Told

RULE = "npu_run_config_fields"


def check(text: str) -> list[Told]:
    return check_unchanged(f"from npu_bridge.npu_init import *\n{text}\n", RULE)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("precision_mode='allow_mix_precision', hcom_parallel=True", ""),
        ("precision_mode=FLAGS.mode, iterations_per_loop=loops", ""),
        ("precision_mod='force_fp16'", "did you mean `precision_mode`?"),
        ("device_fn=place", "NPURunConfig does not take `device_fn`"),
        ("jit_compile=False", "`jit_compile` cannot be False"),
        ("mix_compile_mode=True, iterations_per_loop=100", "with operators left on the host"),
        ("train_distribute=strategy", "do not set `train_distribute`"),
        ("dump_config='/tmp'", "must be a `DumpConfig`"),
        ("modify_mixlist='ops.json'", "without a mode of mixed precision"),
        ("modify_mixlist='ops.json', **options", ""),
        ("dump_config=DumpConfig(enable_dump=True)", "without `dump_path`"),
        ("dump_config=DumpConfig(True, '/tmp')", ""),
        ("dump_config=DumpConfig(enable_dumps=True)", "did you mean `enable_dump`?"),
        ("dump_config=make_dump()", ""),
        ("profiling_config=DumpConfig()", "must be a `ProfilingConfig`"),
    ],
)
def test_arguments(arguments: str, words: str) -> None:
    told = check(f"config = NPURunConfig({arguments})")
    assert [words in one.message for one in told] == ([True] if words else [])


def test_objects_are_followed_to_where_they_are_made() -> None:
    (told,) = check_unchanged(
        """\
        from npu_bridge.estimator.npu.npu_config import NPURunConfig as Config, DumpConfig

        def make():
            dump = DumpConfig(enable_dump_debug=True, dump_path="/d", dump_debug_mode="/x")
            return Config(dump_config=dump)
        """,
        RULE,
    )
    assert "`dump_debug_mode` cannot be '/x'" in told.message
    assert (told.start, told.end) == (174, 178)


def test_a_mode_for_the_path() -> None:
    (told,) = check("dump = DumpConfig(enable_dump=True, dump_path='all')")
    assert "give it a folder" in told.message


def test_the_class_of_somebody_else_is_not_ours() -> None:
    assert check_unchanged("from mine import NPURunConfig\nNPURunConfig(a=1)\n", RULE) == []

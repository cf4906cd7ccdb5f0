"""Every setting of the NpuOptimizer is checked at its line."""

from __future__ import annotations

import textwrap

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rounds import Told
from trainferry.migrate.rule import Concern, Outcome

RULE = "parameter_map_keys"
START = """\
import tensorflow as tf
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""


def check(*lines: str) -> list[Told]:
    settings = "".join(f"custom_op.parameter_map{line}\n" for line in lines)
    return check_unchanged(START + settings, RULE, Options(lint=True))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('["allow_mix_compile"].b = True', "`mix_compile_mode`"),
        ('["min_group_size"].b = 1', "no adapter reads it any more"),
        ('["precision_mode"].b = True', "read from field `s`"),
        ('["jit_compile"].b = False', "read from field `s`"),
        ('["op_debug_level"].s = tf.compat.as_bytes("1")', "read from field `i`"),
        ('["precison_mode"].s = b"force_fp16"', "did you mean `precision_mode`?"),
        ('["precision_mode"].s = "allow_mix_precision".encode()', ""),
        ('["precision_mode"].s = b"allow_mix_precison"', "did you mean `allow_mix_precision`?"),
        ('["precision_mode"].s = "force_fp16"', "takes bytes"),
        ('["precision_mode"].s = tf.compat.as_bytes(FLAGS.precision_mode)', ""),
        ('["graph_run_mode"].i = 2', "cannot be 2"),
        ('["mix_compile_mode"].b = flag', ""),
        ('["hccl_timeout"].i = -1', "cannot be -1"),
    ],
)
def test_one_setting(line: str, words: str) -> None:
    told = check(line)
    assert outcomes(told) == ([Outcome.BY_HAND] if words else [])
    assert not words or words in told[0].message


def test_swapped_values_of_the_dump() -> None:
    told = check(
        '["enable_dump_debug"].b = True',
        '["dump_path"].s = tf.compat.as_bytes("all")',
        '["dump_debug_mode"].s = tf.compat.as_bytes("/tmp/dump")',
    )
    assert len(told) == 2
    assert "give it a folder" in told[0].message
    assert "the folder goes to `dump_path`" in told[1].message


def test_swapped_variables_of_the_dump() -> None:
    told = check(
        '["enable_dump_debug"].b = True',
        '["dump_path"].s = tf.compat.as_bytes(FLAGS.dump_debug_mode)',
        '["dump_debug_mode"].s = tf.compat.as_bytes(FLAGS.over_dump_path)',
    )
    assert len(told) == 2


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ('["precision_mode"].s = b"force_fp16"', '["precision_mode_v2"].s = b"fp16"'),
            "are both set",
        ),
        (('["modify_mixlist"].s = b"ops.json"',), "without a mode of mixed precision"),
        (
            ('["iterations_per_loop"].i = 10', '["mix_compile_mode"].b = True'),
            "with operators left on the host",
        ),
        (('["dump_path"].s = b"/tmp"',), "without a switch"),
    ],
)
def test_settings_that_do_not_go_together(lines: tuple[str, ...], words: str) -> None:
    told = check(*lines)
    assert any(words in one.message for one in told)


def test_a_deprecated_setting_is_right_where_a_loop_needs_it() -> None:
    assert len(check('["enable_data_pre_proc"].b = True')) == 1
    assert check('["enable_data_pre_proc"].b = True', '["iterations_per_loop"].i = n') == []


def test_branches_are_not_taken_together() -> None:
    assert check("['use_off_line'].b = True") == []
    assert (
        check_unchanged(
            START
            + textwrap.dedent("""\
            if new:
                custom_op.parameter_map["precision_mode_v2"].s = b"mixed_float16"
            else:
                custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
            """),
            RULE,
        )
        == []
    )


def test_what_is_set_elsewhere_is_not_missed() -> None:
    told = check_unchanged(
        """\
        def fill(op):
            op.parameter_map["modify_mixlist"].s = b"ops.json"
            op.parameter_map["dump_pth"].s = b"/tmp"

        class Trainer:
            def __init__(self, config):
                self.op = config.graph_options.rewrite_options.custom_optimizers.add()
                self.op.name = "NpuOptimizer"
                self.op.parameter_map["mix_compile_mode"].s = b"true"
                fill(self.op)
        """,
        RULE,
    )
    assert [one.message.split(":")[0] for one in told] == [
        "`dump_pth` is no key of the NpuOptimizer",
        "`mix_compile_mode` is read from field `b`, not `s`",
    ]


def test_what_stops_a_run_is_told_as_such() -> None:
    (told,) = check('["precision_mode"].b = True')
    assert told.finding.concern is Concern.RUN
    (told,) = check('["allow_mix_compile"].b = True')
    assert told.finding.concern is Concern.RESULT


def test_other_custom_optimizers_are_not_ours() -> None:
    text = START.replace("NpuOptimizer", "TensorRTOptimizer")
    text += 'custom_op.parameter_map["minimum_segment_size"].i = 3\n'
    assert check_unchanged(text, RULE) == []

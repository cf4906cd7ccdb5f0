"""Settings for the NPU: what is wrong with them, and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from trainferry.migrate.parameter_table import Consequence, parameters, run_config
from trainferry.migrate.parameters import (
    NOT_LITERAL,
    ConfigCall,
    Setting,
    check_parameters,
    check_run_config,
)

REFUSED, IGNORED = Consequence.REFUSED, Consequence.IGNORED
REPLACED, UNDEFINED = Consequence.REPLACED, Consequence.UNDEFINED
DEPRECATED = Consequence.DEPRECATED


def found(settings: Mapping[str, object]) -> list[tuple[str, Consequence]]:
    return [(problem.name, problem.consequence) for problem in check_parameters(settings)]


def found_in_config(fields: Mapping[str, object]) -> list[tuple[str, Consequence]]:
    return [(problem.name, problem.consequence) for problem in check_run_config(fields)]


def test_all_keys_of_the_adapter_are_known() -> None:
    assert len(parameters()) == 106


@pytest.mark.parametrize("name", parameters())
def test_a_key_is_described_consistently(name: str) -> None:
    parameter = parameters()[name]
    kinds = {"bool": bool, "int": int, "str": str}
    assert parameter.type in kinds
    assert parameter.meaning
    for value in (*parameter.choices, parameter.default):
        assert value is None or type(value) is kinds[parameter.type]
    if parameter.default is not None:
        assert parameter.allows(parameter.default)
    if parameter.pattern is not None:
        re.compile(parameter.pattern)
    assert set(parameter.value_chips) <= {str(choice) for choice in parameter.choices}
    assert not parameter.deprecated or parameter.deprecated in parameters()


def test_good_settings_pass() -> None:
    assert (
        found(
            {
                "use_off_line": True,
                "precision_mode": "allow_mix_precision",
                "modify_mixlist": b"/data/mixlist.json",
                "graph_run_mode": 1,
                "hcom_parallel": Setting("b", True),
                "enable_dump": True,
                "dump_path": NOT_LITERAL,
                "dump_step": "0|5|10-20",
                "jit_compile": Setting("s", b"auto"),
                "local_device_list": "0,1,2",
            }
        )
        == []
    )


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("sump_mode", "did you mean `dump_mode`?"),
        ("precison_mode", "did you mean `precision_mode`?"),
        ("autotune_tune_mode", "did you mean `auto_tune_mode`?"),
        ("min_group_size", "leave it out; no adapter reads it any more"),
        ("enable_auto_mix_precision", "set `precision_mode` to `allow_mix_precision`"),
        ("allow_mix_compile", "set `mix_compile_mode`"),
        ("zzz", "leave it out"),
    ],
)
def test_an_unknown_key_is_ignored_by_the_adapter_and_told_by_us(key: str, hint: str) -> None:
    (problem,) = check_parameters({key: True})
    assert problem.consequence is IGNORED
    assert problem.hint == hint


@pytest.mark.parametrize(
    ("key", "value", "consequence"),
    [
        ("jit_compile", True, REFUSED),
        ("precision_mode", True, REFUSED),
        ("op_debug_config", 1, IGNORED),
        ("oo_constant_folding", "false", IGNORED),
        ("hcom_parallel", 1, REPLACED),
        ("use_off_line", Setting("i", 1), REPLACED),
        ("mix_compile_mode", "True", IGNORED),
        ("iterations_per_loop", 10.0, REFUSED),
        ("dump_layer", None, REFUSED),
        ("profiling_mode", ["on"], REFUSED),
    ],
)
def test_a_value_in_the_wrong_field_is_not_read(
    key: str, value: object, consequence: Consequence
) -> None:
    assert found({key: value}) == [(key, consequence)]


def test_a_number_may_fill_a_field_for_bool() -> None:
    assert found({"use_off_line": Setting("b", 1)}) == []


def test_a_string_needs_to_be_bytes_for_its_field() -> None:
    (problem,) = check_parameters({"precision_mode": Setting("s", "force_fp16")})
    assert problem.consequence is REFUSED
    assert problem.hint == "the field takes bytes: write `tf.compat.as_bytes('force_fp16')`"


@pytest.mark.parametrize(
    ("key", "value", "consequence"),
    [
        ("precision_mode", "mixed", REFUSED),
        ("graph_run_mode", 2, REFUSED),
        ("session_device_id", -1, REFUSED),
        ("local_rank_id", 8, REFUSED),
        ("aoe_mode", "3", REFUSED),
        ("buffer_optimize", "on", REFUSED),
        ("variable_placement", "CPU", REFUSED),
        ("static_memory_policy", 1, UNDEFINED),
        ("input_fusion_size", 1 << 30, REPLACED),
        ("auto_multistream_parallel_mode", "MainStream:65", UNDEFINED),
        ("aicore_num", "2,4", UNDEFINED),
    ],
)
def test_a_value_that_is_not_allowed_is_told(
    key: str, value: object, consequence: Consequence
) -> None:
    assert found({key: value}) == [(key, consequence)]


def test_a_misspelt_value_gets_a_suggestion() -> None:
    (problem,) = check_parameters({"precision_mode": "alow_mix_precision"})
    assert problem.hint == "did you mean `allow_mix_precision`?"


@pytest.mark.parametrize("step", ["", "a", "1||2", "1-2-3", "0," * 3, "|".join(["1"] * 101)])
def test_steps_to_dump_have_a_form(step: str) -> None:
    settings = {"enable_dump": True, "dump_path": "/tmp", "dump_step": step}
    assert found(settings) == [("dump_step", REFUSED)]


def test_deprecated_keys_name_what_replaces_them() -> None:
    (problem,) = check_parameters({"op_debug_level": 0})
    assert (problem.consequence, problem.hint) == (DEPRECATED, "use `op_debug_config`")
    assert found({"graph_memory_max_size": "1"}) == [("graph_memory_max_size", IGNORED)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"precision_mode": "force_fp16", "precision_mode_v2": "fp16"},
            ("precision_mode", REFUSED),
        ),
        ({"modify_mixlist": "a.json"}, ("modify_mixlist", REFUSED)),
        (
            {"modify_mixlist": "a.json", "precision_mode": "force_fp16"},
            ("modify_mixlist", REFUSED),
        ),
        (
            {
                "experimental_accelerate_train_mode": "fast|step|0.9",
                "precision_mode_v2": "mixed_float16",
            },
            ("experimental_accelerate_train_mode", UNDEFINED),
        ),
        ({"input_shape": "data:1,-1"}, ("input_shape", REFUSED)),
        ({"dynamic_dims": "1;2", "dynamic_node_type": 1}, ("dynamic_dims", REFUSED)),
        ({"compile_hybrid_mode": 1}, ("compile_hybrid_mode", REFUSED)),
        (
            {
                "input_shape": "data:1,-1",
                "dynamic_dims": "1;2",
                "dynamic_node_type": 0,
                "compile_hybrid_mode": 1,
            },
            ("compile_hybrid_mode", REFUSED),
        ),
        (
            {
                "input_shape": "data:1,-1",
                "dynamic_dims": "1;2",
                "dynamic_node_type": 1,
                "compile_dynamic_mode": True,
            },
            ("compile_dynamic_mode", UNDEFINED),
        ),
        (
            {"enable_compress_weight": True, "compress_weight_conf": "a.cfg"},
            ("enable_compress_weight", REFUSED),
        ),
        ({"enable_dump": True}, ("enable_dump", REFUSED)),
        ({"enable_dump_debug": True}, ("enable_dump_debug", REFUSED)),
        (
            {"enable_dump": True, "enable_dump_debug": True, "dump_path": "/tmp"},
            ("enable_dump_debug", UNDEFINED),
        ),
        ({"dump_path": "/tmp"}, ("dump_path", IGNORED)),
        ({"variable_placement": "Host"}, ("variable_placement", UNDEFINED)),
        ({"profiling_options": "{}"}, ("profiling_options", IGNORED)),
        (
            {"shape_generalization_mode": "FULL", "compile_dynamic_mode": True},
            ("shape_generalization_mode", IGNORED),
        ),
        ({"graph_run_mode": 0, "enable_small_channel": 0}, ("enable_small_channel", REPLACED)),
    ],
)
def test_settings_that_do_not_go_together_are_told_once(
    settings: dict[str, object], expected: tuple[str, Consequence]
) -> None:
    assert found(settings) == [expected]


def test_swapped_dump_modes_name_the_right_key() -> None:
    problems = check_parameters(
        {"enable_dump_debug": True, "dump_path": "/tmp", "dump_mode": "all"}
    )
    assert [problem.hint for problem in problems] == [
        "with `enable_dump_debug` the key is `dump_debug_mode`"
    ]


def test_a_value_of_the_other_dump_mode_is_not_allowed() -> None:
    settings = {"enable_dump": True, "dump_path": "/tmp", "dump_mode": "aicore_overflow"}
    assert found(settings) == [("dump_mode", REFUSED)]


def test_a_list_of_operators_needs_a_mode() -> None:
    assert found({"optypelist_for_implmode": "Pooling"}) == [
        ("optypelist_for_implmode", DEPRECATED),
        ("optypelist_for_implmode", REFUSED),
    ]


def test_the_newer_operator_precision_wins() -> None:
    settings = {"op_select_implmode": "high_precision", "op_precision_mode": "a.ini"}
    assert ("op_select_implmode", IGNORED) in found(settings)


def test_a_loop_on_the_device_excludes_the_host() -> None:
    settings = {"iterations_per_loop": 10, "mix_compile_mode": True, "enable_data_pre_proc": True}
    assert ("iterations_per_loop", REFUSED) in found(settings)


def test_a_loop_on_the_device_excludes_recompiling() -> None:
    settings = {
        "iterations_per_loop": 10,
        "enable_data_pre_proc": True,
        "dynamic_input": True,
        "dynamic_graph_execute_mode": "lazy_recompile",
    }
    assert ("iterations_per_loop", REFUSED) in found(settings)


def test_a_loop_on_the_device_needs_the_batches_there() -> None:
    assert found({"iterations_per_loop": 10}) == [("enable_data_pre_proc", UNDEFINED)]
    assert found_in_config({"iterations_per_loop": 10}) == []


@pytest.mark.parametrize("key", parameters())
def test_a_value_that_cannot_be_read_is_not_blamed_for_its_type_or_value(key: str) -> None:
    problems = check_parameters({key: NOT_LITERAL})
    assert not any("cannot be" in problem.message for problem in problems)


def test_unread_values_get_the_benefit_of_the_doubt() -> None:
    settings: dict[str, object] = {
        "modify_mixlist": "a.json",
        "precision_mode": NOT_LITERAL,
        "iterations_per_loop": NOT_LITERAL,
        "mix_compile_mode": True,
        "enable_dump": NOT_LITERAL,
    }
    assert found(settings) == []


def test_run_config_fields_are_known() -> None:
    table = run_config()
    assert table.same <= parameters().keys()
    for config in table.objects.values():
        assert {key for key in config.fields.values() if key} <= parameters().keys()
    assert len(table.names) == 88


def test_a_good_run_config_passes() -> None:
    assert (
        found_in_config(
            {
                "model_dir": "/data/run",
                "session_config": NOT_LITERAL,
                "save_checkpoints_steps": 100,
                "iterations_per_loop": 100,
                "precision_mode": "allow_mix_precision",
                "precision_mode_v2": None,
                "dump_config": ConfigCall(
                    "DumpConfig", {"enable_dump": True, "dump_path": "/tmp", "dump_mode": "all"}
                ),
                "profiling_config": NOT_LITERAL,
            }
        )
        == []
    )


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"protocol": "grpc"}, "protocol"),
        ({"iteration_per_loop": 10}, "iteration_per_loop"),
        ({"jit_compile": True}, "jit_compile"),
        ({"horovod_mode": "yes"}, "horovod_mode"),
        ({"iterations_per_loop": 0}, "iterations_per_loop"),
        ({"iterations_per_loop": 10, "mix_compile_mode": True}, "iterations_per_loop"),
        ({"dump_config": "all"}, "dump_config"),
        ({"dump_config": ConfigCall("MemoryConfig", {})}, "dump_config"),
        ({"dump_config": ConfigCall("DumpConfig", {"path": "/tmp"})}, "dump_config.path"),
        (
            {"dump_config": ConfigCall("DumpConfig", {"enable_dump": True})},
            "dump_config.enable_dump",
        ),
        (
            {"memory_config": ConfigCall("MemoryConfig", {"variable_use_1g_huge_page": 3})},
            "memory_config.variable_use_1g_huge_page",
        ),
    ],
)
def test_a_wrong_run_config_is_refused(fields: dict[str, object], name: str) -> None:
    assert found_in_config(fields) == [(name, REFUSED)]


def test_distribution_fields_of_the_run_config_are_not_to_be_set() -> None:
    assert found_in_config({"train_distribute": NOT_LITERAL}) == [("train_distribute", UNDEFINED)]

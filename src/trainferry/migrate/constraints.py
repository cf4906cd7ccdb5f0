"""Settings for the NPU that do not go together, or need one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainferry.migrate.parameter_table import Consequence, ParameterProblem, parameters

MIXED = frozenset(
    {
        "allow_mix_precision",
        "allow_mix_precision_fp16",
        "allow_mix_precision_bf16",
        "mixed_float16",
        "mixed_bfloat16",
        "mixed_hif8",
    }
)
UNREDUCED = frozenset({"allow_fp32_to_fp16", "must_keep_origin_dtype", "origin"})
PROFILES = ("input_shape", "dynamic_dims", "dynamic_node_type")


@dataclass(frozen=True)
class _Settings:
    values: Mapping[str, object]
    not_literal: object

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, name: str) -> object:
        """The value set, or the default; None where it cannot be read."""
        value = self.values.get(name, parameters()[name].default)
        return None if value is self.not_literal else value

    def is_on(self, name: str) -> bool:
        return self.get(name) in (True, 1)


def find_conflicts(values: Mapping[str, object], not_literal: object) -> Iterator[ParameterProblem]:
    """Every conflict among known keys; a value that cannot be read is taken to be right."""
    settings = _Settings(values, not_literal)
    for check in (_precision, _loop, _profiles, _implementation, _dump, _others):
        yield from check(settings)


def _precision(settings: _Settings) -> Iterator[ParameterProblem]:
    if settings.has("precision_mode") and settings.has("precision_mode_v2"):
        yield _refused(
            "precision_mode",
            "`precision_mode` and `precision_mode_v2` are both set",
            "keep `precision_mode_v2`",
        )
    key = "precision_mode" if settings.has("precision_mode") else "precision_mode_v2"
    readable = settings.has(key) and settings.get(key) is not None
    mode = settings.get(key) if readable else None
    unmixed = not settings.has(key) or (readable and mode not in MIXED)
    if settings.has("modify_mixlist") and unmixed:
        yield _refused(
            "modify_mixlist",
            "`modify_mixlist` without a mode of mixed precision",
            "set `precision_mode_v2` to `mixed_float16` or `precision_mode` to"
            " `allow_mix_precision`",
        )
    if settings.has("experimental_accelerate_train_mode") and readable and mode not in UNREDUCED:
        yield ParameterProblem(
            "experimental_accelerate_train_mode",
            Consequence.UNDEFINED,
            f"`experimental_accelerate_train_mode` with `{key}` {mode!r}",
            "it goes with `allow_fp32_to_fp16`, `must_keep_origin_dtype` or `origin` only",
        )


def _loop(settings: _Settings) -> Iterator[ParameterProblem]:
    steps = settings.get("iterations_per_loop")
    if not isinstance(steps, int) or steps <= 1:
        return
    if settings.is_on("mix_compile_mode"):
        yield _refused(
            "iterations_per_loop",
            "several steps per loop on the device, with operators left on the host",
            "set `iterations_per_loop` to 1, or `mix_compile_mode` to False",
        )
    if settings.is_on("dynamic_input") and (
        settings.get("dynamic_graph_execute_mode") == "lazy_recompile"
    ):
        yield _refused(
            "iterations_per_loop",
            "several steps per loop on the device, with `lazy_recompile`",
            "set `iterations_per_loop` to 1",
        )
    if settings.get("enable_data_pre_proc") is False:
        yield ParameterProblem(
            "enable_data_pre_proc",
            Consequence.UNDEFINED,
            "several steps per loop on the device need the next batch there",
            "set `enable_data_pre_proc` to True",
        )


def _profiles(settings: _Settings) -> Iterator[ParameterProblem]:
    present = [name for name in PROFILES if settings.has(name)]
    if present and len(present) < len(PROFILES):
        missing = " and ".join(f"`{name}`" for name in PROFILES if name not in present)
        yield _refused(
            present[0],
            "`input_shape`, `dynamic_dims` and `dynamic_node_type` go together",
            f"set {missing} too, or none of the three",
        )
    unprepared = not present or settings.get("dynamic_node_type") == 0
    if settings.get("compile_hybrid_mode") == 1 and unprepared:
        yield _refused(
            "compile_hybrid_mode",
            "`compile_hybrid_mode` without prepared shapes of placeholders",
            "set `input_shape`, `dynamic_dims` and `dynamic_node_type` 1 too",
        )
    if present and settings.is_on("compile_dynamic_mode"):
        yield ParameterProblem(
            "compile_dynamic_mode",
            Consequence.UNDEFINED,
            "`compile_dynamic_mode` together with prepared shapes",
            f"leave `compile_dynamic_mode` or `{present[0]}` out",
        )
    if settings.has("dynamic_dims") and settings.has("dynamic_inputs_shape_range"):
        yield _ignored(
            "dynamic_inputs_shape_range",
            "`dynamic_inputs_shape_range` beside `dynamic_dims`, which wins",
            "leave it out",
        )


def _implementation(settings: _Settings) -> Iterator[ParameterProblem]:
    if settings.has("optypelist_for_implmode") and not settings.has("op_select_implmode"):
        yield _refused(
            "optypelist_for_implmode",
            "`optypelist_for_implmode` without `op_select_implmode`",
            "use `op_precision_mode` instead",
        )
    if settings.has("op_select_implmode") and settings.has("op_precision_mode"):
        yield _ignored(
            "op_select_implmode",
            "`op_select_implmode` beside `op_precision_mode`, which wins",
            "leave it out",
        )
    if settings.has("enable_compress_weight") and settings.has("compress_weight_conf"):
        yield _refused(
            "enable_compress_weight",
            "`enable_compress_weight` and `compress_weight_conf` are both set",
            "keep one of them",
        )


def _dump(settings: _Settings) -> Iterator[ParameterProblem]:
    """Two features share the path: `enable_dump` and `enable_dump_debug`."""
    dump, debug = settings.is_on("enable_dump"), settings.is_on("enable_dump_debug")
    if dump and debug:
        yield ParameterProblem(
            "enable_dump_debug",
            Consequence.UNDEFINED,
            "`enable_dump` and `enable_dump_debug` are both on",
            "turn one of them off",
        )
    if (dump or debug) and not settings.has("dump_path"):
        switch = "enable_dump" if dump else "enable_dump_debug"
        yield _refused(switch, f"`{switch}` without `dump_path`", "set `dump_path`")
    if settings.has("dump_path") and not (
        settings.has("enable_dump") or settings.has("enable_dump_debug")
    ):
        hint = "set `enable_dump` or `enable_dump_debug` to True, or leave the path out"
        yield _ignored("dump_path", "`dump_path` without a switch that turns dumping on", hint)
    yield from _swapped(settings, "dump_mode", "enable_dump", "dump_debug_mode")
    yield from _swapped(settings, "dump_step", "enable_dump", None)
    yield from _swapped(settings, "dump_debug_mode", "enable_dump_debug", "dump_mode")


def _swapped(
    settings: _Settings, name: str, switch: str, other: str | None
) -> Iterator[ParameterProblem]:
    """`name` is read only while `switch` is on; people mix it up with `other`."""
    if not settings.has(name) or settings.has(switch):
        return
    other_switch = "enable_dump_debug" if switch == "enable_dump" else "enable_dump"
    if other and settings.is_on(other_switch):
        hint = f"with `{other_switch}` the key is `{other}`"
    else:
        hint = f"set `{switch}` to True, or leave `{name}` out"
    yield _ignored(name, f"`{name}` is read only with `{switch}`", hint)


def _others(settings: _Settings) -> Iterator[ParameterProblem]:
    if settings.get("variable_placement") == "Host" and settings.get("mix_compile_mode") is False:
        yield ParameterProblem(
            "variable_placement",
            Consequence.UNDEFINED,
            "variables on the host need `mix_compile_mode`",
            "set `mix_compile_mode` to True",
        )
    if settings.has("profiling_options") and not settings.has("profiling_mode"):
        yield _ignored(
            "profiling_options",
            "`profiling_options` without `profiling_mode`",
            "set `profiling_mode` to True",
        )
    if settings.has("shape_generalization_mode") and settings.is_on("compile_dynamic_mode"):
        yield _ignored(
            "shape_generalization_mode",
            "`shape_generalization_mode` beside `compile_dynamic_mode`, which wins",
            "leave it out",
        )
    small_channel_off = settings.values.get("enable_small_channel") == 0
    if settings.get("graph_run_mode") == 0 and small_channel_off:
        yield ParameterProblem(
            "enable_small_channel",
            Consequence.REPLACED,
            "`enable_small_channel` is always 1 in inference",
            "leave it out",
        )


def _refused(name: str, message: str, hint: str) -> ParameterProblem:
    return ParameterProblem(name, Consequence.REFUSED, message, hint)


def _ignored(name: str, message: str, hint: str) -> ParameterProblem:
    return ParameterProblem(name, Consequence.IGNORED, message, hint)

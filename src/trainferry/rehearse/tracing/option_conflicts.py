"""Options of the NPU that exclude or need one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainferry.rehearse.finding import Severity

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
_PROFILES = ("input_shape", "dynamic_dims", "dynamic_node_type")
_STOPS, _RUNS = Severity.REFUSED, Severity.RISK


@dataclass(frozen=True)
class Conflict:
    """Two options, or one without the other it needs."""

    severity: Severity
    message: str
    hint: str


def find_conflicts(options: Mapping[str, object]) -> Iterator[Conflict]:
    """Everything that does not go together among the options of one session."""
    for rule in (_precision, _loop, _profiles, _implementation, _dump, _others):
        yield from rule(options)


def _precision(options: Mapping[str, object]) -> Iterator[Conflict]:
    both = "precision_mode" in options and "precision_mode_v2" in options
    if both:
        yield Conflict(
            _STOPS,
            "`precision_mode` and `precision_mode_v2` are both set",
            "keep `precision_mode_v2`",
        )
    mode = options.get("precision_mode", options.get("precision_mode_v2"))
    if "modify_mixlist" in options and mode not in MIXED:
        yield Conflict(
            _STOPS,
            "`modify_mixlist` without a mode of mixed precision",
            "set `precision_mode_v2` to `mixed_float16`, or leave the list out",
        )


def _loop(options: Mapping[str, object]) -> Iterator[Conflict]:
    steps = options.get("iterations_per_loop", 1)
    if not isinstance(steps, int) or steps <= 1:
        return
    if options.get("mix_compile_mode"):
        yield Conflict(
            _STOPS,
            f"{steps} steps per loop on the device together with `mix_compile_mode`",
            "set `iterations_per_loop` to 1, or `mix_compile_mode` to False",
        )
    lazy = options.get("dynamic_graph_execute_mode") == "lazy_recompile"
    if options.get("dynamic_input") and lazy:
        yield Conflict(
            _STOPS,
            f"{steps} steps per loop on the device together with `lazy_recompile`",
            "set `iterations_per_loop` to 1",
        )
    if not options.get("enable_data_pre_proc"):
        yield Conflict(
            _STOPS,
            f"{steps} steps per loop on the device without `enable_data_pre_proc`",
            "set `enable_data_pre_proc` to True: the loop takes its batches there",
        )


def _profiles(options: Mapping[str, object]) -> Iterator[Conflict]:
    present = [name for name in _PROFILES if name in options]
    if present and len(present) < len(_PROFILES):
        yield Conflict(
            _STOPS,
            f"`{present[0]}` without the others of `input_shape`, `dynamic_dims` and"
            " `dynamic_node_type`",
            "set all three, or none",
        )
    if options.get("compile_hybrid_mode") == 1 and options.get("dynamic_node_type") != 1:
        yield Conflict(
            _STOPS,
            "`compile_hybrid_mode` without prepared shapes of placeholders",
            "set `input_shape`, `dynamic_dims` and `dynamic_node_type` 1 too",
        )
    if present and options.get("compile_dynamic_mode"):
        yield Conflict(
            _RUNS,
            "`compile_dynamic_mode` together with prepared shapes",
            f"leave `compile_dynamic_mode` or `{present[0]}` out",
        )
    if present and options.get("mix_compile_mode"):
        yield Conflict(
            _STOPS,
            "prepared shapes together with `mix_compile_mode`",
            "leave one of the two out",
        )


def _implementation(options: Mapping[str, object]) -> Iterator[Conflict]:
    if "optypelist_for_implmode" in options and "op_select_implmode" not in options:
        yield Conflict(
            _STOPS,
            "`optypelist_for_implmode` without `op_select_implmode`",
            "use `op_precision_mode` instead of both",
        )
    if "op_select_implmode" in options and "op_precision_mode" in options:
        yield Conflict(
            _RUNS, "`op_select_implmode` beside `op_precision_mode`, which wins", "leave it out"
        )
    if options.get("enable_compress_weight") and "compress_weight_conf" in options:
        yield Conflict(
            _STOPS,
            "`enable_compress_weight` and `compress_weight_conf` are both set",
            "keep one of them",
        )


def _dump(options: Mapping[str, object]) -> Iterator[Conflict]:
    switches = [name for name in ("enable_dump", "enable_dump_debug") if options.get(name)]
    if len(switches) == 2:
        yield Conflict(
            _RUNS,
            "`enable_dump` and `enable_dump_debug` are both on",
            "turn one of them off: they exclude each other",
        )
    if switches and not options.get("dump_path"):
        yield Conflict(_STOPS, f"`{switches[0]}` without `dump_path`", "set `dump_path`")
    mode_of = {"dump_mode": "enable_dump", "dump_debug_mode": "enable_dump_debug"}
    for name, switch in mode_of.items():
        if name in options and switches and switch not in switches:
            yield Conflict(
                _RUNS,
                f"`{name}` is read only with `{switch}`, but `{switches[0]}` is on",
                f"set `{switch}`, or the key that belongs to `{switches[0]}`",
            )


def _others(options: Mapping[str, object]) -> Iterator[Conflict]:
    if options.get("variable_placement") == "Host" and not options.get("mix_compile_mode"):
        yield Conflict(
            _STOPS,
            "variables on the host without `mix_compile_mode`",
            "set `mix_compile_mode` to True, or `variable_placement` to Device",
        )
    if "profiling_options" in options and "profiling_mode" not in options:
        yield Conflict(
            _RUNS,
            "`profiling_options` without `profiling_mode`: nothing is measured",
            "set `profiling_mode` to True, or leave the options out",
        )

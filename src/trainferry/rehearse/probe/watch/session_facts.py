"""Describes a session: its configuration, and what was set for the NPU in it."""

import os
import sys
import threading

from .attributes import plain_value
from .facts_file import write_fact
from .places import user_line

_NPU = "NpuOptimizer"
_GRAPPLER = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "auto_mixed_precision",
    "memory_optimization",
    "meta_optimizer_iterations",
)
_lock = threading.Lock()
_count = [0]


def number_of(session):
    """The number of a session; 0 for one that was made before the watch began."""
    return getattr(session, "_trainferry_number", 0)


def describe(session):
    """Write a new session down."""
    with _lock:
        _count[0] += 1
        session._trainferry_number = _count[0]
    write_fact(
        "session",
        id=session._trainferry_number,
        place=user_line(),
        target=(session._target or b"").decode("utf-8", "replace"),
        patched=_is_patched(),
        config=config_facts(session._config),
    )


def config_facts(config):
    """What checks ask of a configuration, as plain values."""
    rewrite = config.graph_options.rewrite_options
    optimizer = config.graph_options.optimizer_options
    entries = rewrite.custom_optimizers
    facts = {
        "npu_entries": [
            {name: plain_value(value) for name, value in entry.parameter_map.items()}
            for entry in entries
            if entry.name == _NPU
        ],
        "other_entries": [entry.name for entry in entries if entry.name != _NPU],
        "optimizers": list(rewrite.optimizers),
        "disable_model_pruning": rewrite.disable_model_pruning,
        "disable_meta_optimizer": rewrite.disable_meta_optimizer,
        "global_jit_level": _choice(optimizer, "global_jit_level"),
        "opt_level": _choice(optimizer, "opt_level"),
        "allow_soft_placement": config.allow_soft_placement,
        "log_device_placement": config.log_device_placement,
        "gpu_options_set": sorted(field.name for field, _ in config.gpu_options.ListFields()),
        "device_count": dict(config.device_count),
        "inter_op_parallelism_threads": config.inter_op_parallelism_threads,
        "intra_op_parallelism_threads": config.intra_op_parallelism_threads,
    }
    for name in _GRAPPLER:
        if hasattr(rewrite, name):
            facts[name] = _choice(rewrite, name)
    return facts


def _choice(message, name):
    """The name of the value of an enumeration; the value where it has none."""
    value = getattr(message, name)
    enumeration = message.DESCRIPTOR.fields_by_name[name].enum_type
    known = enumeration.values_by_number.get(value) if enumeration is not None else None
    return known.name if known is not None else value


def _is_patched():
    """Whether the adapter changes every session by itself, as the newest does."""
    if "npu_bridge.npu_init" not in sys.modules:
        return False
    return (os.environ.get("TRAINFERRY_ADAPTER") or "patched") == "patched"

"""The options of the NPU: which values and which pairs of values the device refuses."""

import json
import os
import re

_TYPES = {"bool": bool, "int": int, "str": str}
_ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "options.json")
_table = {}


class Problem:
    """One wrong option; `refused` where the device stops, else it is only of no use."""

    def __init__(self, name, refused, message):
        self.name = name
        self.refused = refused
        self.message = message

    def __repr__(self):
        return f"Problem({self.name!r}, {self.refused!r}, {self.message!r})"


def table():
    """What `make_stand_in_options.py` wrote."""
    if not _table:
        with open(_ROWS, encoding="utf-8") as rows:
            _table.update(json.load(rows))
    return _table


def check_options(values):
    """Everything wrong with these options; None means that an option is not set."""
    set_ = {name: value for name, value in values.items() if value is not None}
    problems = [problem for name in sorted(set_) for problem in _check(name, set_[name])]
    return problems + list(_conflicts(set_))


def proto_field(name):
    """The field of `parameter_map[name]` that the adapter reads: b, i or s."""
    return table()["parameters"][name]["type"][0]


def _check(name, value):
    row = table()["parameters"].get(name)
    if row is None:
        yield Problem(name, False, f"the adapter knows no option `{name}` and ignores it")
        return
    wanted = _TYPES[row["type"]]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        message = "`{}` takes a {}, not {!r}".format(name, row["type"], value)
        yield Problem(name, True, message)
    elif not _allows(row, value):
        yield Problem(name, row.get("checked", True), f"`{name}` cannot be {value!r}{_words(row)}")


def _allows(row, value):
    if "choices" in row:
        return value in row["choices"]
    if "pattern" in row:
        return re.fullmatch(row["pattern"], value) is not None
    if isinstance(value, bool) or not isinstance(value, int):
        return True
    return row.get("least", value) <= value <= row.get("most", value)


def _words(row):
    if "choices" in row:
        return "; it is one of {}".format(", ".join(str(choice) for choice in row["choices"]))
    if "least" in row or "most" in row:
        return "; it is {} to {}".format(row.get("least", "any"), row.get("most", "any number"))
    return ""


_MIXED = (
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "allow_mix_precision_bf16",
    "mixed_float16",
    "mixed_bfloat16",
    "mixed_hif8",
)


def _conflicts(values):
    mode = values.get("precision_mode") or values.get("precision_mode_v2")
    steps = values.get("iterations_per_loop", 1)
    dumps = [name for name in ("enable_dump", "enable_dump_debug") if values.get(name)]
    profiles = [
        name for name in ("input_shape", "dynamic_dims", "dynamic_node_type") if name in values
    ]
    loops = isinstance(steps, int) and steps > 1
    rules = (
        (
            "precision_mode",
            "precision_mode" in values and "precision_mode_v2" in values,
            True,
            "`precision_mode` and `precision_mode_v2` are both set",
        ),
        (
            "modify_mixlist",
            "modify_mixlist" in values and mode not in _MIXED,
            True,
            "`modify_mixlist` needs a mode of mixed precision",
        ),
        (
            "iterations_per_loop",
            loops and values.get("mix_compile_mode"),
            True,
            "with `mix_compile_mode`, `iterations_per_loop` must be 1",
        ),
        (
            "iterations_per_loop",
            loops
            and values.get("dynamic_input")
            and values.get("dynamic_graph_execute_mode") == "lazy_recompile",
            True,
            "with `lazy_recompile`, `iterations_per_loop` must be 1",
        ),
        (
            "enable_data_pre_proc",
            loops and values.get("enable_data_pre_proc") is False,
            False,
            "several steps per loop need `enable_data_pre_proc`",
        ),
        (
            "input_shape",
            0 < len(profiles) < 3,
            True,
            "`input_shape`, `dynamic_dims` and `dynamic_node_type` go together",
        ),
        (
            "optypelist_for_implmode",
            "optypelist_for_implmode" in values and "op_select_implmode" not in values,
            True,
            "`optypelist_for_implmode` needs `op_select_implmode`",
        ),
        (
            "enable_compress_weight",
            values.get("enable_compress_weight") and "compress_weight_conf" in values,
            True,
            "`enable_compress_weight` and `compress_weight_conf` exclude each other",
        ),
        (
            "dump_path",
            dumps and not values.get("dump_path"),
            True,
            "`{}` needs `dump_path`".format(dumps[0] if dumps else ""),
        ),
        (
            "enable_dump_debug",
            len(dumps) == 2,
            False,
            "`enable_dump` and `enable_dump_debug` exclude each other",
        ),
        (
            "dump_path",
            "dump_path" in values and not dumps,
            False,
            "`dump_path` has no effect: nothing is dumped",
        ),
    )
    for name, wrong, refused, message in rules:
        if wrong:
            yield Problem(name, refused, message)

"""The edits that give a manager of the NPU the numbers of TensorFlow's loss scale."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rules._loss_scale import DYNAMIC, is_manager


def dynamic_edits(call: Call, file: File) -> list[Edit] | None:
    """TensorFlow divides by its multiplier at each overflow; None where that is not plain."""
    names = {
        "initial_loss_scale": "init_loss_scale",
        "increment_period": "incr_every_n_steps",
        "multiplier": "incr_ratio",
    }
    if any(call.gives_twice(place, *pair) for place, pair in enumerate(names.items())):
        return None
    edits = renamed(call, names)
    added = []
    if call.argument(0, "initial_loss_scale") is None:
        added.append("init_loss_scale=2**15")
    if call.argument(1, "increment_period") is None:
        added.append("incr_every_n_steps=2000")
    multiplier = call.argument(2, "multiplier")
    if isinstance(multiplier, ast.Constant) and isinstance(multiplier.value, int | float):
        if not 1e-300 < multiplier.value < 1e300:
            return None
        ratio = repr(1 / multiplier.value)
    elif isinstance(multiplier, ast.Name | ast.Attribute):
        ratio = f"1.0 / {file.text(multiplier)}"
    elif multiplier is None:
        ratio = "0.5"
    else:
        return None
    if multiplier in call.node.args and isinstance(multiplier, ast.expr):
        edits.append(call.name_argument(multiplier, "incr_ratio"))
    added += ["decr_every_n_nan_or_inf=1", f"decr_ratio={ratio}"]
    return [*edits, call.add_keyword(", ".join(added))]


def manager_edits(
    call: Call, file: File, loss_scale: ast.expr | None
) -> tuple[list[Edit], tuple[str, ...], str] | None:
    """The edits that make the loss scale a manager, what they import, a keyword to add."""
    edits = renamed(call, {"loss_scale": "loss_scale_manager"})
    dynamic = ("ExponentialUpdateLossScaleManager",)
    if loss_scale is None:
        return edits, dynamic, f"loss_scale_manager={DYNAMIC}"
    if is_dynamic_word(loss_scale):
        return [*edits, call.replace_argument(loss_scale, DYNAMIC)], dynamic, ""
    if isinstance(loss_scale, ast.Constant) and isinstance(loss_scale.value, int | float):
        edits += wrap(file.source, loss_scale, "FixedLossScaleManager(loss_scale=", ")")
        return edits, ("FixedLossScaleManager",), ""
    return (edits, (), "") if is_manager(file, loss_scale) else None


def is_dynamic_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "dynamic"


def renamed(call: Call, names: dict[str, str]) -> list[Edit]:
    found = [(call.keyword(old), new) for old, new in names.items()]
    return [call.rename_keyword(one, new) for one, new in found if one is not None]

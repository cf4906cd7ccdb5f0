"""Stay on the NPU when Keras starts afresh.

`clear_session` throws away graph and session; the next session that Keras opens would be on the
host. `npu_clear_session` does the same and opens the next one on the NPU. With `--adapter patched`
every session is on the NPU, and nothing has to change.

    -K.clear_session()
    +npu_clear_session(config=None)

By hand: `clear_session` that is handed on and called elsewhere.
Not touched: unit tests, eager programs, files that train with Estimators only, and what other
libraries call `clear_session`.

Source: TF Adapter 1.15, npu_bridge/npu_init.py, `npu_clear_session`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.eager import is_eager
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_name
from trainferry.migrate.rules._distributed import imports_of
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._keras import runs_of_models

CONCERN = Concern.RUN

_ESTIMATORS = (
    *("tf.estimator.", "tf.keras.estimator.", "tf.contrib.tpu."),
    "npu_bridge.estimator.npu.npu_estimator.",
)
_NEW = "npu_clear_session(config=None)"


@on_name("tf.keras.backend.clear_session")
def keras_clear_session(spot: Spot, _name: str, file: File) -> Iterator[Finding]:
    if file.options.adapter == "patched" or is_in_test(file, spot.node) or is_eager(file):
        return
    if _has_only_estimators(file):
        return
    above = file.parent(spot.node)
    if isinstance(above, ast.Call) and above.func is spot.node:
        place = Spot(file.source, above)
        edit = Edit(*file.source.span(above), _NEW)
        message = "the session that Keras opens next is on the NPU as well"
        yield Finding(place, Outcome.CHANGED, message, (edit,), imports_of("npu_clear_session"))
    else:
        message = f"hand on `lambda: {_NEW}` instead, so that the next session is on the NPU"
        yield Finding(spot, Outcome.BY_HAND, message)


def _has_only_estimators(file: File) -> bool:
    """Whether models are trained by Estimators, which open their sessions without Keras."""
    has_estimators = any(name.startswith(_ESTIMATORS) for name in file.used)
    return has_estimators and next(runs_of_models(file), None) is None

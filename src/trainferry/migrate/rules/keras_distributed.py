"""Train a Keras model on several NPUs.

Optimizers that are objects are wrapped where they are made, by another rule; one that is given to
`compile` by its name is made there and wrapped. All devices begin with the weights of the first,
which a callback sends around when training starts.

    -model.compile('adam', loss='mse')
    -model.fit(data, epochs=5)
    +model.compile(npu_distributed_optimizer_wrapper(tf.keras.optimizers.get('adam')), loss='mse')
    +model.fit(data, epochs=5, callbacks=[NPUBroadcastGlobalVariablesCallback(0)])

By hand: hidden arguments, and `train_on_batch`, which has no
callbacks.
Not touched: projects that are not distributed, and projects with Horovod, which has its own rules.

Source: Ascend TF Adapter 1.x migration guide, distributed training with Keras; TF Adapter 1.15,
npu_bridge/estimator/npu/npu_callbacks.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._distributed import (
    WRAPPER,
    imports_of,
    is_made_parallel,
    put_first,
)
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.DISTRIBUTED

_CALLBACK = "NPUBroadcastGlobalVariablesCallback"
_NEW = f"{_CALLBACK}(0)"
_PLACES = {"fit": 5, "fit_generator": 4}
_DONE = (_CALLBACK, "npu_callbacks_append")


@on_call("tf.keras.Model.compile")
def optimizer_by_name(call: Call, file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project) or is_in_test(file, call.node):
        return
    given = call.argument(0, "optimizer")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        edits = wrap(file.source, given, f"{WRAPPER}(tf.keras.optimizers.get(", "))")
        imports = ("import tensorflow as tf", *imports_of(WRAPPER))
        message = "gradients are averaged over all devices; on one device nothing changes"
        yield Finding(call, Outcome.CHANGED, message, edits, imports)
    elif call.has_star_arguments and given is None:
        message = f"see to it that the optimizer is passed as `{WRAPPER}(optimizer)`"
        yield Finding(call, Outcome.BY_HAND, message)


@on_call("tf.keras.Model.fit", "tf.keras.Model.fit_generator", "tf.keras.Model.train_on_batch")
def same_weights(call: Call, file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project) or is_in_test(file, call.node):
        return
    method = call.name.rpartition(".")[2]
    if method not in _PLACES:
        yield from _without_callbacks(call, file)
        return
    given = call.argument(_PLACES[method], "callbacks")
    if given is not None and any(name in file.text(given) for name in _DONE):
        return
    if given is None and call.has_star_arguments:
        message = f"pass `callbacks=[{_NEW}] + ...`: all devices begin with the same weights"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    if given is None:
        edits: tuple[Edit, ...] = (call.add_keyword(f"callbacks=[{_NEW}]"),)
    else:
        edits = put_first(call, given, _NEW)
    message = "all devices begin with the weights of the first"
    yield Finding(call, Outcome.CHANGED, message, edits, imports_of(_CALLBACK))


def _without_callbacks(call: Call, file: File) -> Iterator[Finding]:
    """Told once per file: such a loop has several of these calls."""
    calls = file.method_calls("train_on_batch")
    if call.node is calls[0].node and "hccl_ops" not in file.source.data.decode("latin-1"):
        message = (
            "before the first batch give all devices the same weights: run `tf.group(["
            "tf.assign(v, hccl_ops.broadcast([v], 0)[0]) for v in tf.global_variables()])` "
            "in the session of Keras"
        )
        yield Finding(call, Outcome.BY_HAND, message)

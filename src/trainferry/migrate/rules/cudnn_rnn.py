"""Replace recurrent layers that exist for NVIDIA GPUs only.

`CuDNNLSTM` and `CuDNNGRU` of Keras become `LSTM` and `GRU` with the settings that make them
the same mathematics. They keep their weights in another shape: HDF5 files of Keras are converted
when they are loaded, checkpoints of TensorFlow are not.

    -net = tf.keras.layers.CuDNNLSTM(128, return_sequences=True)(net)
    +net = tf.keras.layers.LSTM(128, return_sequences=True, recurrent_activation='sigmoid')(net)

By hand: `tf.contrib.cudnn_rnn`, which stacks layers and directions in one object; calls with
more than the number of units by place or with `**options`; uses that are no calls.

Source: Ascend TF Adapter 1.x migration guide, APIs that are not supported; TensorFlow 1.15,
keras/layers/cudnn_recurrent.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_name

CONCERN = Concern.RUN

_SETTINGS = {
    "LSTM": "recurrent_activation='sigmoid'",
    "GRU": "recurrent_activation='sigmoid', reset_after=True",
}
_KERAS = tuple(f"{home}.layers.CuDNN{kind}" for home in ("tf.keras", "keras") for kind in _SETTINGS)
_LAYERS = ("CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu")
_STILL_FINE = ("CudnnCompatibleLSTMCell", "CudnnCompatibleGRUCell")


@on_call(*_KERAS)
def keras_layer(call: Call, _file: File) -> Iterator[Finding]:
    kind = call.name.rpartition("CuDNN")[2]
    known = f"`{kind}(..., {_SETTINGS[kind]})`"
    if call.has_star_arguments or len(call.node.args) > 1:
        yield Finding(call, Outcome.BY_HAND, f"exists for GPUs only: write {known}")
        return
    function, imports = _replacement(call, kind)
    yield Finding(
        call,
        Outcome.CHECK,
        f"{known} is the same mathematics; checkpoints of the old layer do not fit",
        (function, call.add_keyword(_SETTINGS[kind])),
        imports=imports,
    )


@on_name(*_KERAS)
def keras_layer_as_value(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    above = file.parent(spot.node)
    if isinstance(above, ast.Call) and above.func is spot.node:
        return
    kind = name.rpartition("CuDNN")[2]
    message = f"exists for GPUs only: use `{kind}` with `{_SETTINGS[kind]}`"
    yield Finding(spot, Outcome.BY_HAND, message)


@on_call("tf.contrib.cudnn_rnn.*")
def contrib_layer(call: Call, file: File) -> Iterator[Finding]:
    if call.name.endswith(_STILL_FINE):
        return
    if not call.name.endswith(_LAYERS):
        message = "exists for GPUs only: take it away with the layer that it belongs to"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    text = "DynamicGRUV2" if "GRU" in call.name else "DynamicRNN"
    units = call.argument(1, "num_units")
    hidden = "num_units" if units is None else file.text(units)
    yield Finding(
        call,
        Outcome.BY_HAND,
        f"exists for GPUs only: build each layer and direction with `{text}({hidden}, tf.float32)` "
        "of `npu_bridge.estimator.npu.npu_dynamic_rnn`, or plain cells and `tf.nn.dynamic_rnn`",
    )


def _replacement(call: Call, kind: str) -> tuple[Edit, tuple[str, ...]]:
    function = call.node.func
    if isinstance(function, ast.Attribute) and function.attr == f"CuDNN{kind}":
        end = call.source.span(function)[1]
        return Edit(end - len(f"CuDNN{kind}"), end, kind), ()
    home = call.name.rpartition(".")[0]
    home = "tensorflow" + home.removeprefix("tf") if home.startswith("tf.") else home
    return call.replace_function(kind), (f"from {home} import {kind}",)

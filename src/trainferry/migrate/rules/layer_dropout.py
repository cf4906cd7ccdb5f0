"""Let the dropout layers use the dropout operator of the NPU.

Importing `npu_convert_dropout` puts the NPU's operator into the class behind
`tf.layers.dropout`, `tf.keras.layers.Dropout`, `slim.dropout` and their like, so no call has
to change. It draws other random numbers, so a migrated run cannot be compared with the original
value by value. The import is put once into each file that uses such a layer.

    +from npu_bridge.estimator.npu import npu_convert_dropout
     net = tf.layers.dropout(net, 0.2, training=is_training)

Not touched: `SpatialDropout1D` and others with a noise shape stay as they are even with the
import; dropout of Keras without TensorFlow is another class. Unit tests get no import.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_convert_dropout.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.imports import add_imports, taken_name
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._device_code import is_test

CONCERN = Concern.SPEED

IMPORT = "from npu_bridge.estimator.npu import npu_convert_dropout"
_LAYERS = frozenset(
    (
        "tf.layers.dropout",
        "tf.layers.Dropout",
        "tf.keras.layers.Dropout",
        "tf.contrib.layers.dropout",
        "tf.contrib.slim.dropout",
        "tf_slim.dropout",
        "tf_slim.layers.dropout",
    )
)


@on_file
def layer_dropout(file: File) -> Iterator[Finding]:
    first = next((node for node, name in file.uses if name in _LAYERS), None)
    edit = None if first is None else add_imports(file, (IMPORT,), (first,))
    if first is None or edit is None or is_test(file):
        return
    at = Spot(file.source, first)
    if taken_name(file, (IMPORT,), first):
        message = f"`npu_convert_dropout` is another thing in this file; write `{IMPORT}` elsewhere"
        yield Finding(at, Outcome.BY_HAND, message)
        return
    message = "dropout layers draw other random numbers on the NPU"
    yield Finding(at, Outcome.CHECK, message, (edit,))

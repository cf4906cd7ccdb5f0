"""Make zeros in the input pipeline without a variable.

`keras.backend.zeros` makes a variable, also inside a function that a dataset maps. The variable
lives on the host with the pipeline, its initialiser goes to the NPU with the model, and the
variable is never set. `tf.zeros` makes a plain tensor with the same values.

    -mask = K.zeros((10,))
    +mask = tf.zeros((10,))

By hand: calls with `*args` or `**options`, and those whose type is written as None.
Not touched: `zeros` outside of functions that a dataset of the same file calls.

Source: Ascend TF Adapter 1.x migration guide, restrictions of data preprocessing.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._dataflow import constant, functions_of_pipelines

CONCERN = Concern.RUN


@on_call("tf.keras.backend.zeros", "keras.backend.zeros")
def keras_zeros_in_input(call: Call, file: File) -> Iterator[Finding]:
    if functions_of_pipelines(file).isdisjoint(file.parents(call.node)):
        return
    dtype = call.argument(1, "dtype")
    if call.has_star_arguments or (dtype is not None and constant(dtype) is None):
        message = "write `tf.zeros(shape, dtype)`: this makes a variable inside the input pipeline"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    yield Finding(
        call,
        Outcome.CHANGED,
        "`K.zeros` makes a variable, which an input pipeline on the host cannot initialise",
        (call.replace_function("tf.zeros"),),
        imports=("import tensorflow as tf",),
    )

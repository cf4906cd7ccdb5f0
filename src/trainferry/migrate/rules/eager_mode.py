"""Leave eager mode: NPUs run graphs.

TensorFlow 1.15 runs eagerly only when asked to, and then nothing reaches the NPU, or the adapter
fails. A program that switches it on has to become one that builds a graph and runs it in a session
or an Estimator.

By hand: always; this rule only tells, and no other rule changes such a file before it builds
graphs. Programs for TensorFlow 2 are told as well: those that loop over a dataset in Python or use
names that 1.15 does not have. A switch that a condition can leave off, and a question for eager
mode, which a graph always answers with no, are told as untidy.
Not touched: unit tests; tapes and `tf.function`, which work in graphs too.

Source: Ascend TF Adapter 1.15 API list of 2026-07, `tf.enable_eager_execution` and its like.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.eager import SWITCHES, eager_sign, is_always, is_eager
from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file, on_name
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.RUN

_QUESTIONS = (
    "tf.executing_eagerly",
    "tf.contrib.eager.executing_eagerly",
    "tf.contrib.eager.in_eager_mode",
    "tensorflow.python.eager.context.executing_eagerly",
)
_FOR_FUNCTIONS = (
    "tf.config.experimental_run_functions_eagerly",
    "tf.config.run_functions_eagerly",
)
_ONLY_EAGER = tuple(
    f"tf.contrib.eager.{name}"
    for name in (
        *("EagerVariableStore", "Iterator", "Saver", "async_wait", "gradients_function"),
        *("implicit_gradients", "implicit_value_and_gradients", "value_and_gradients_function"),
    )
)


@on_name(*SWITCHES)
def switched_on(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    if is_in_test(file, spot.node):
        return
    short = name.rpartition(".")[2]
    if not is_always(file, spot.node):
        message = f"start the program so that it does not come here: `{short}` keeps it off the NPU"
        yield Finding(spot, Outcome.BY_HAND, message, concern=Concern.TIDY)
        return
    message = (
        f"remove `{short}`, build the model as a graph, train it in a `tf.Session` or an Estimator "
        "(NPUs run graphs only), and migrate again: nothing else was done in this file"
    )
    yield Finding(spot, Outcome.BY_HAND, message)


@on_file
def tensorflow_2(file: File) -> Iterator[Finding]:
    sign = None if any(name in SWITCHES for name in file.used) else eager_sign(file)
    if sign is not None and not is_in_test(file, sign):
        message = (
            f"`{file.text(sign)}` here wants eager mode or TensorFlow 2: write the program for "
            "graphs and TensorFlow 1.15, and migrate again: nothing else was done in this file"
        )
        yield Finding(Spot(file.source, sign), Outcome.BY_HAND, message)


@on_name(*_FOR_FUNCTIONS)
def functions_run_eagerly(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    if not is_in_test(file, spot.node):
        message = f"remove `{name.rpartition('.')[2]}`: NPUs run graphs only"
        yield Finding(spot, Outcome.BY_HAND, message)


@on_name(*_QUESTIONS)
def asked_for(spot: Spot, _name: str, file: File) -> Iterator[Finding]:
    above = next((one for one in file.parents(spot.node) if isinstance(one, ast.If | ast.IfExp)), 0)
    if above and not is_in_test(file, spot.node):
        message = "always False in graph mode: the branch for eager mode can go"
        yield Finding(spot, Outcome.BY_HAND, message, concern=Concern.TIDY)


@on_name(*_ONLY_EAGER)
def only_eager(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    if not is_eager(file) and not is_in_test(file, spot.node):
        message = f"`{name}` is for eager mode: build a graph and run it in a session"
        yield Finding(spot, Outcome.BY_HAND, message)

"""A place belongs to the part of training that uses it; names count where no call shows it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import PurePosixPath

import pytest

from tests.migrate.names_project import project_of, question
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.options import Options
from trainferry.migrate.phases import Phase, phase_of, phase_switch


def asked(text: str, path: str = "net.py", **others: str) -> tuple[File, ast.expr]:
    """The file and the `x` of its only `ask(x)`; TensorFlow is imported as tf."""
    files = {path: text, **{f"{name}.py": other for name, other in others.items()}}
    sources, names = project_of(
        {one: "import tensorflow as tf\n" + textwrap.dedent(code) for one, code in files.items()}
    )
    project = ProjectFiles(list(sources.values()), names, Options())
    file = project.file_of(sources[path])
    assert file.source.path == PurePosixPath(path)
    return file, question(file.source)


def phase_asked(text: str, path: str = "net.py", **others: str) -> Phase:
    return phase_of(*asked(text, path, **others))


INPUT = "def input_fn():\n    ask(dataset)\nestimator = tf.estimator.Estimator(f)\n"


@pytest.mark.parametrize(
    ("use", "phase"),
    [
        ("estimator.train(input_fn)", Phase.TRAIN),
        ("estimator.train(input_fn=lambda: input_fn())", Phase.TRAIN),
        ("estimator.evaluate(input_fn=input_fn)", Phase.EVALUATE),
        ("estimator.predict(input_fn)", Phase.PREDICT),
        ("spec = tf.estimator.TrainSpec(input_fn=input_fn)", Phase.TRAIN),
        ("spec = tf.estimator.EvalSpec(input_fn, steps=3)", Phase.EVALUATE),
        ("import functools\nf = functools.partial(input_fn)\nestimator.train(f)", Phase.TRAIN),
        ("other.train(input_fn=input_fn)", Phase.TRAIN),
        ("other.train(input_fn)", Phase.UNKNOWN),
        ("estimator.train(input_fn)\nestimator.evaluate(input_fn)", Phase.BOTH),
    ],
)
def test_a_function_belongs_to_who_it_is_handed_to(use: str, phase: Phase) -> None:
    assert phase_asked(INPUT + use) == phase


def test_what_a_model_is_fitted_to() -> None:
    text = """
        model = tf.keras.Sequential()
        def data():
            return ask(dataset)
        {}
        """
    assert phase_asked(text.format("model.fit(data())")) == Phase.TRAIN
    assert phase_asked(text.format("model.fit(x, validation_data=data())")) == Phase.EVALUATE
    assert phase_asked(text.format("d = data(); model.evaluate(d)")) == Phase.EVALUATE


def test_callers_are_followed_to_other_files() -> None:
    caller = """
        import net
        def make():
            return net.build()
        tf.estimator.Estimator(f).train(make)
        """
    assert phase_asked("def build():\n    ask(x)", main=caller) == Phase.TRAIN


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("if is_training:\n    ask(x)", Phase.TRAIN),
        ("if is_training:\n    pass\nelse:\n    ask(x)", Phase.EVALUATE),
        ("if not self.is_training:\n    ask(x)", Phase.EVALUATE),
        ("if training and n > 3:\n    ask(x)", Phase.TRAIN),
        ("if training and n > 3:\n    pass\nelse:\n    ask(x)", Phase.UNKNOWN),
        ("if mode == tf.estimator.ModeKeys.TRAIN:\n    ask(x)", Phase.TRAIN),
        ("if mode == tf.estimator.ModeKeys.PREDICT:\n    ask(x)", Phase.PREDICT),
        ("if split != 'train':\n    ask(x)", Phase.EVALUATE),
        ("y = ask(x) if is_training else 0", Phase.TRAIN),
        ("if is_ready:\n    ask(x)", Phase.UNKNOWN),
    ],
)
def test_a_branch_says_what_it_is_for(text: str, phase: Phase) -> None:
    assert phase_asked(text) == phase


@pytest.mark.parametrize(
    ("calls", "phase"),
    [
        ("data(True)", Phase.TRAIN),
        ("data(is_training=False)", Phase.EVALUATE),
        ("data(True)\ndata(False)", Phase.BOTH),
        ("data(flag)", Phase.BOTH),
        ("import functools\ng = functools.partial(data, is_training=True)", Phase.TRAIN),
        ("pass", Phase.BOTH),
    ],
)
def test_a_switch_says_which_parts_use_a_function(calls: str, phase: Phase) -> None:
    assert phase_asked(f"def data(is_training):\n    ask(x)\n{calls}") == phase


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("train_input_fn", Phase.TRAIN),
        ("evalInputFn", Phase.EVALUATE),
        ("test_step", Phase.EVALUATE),
        ("predict", Phase.PREDICT),
        ("train_and_eval", Phase.BOTH),
        ("constrain", Phase.UNKNOWN),
        ("latest", Phase.UNKNOWN),
    ],
)
def test_names_count_as_whole_words(name: str, phase: Phase) -> None:
    assert phase_asked(f"def {name}():\n    ask(x)") == phase


def test_the_name_of_the_file_counts_last() -> None:
    assert phase_asked("ask(x)", path="tools/eval.py") == Phase.EVALUATE
    assert phase_asked("def train():\n    ask(x)", path="tools/eval.py") == Phase.TRAIN


def test_calls_beat_names() -> None:
    text = """
        def train_input_fn():
            ask(x)
        tf.estimator.Estimator(f).evaluate(train_input_fn)
        """
    assert phase_asked(text) == Phase.EVALUATE


def test_functions_that_call_each_other_come_to_an_end() -> None:
    assert phase_asked("def a():\n    ask(x)\n    b()\ndef b():\n    a()") == Phase.UNKNOWN


@pytest.mark.parametrize(
    ("head", "switch"),
    [
        ("def f(is_training):", "is_training"),
        ("def f(x, *, training=True):", "training"),
        ("def f(train=False):", "train"),
        ("def f(train):", None),
        ("def f(is_eval):", "not is_eval"),
        ("def f(n):", None),
    ],
)
def test_the_switch_of_a_function(head: str, switch: str | None) -> None:
    assert phase_switch(*asked(f"{head}\n    ask(x)")) == switch


def test_a_comparison_of_the_function_is_a_switch() -> None:
    text = """
        def model_fn(features, labels, mode):
            train = mode == tf.estimator.ModeKeys.TRAIN
            def inner():
                ask(x)
        """
    assert phase_switch(*asked(text)) == "mode == tf.estimator.ModeKeys.TRAIN"

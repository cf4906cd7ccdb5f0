"""Training batches get one size; evaluation and prediction lose no sample."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_project,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.rounds import Told
from trainferry.migrate.rule import Concern, Outcome

RULE = "static_batch"

PROGRAM = """\
import tensorflow as tf

def train_input():
    dataset = tf.data.TFRecordDataset(files)
    return {made}

tf.estimator.Estimator(model_fn).train(train_input)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dataset.batch(32)", "dataset.batch(32, drop_remainder=True)"),
        ("dataset.batch(batch_size=32)", "dataset.batch(batch_size=32, drop_remainder=True)"),
        ("dataset.batch(32, False)", "dataset.batch(32, True)"),
        ("dataset.batch(32, drop_remainder=False)", "dataset.batch(32, drop_remainder=True)"),
        (
            "dataset.padded_batch(32, ([10], []), None, False)",
            "dataset.padded_batch(32, ([10], []), None, True)",
        ),
        (
            "dataset.apply(tf.data.experimental.map_and_batch(fn, 32))",
            "dataset.apply(tf.data.experimental.map_and_batch(fn, 32, drop_remainder=True))",
        ),
        (
            "dataset.apply(tf.contrib.data.map_and_batch(fn, 32, 4, False))",
            "dataset.apply(tf.contrib.data.map_and_batch(fn, 32, 4, True))",
        ),
    ],
)
def test_training_drops_the_last_batch(before: str, after: str) -> None:
    told = check_migrated(PROGRAM.format(made=before), PROGRAM.format(made=after), RULE)
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "steps",
    [
        "math.ceil(float(samples) / batch_size)",
        "samples // batch_size + 1",
        "int(samples / batch_size) + 1",
        "math.ceil(samples / (FLAGS.batch_size * 2))",
    ],
)
def test_steps_that_count_the_last_batch_are_told_with_the_edit(steps: str) -> None:
    before = PROGRAM.format(made="dataset.batch(flags.batch_size)")
    after = before.replace("size)", "size, drop_remainder=True)")
    flags = f"import math\nsteps = {steps}\n"
    (told,) = check_project(
        {"flags.py": flags, "train.py": f"import flags\n{before}"},
        {"train.py": f"import flags\n{after}"},
        RULE,
    )
    assert told.outcome is Outcome.CHECK
    assert f"`{steps}` in `flags.py` counts it: round down" in told.message


@pytest.mark.parametrize(
    "line",
    [
        "steps = samples // batch_size",
        "steps = math.ceil(samples / shards)",
        "eval_steps = math.ceil(samples / batch_size)",
        "steps = mine.ceil(samples / batch_size)",
        "last = batch_size + 1",
    ],
)
def test_other_counts_are_nothing_to_check(line: str) -> None:
    before = PROGRAM.format(made="dataset.batch(batch_size)")
    after = before.replace("size)", "size, drop_remainder=True)")
    head = f"import math\nimport mine\n{line}\n"
    told = check_migrated(head + before, head + after, RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_count_in_a_file_without_a_tie_is_nothing_to_check() -> None:
    before = PROGRAM.format(made="dataset.batch(batch_size)")
    after = before.replace("size)", "size, drop_remainder=True)")
    other = "import math\nsteps = math.ceil(samples / batch_size)\n"
    told = check_project({"a.py": before, "b.py": other}, {"a.py": after}, RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_chain_over_lines_keeps_its_comments() -> None:
    check_migrated(
        """\
        import tensorflow.compat.v1 as tf
        def train_input():
            return (tf.data.TFRecordDataset(files)  # all of them
                    .map(parse)
                    # full batches
                    .batch(
                        flags.batch_size,  # per device
                    ) \\
                    .prefetch(1))
        tf.estimator.Estimator(model_fn).train(train_input)
        """,
        """\
        import tensorflow.compat.v1 as tf
        def train_input():
            return (tf.data.TFRecordDataset(files)  # all of them
                    .map(parse)
                    # full batches
                    .batch(
                        flags.batch_size,  # per device
                        drop_remainder=True,
                    ) \\
                    .prefetch(1))
        tf.estimator.Estimator(model_fn).train(train_input)
        """,
        RULE,
    )


@pytest.mark.parametrize("phase", ["evaluate", "predict"])
def test_samples_of_evaluation_and_prediction_are_not_lost(phase: str) -> None:
    told = check_unchanged(
        f"""\
        import tensorflow as tf
        def some_input():
            return tf.data.TFRecordDataset(files).batch(_DECODE_BATCH_SIZE)
        tf.estimator.Estimator(model_fn).{phase}(some_input)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`.repeat().batch(_DECODE_BATCH_SIZE, drop_remainder=True)`" in told[0].message


def test_a_switch_decides_where_one_function_serves_both() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        def input_fn(is_training, batch_size):
            dataset = tf.data.TFRecordDataset(files)
            if is_training:
                dataset = dataset.shuffle(1000)
            return dataset.batch(batch_size)
        estimator = tf.estimator.Estimator(model_fn)
        estimator.train(lambda: input_fn(True, 32))
        estimator.evaluate(lambda: input_fn(False, 32))
        """,
        """\
        import tensorflow as tf
        def input_fn(is_training, batch_size):
            dataset = tf.data.TFRecordDataset(files)
            if is_training:
                dataset = dataset.shuffle(1000)
            return dataset.batch(batch_size, drop_remainder=is_training)
        estimator = tf.estimator.Estimator(model_fn)
        estimator.train(lambda: input_fn(True, 32))
        estimator.evaluate(lambda: input_fn(False, 32))
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


def test_the_switch_of_an_object_decides_too() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        class Input:
            def read(self):
                dataset = tf.data.TFRecordDataset(self.files)
                if self.is_training:
                    return dataset.shuffle(9).batch(8)
                return dataset.repeat(1 if self.is_training else 2).batch(8, False)
        """,
        """\
        import tensorflow as tf
        class Input:
            def read(self):
                dataset = tf.data.TFRecordDataset(self.files)
                if self.is_training:
                    return dataset.shuffle(9).batch(8, drop_remainder=True)
                return dataset.repeat(1 if self.is_training else 2).batch(8, self.is_training)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED, Outcome.CHECK]


def test_what_only_the_name_of_a_file_says_is_to_be_checked() -> None:
    before = "import tensorflow as tf\ndata = tf.data.TFRecordDataset(files).batch({})\n"
    after = {"train.py": before.format("8, drop_remainder=True")}
    told = check_project({"train.py": before.format("8")}, after, RULE)
    assert outcomes(told) == [Outcome.CHECK]


def test_endless_data_has_no_remainder_whatever_it_feeds() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        def some_input(files, n):
            dataset = tf.data.TFRecordDataset(files)
            dataset = dataset.repeat()
            dataset = dataset.map(parse).prefetch(1)
            return dataset.batch(n)
        """,
        """\
        import tensorflow as tf
        def some_input(files, n):
            dataset = tf.data.TFRecordDataset(files)
            dataset = dataset.repeat()
            dataset = dataset.map(parse).prefetch(1)
            return dataset.batch(n, drop_remainder=True)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "repeated",
    [
        "dataset = dataset.repeat(epochs)",
        "dataset = dataset.repeat().take(100)",
        "if again:\n        dataset = dataset.repeat()",
        "dataset = dataset.repeat()\n    for part in parts:\n        dataset = part",
    ],
)
def test_data_that_may_end_is_left_where_it_is_not_known_what_it_feeds(repeated: str) -> None:
    told = check_unchanged(
        f"""\
import tensorflow as tf
def some_input(files, again, epochs):
    dataset = tf.data.TFRecordDataset(files)
    {repeated}
    return dataset.batch(32)
""",
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


def test_batches_of_one_sample_have_no_remainder() -> None:
    check_migrated(
        "import tensorflow as tf\ndata = tf.data.Dataset.range(9).batch(1)\n",
        "import tensorflow as tf\ndata = tf.data.Dataset.range(9).batch(1, drop_remainder=True)\n",
        RULE,
    )


SHARED = """\
import tensorflow as tf

def train_input():
    return tf.data.TFRecordDataset(files).batch(32)

train = train_input()
other = {other}
iterator = {iterator}
tf.estimator.Estimator(model_fn).train(train_input)
"""
STRUCTURE = "tf.data.Iterator.from_structure(train.output_types, train.output_shapes)"
HANDLE = (
    "tf.compat.v1.data.Iterator.from_string_handle(handle, types,"
    " tf.compat.v1.data.get_output_shapes(train))"
)
OPEN = "tf.data.Iterator.from_structure(types, ([None, 32, 32, 3], [None]))"
ONE = "tf.data.TFRecordDataset(tests).batch(1)"


@pytest.mark.parametrize("iterator", [STRUCTURE, HANDLE])
def test_one_sample_stays_open_where_its_iterator_serves_other_sizes(iterator: str) -> None:
    before = SHARED.format(other=ONE, iterator=iterator)
    after = before.replace("batch(32)", "batch(32, drop_remainder=True)")
    assert outcomes(check_migrated(before, after, RULE)) == [Outcome.CHANGED]


@pytest.mark.parametrize("iterator", [OPEN, "train.make_one_shot_iterator()"])
def test_other_iterators_take_any_size(iterator: str) -> None:
    before = SHARED.format(other=ONE, iterator=iterator)
    after = before.replace("batch(32)", "batch(32, drop_remainder=True)")
    after = after.replace("batch(1)", "batch(1, drop_remainder=True)")
    assert outcomes(check_migrated(before, after, RULE)) == [Outcome.CHANGED] * 2


def test_two_fixed_sizes_for_one_iterator_are_told() -> None:
    other = "tf.data.TFRecordDataset(tests).repeat().batch(50)"
    told = check_unchanged(SHARED.format(other=other, iterator=STRUCTURE), RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 2
    assert "`50`" in told[0].message
    assert "`32`" in told[1].message


def test_a_size_that_is_fixed_already_keeps_others_of_its_iterator_open() -> None:
    other = "tf.data.TFRecordDataset(tests).batch(1, drop_remainder=True)"
    told = check_unchanged(SHARED.format(other=other, iterator=STRUCTURE), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`1`" in told[0].message


def test_how_to_fill_a_batch_of_evaluation_minds_its_iterator() -> None:
    files = {
        "inputs.py": SHARED.format(
            other="None",
            iterator=STRUCTURE + "\n"
            "def evaluation_input():\n"
            "    return tf.data.TFRecordDataset(tests).batch(50)\n"
            "tf.estimator.Estimator(model_fn).evaluate(evaluation_input)",
        )
    }
    told = findings(migrate(files, RULE))
    assert [one.outcome for one in told] == [Outcome.CHANGED, Outcome.BY_HAND]
    assert "its iterator serves batches of `32` too" in told[1].message


def test_the_value_of_the_user_is_not_overwritten() -> None:
    made = "dataset.batch(batch_size, drop_remainder=drop)"
    told = check_unchanged(PROGRAM.format(made=made), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`drop`" in told[0].message


@pytest.mark.parametrize(
    "drop", ["True", "is_training", "mode == tf.estimator.ModeKeys.TRAIN", "self.training"]
)
def test_what_is_right_already_is_not_told(drop: str) -> None:
    made = f"dataset.batch(32, drop_remainder={drop})"
    assert check_unchanged(PROGRAM.format(made=made), RULE) == []


def test_hidden_arguments_are_left_to_the_user() -> None:
    told = check_unchanged(PROGRAM.format(made="dataset.batch(*arguments)"), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_the_helper_of_another_file_is_followed() -> None:
    files = {
        "data.py": """\
            import tensorflow as tf
            def read(files):
                return tf.data.TFRecordDataset(files).shuffle(100)
            """,
        "train.py": """\
            import tensorflow as tf
            from data import read
            def train_input():
                return read(files).batch(8)
            tf.estimator.Estimator(model_fn).train(train_input)
            """,
    }
    after = {"train.py": files["train.py"].replace("batch(8)", "batch(8, drop_remainder=True)")}
    assert outcomes(check_project(files, after, RULE)) == [Outcome.CHANGED]


def test_what_looks_like_a_dataset_is_told() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        names = tf.data.Dataset.list_files(pattern)
        def train(my_dataset, loader):
            loader.batch(10)
            return my_dataset.shuffle(9).batch(8)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nloader.batch(10)\n",
        "from tensorflow import train\nimages = train.batch([image], 32)\n",
        "import tensorflow as tf\nimages = tf.train.batch([image], 32)\n",
        "from mylib import tf\ndata = tf.data.TFRecordDataset(files).batch(32)\n",
        "class Dataset:\n    def batch(self, n): ...\nDataset().batch(3)\n",
    ],
)
def test_batches_of_other_things_are_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_unit_tests_keep_their_batches() -> None:
    text = (
        "import tensorflow as tf\nclass NetTest(tf.test.TestCase):\n    def test(self):\n"
        "        tf.data.Dataset.range(9).repeat().batch(1)\n"
    )
    assert check_unchanged(text, RULE) == []


BUILDER = """\
import tensorflow as tf

def builder(files, is_training, drop_remainder{default}):
    def input_fn(params):
        data = tf.data.TFRecordDataset(files)
        if is_training:
            data = data.repeat()
        return data.batch(params["batch_size"], drop_remainder=drop_remainder)
    return input_fn

def main():
    estimator = tf.estimator.Estimator(model_fn)
"""


def test_a_parameter_that_is_true_in_training_is_settled() -> None:
    text = BUILDER.format(default="") + (
        "    fed = builder(a, is_training=True, drop_remainder=True)\n"
        "    estimator.train(input_fn=fed)\n"
    )
    assert check_unchanged(text, RULE) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("builder(a, True, False)", "builder(a, True, True)"),
        ("builder(a, True, drop_remainder=False)", "builder(a, True, drop_remainder=True)"),
        ("builder(a, is_training=True)", "builder(a, is_training=True, drop_remainder=True)"),
    ],
)
def test_what_a_training_call_hands_down_is_changed_at_the_call(before: str, after: str) -> None:
    program = BUILDER.format(default="=False") + "    estimator.train(input_fn={})\n"
    told = check_migrated(program.replace("{}", before), program.replace("{}", after), RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_what_an_evaluating_call_hands_down_is_told_at_the_call() -> None:
    text = BUILDER.format(default="") + (
        "    fed = builder(a, is_training=True, drop_remainder=True)\n"
        "    estimator.train(input_fn=fed)\n"
        "    for_eval = builder(b, is_training=False, drop_remainder=False)\n"
        "    estimator.evaluate(input_fn=for_eval)\n"
        "    on_tpu = True if flags.use_tpu else False\n"
        "    estimator.predict(input_fn=builder(c, False, on_tpu))\n"
    )
    (told,) = check_unchanged(text, RULE)
    assert text[told.start :].startswith("builder(b")
    assert "last samples of evaluation" in told.message
    assert told.finding.concern is Concern.SPEED


def test_a_variable_that_is_handed_down_is_not_changed() -> None:
    text = BUILDER.format(default="") + (
        "    drop = False\n    estimator.train(input_fn=builder(a, True, drop))\n"
    )
    (told,) = check_unchanged(text, RULE)
    assert "see that `drop_remainder` is True" in told.message


def test_a_parameter_is_followed_through_functions_and_files() -> None:
    train = """\
import tensorflow as tf
import data

def feed(drop):
    return data.builder(files, True, drop)

tf.estimator.Estimator(model_fn).train(input_fn=feed({}))
"""
    builder = BUILDER.format(default="").replace("    estimator = ", "    return ")
    files = {"data.py": builder, "train.py": train.format("False")}
    told = check_project(files, {"train.py": train.format("True")}, RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_builder_that_nobody_calls_stops_no_run() -> None:
    (told,) = check_unchanged(BUILDER.format(default=""), RULE)
    assert told.finding.concern is Concern.SPEED
    assert "pass `drop_remainder=True` to `builder`" in told.message


def test_a_parameter_that_is_set_again_is_not_followed() -> None:
    text = BUILDER.format(default="").replace(
        "    def input_fn", "    drop_remainder = drop_remainder or more\n    def input_fn"
    )
    text += "    estimator.train(input_fn=builder(a, True, False))\n"
    (told,) = check_unchanged(text, RULE)
    assert "see that `drop_remainder` is True" in told.message


ENDLESS = """\
import tensorflow as tf

def records(files, subset):
    data = tf.data.TFRecordDataset(files){first}
    if subset == "large":
        data = data.shuffle(1000)
    elif subset == "small":
        data = data{second}
    return data.batch(32{drop})
"""


def test_data_stays_endless_through_branches() -> None:
    branches = {"first": ".repeat()", "second": ".map(parse)"}
    after = ENDLESS.format(**branches, drop=", drop_remainder=True")
    told = check_migrated(ENDLESS.format(**branches, drop=""), after, RULE)
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(("first", "second"), [("", ".repeat()"), (".repeat()", ".take(5)")])
def test_data_that_ends_in_one_branch_may_end(first: str, second: str) -> None:
    told = check_unchanged(ENDLESS.format(first=first, second=second, drop=""), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


INPUT = """\
import tensorflow as tf

def train_input(files):
    return tf.data.TFRecordDataset(files).batch({size})
"""
MODEL = """\
import tensorflow as tf
{start}
def model(images, expected, other):
    {text}
    return tf.layers.dense(images, 10)
"""
PROGRAM_OF_BOTH = """\
import tensorflow as tf
import inputs
import network

tf.estimator.Estimator(network.model).train(inputs.train_input)
"""


def told_of_model(text: str, start: str = "", size: str = "32") -> list[Told]:
    """What is told of a network that is imported beside the input pipeline."""
    files = {
        "inputs.py": INPUT.format(size=size),
        "network.py": MODEL.format(text=text, start=start),
        "train.py": PROGRAM_OF_BOTH,
    }
    return [one for one in findings(migrate(files, RULE)) if str(one.path) == "network.py"]


@pytest.mark.parametrize(
    "text",
    [
        "assert images.get_shape().as_list() == [None, 64, 3]",
        "assert [None, 64, 3] == images.shape.as_list(), 'wrong'",
        "assert other and images.shape.as_list()[:2] == [None, 64]",
        "assert tuple(images.shape.as_list()) == (None, 64, 3)",
        "assert tf.keras.backend.int_shape(images) == (None, 64, 3)",
        "assert images.shape.as_list()[0] is None",
        "assert images.shape[0].value is None",
        "assert tf.compat.v1.dimension_value(images.shape[0]) is None",
        "shape = images.get_shape()\n    assert shape.as_list() == [None, 64, 3]",
        "sizes = images.shape.as_list()\n    assert not sizes != [None, 64, 3]",
        "wanted = [None, 64, 3]\n    assert images.shape.as_list() == wanted",
        "if images.shape.as_list() != [None, 64]:\n        raise ValueError(images)",
        "other.assert_has_shape(images, [None, 64, 3])",
    ],
)
def test_a_check_for_an_open_batch_is_told_where_it_stops_the_run(text: str) -> None:
    (told,) = told_of_model(text)
    assert told.outcome is Outcome.BY_HAND
    assert told.finding.concern is Concern.RUN
    assert "batches of `inputs.py` become, the first size is `32` now, not None" in told.message


def test_the_sizes_to_compare_are_told() -> None:
    (told,) = told_of_model("assert images.shape.as_list() == [None, 64]", size="params.size")
    assert told.message.endswith("compare `images.shape.as_list()[1:]`")
    assert "is `params.size` now" in told.message


@pytest.mark.parametrize(
    "text",
    [
        "if images.shape.as_list() == [None, 64]:\n        images = other(images)",
        "if images.shape[0].value is not None:\n        images = other(images)",
        "assert other or images.shape.as_list() == [None, 64]",
    ],
)
def test_a_comparison_that_stops_nothing_is_worth_knowing(text: str) -> None:
    (told,) = told_of_model(text)
    assert told.finding.concern is Concern.TIDY


@pytest.mark.parametrize(
    "text",
    [
        "assert images.shape.as_list()[1:] == [64, 64, 3]",
        "assert images.shape.as_list()[1:] == [None, 3]",
        "assert images.shape.as_list() == [32, 64]",
        "images.shape.assert_is_compatible_with([None, 64])",
        "assert images.shape[0] is None  # a Dimension, never None",
        "assert images.shape == [None, 64]  # false in TensorFlow 1.15 for an open shape, too",
        "n = 3 if images.shape[0].value is not None else tf.shape(images)[0]",
        "x = tf.placeholder(tf.float32, [None, 3])\n    assert x.shape.as_list() == [None, 3]",
        "x = tf.compat.v1.placeholder(tf.int32, [None])\n    assert x.shape[0].value is None",
        "assert expected == [None, 64]",
    ],
)
def test_what_comes_out_as_before_is_not_told(text: str) -> None:
    assert told_of_model(text) == []


def test_names_that_are_made_of_each_other_are_not_followed_for_ever() -> None:
    assert told_of_model("assert a == [None, 3]", start="a = list(b)\nb = list(a)") == []


def test_batches_that_were_full_before_break_no_check() -> None:
    check = "assert images.shape.as_list() == [None, 64]"
    assert told_of_model(check, size="32, drop_remainder=True") == []


def test_a_check_inside_the_pipeline_is_about_one_sample() -> None:
    text = """\
    import tensorflow as tf

    def parse(image):
        assert image.shape.as_list() == [None, None, 3]
        return image

    def train_input():
        return tf.data.TFRecordDataset(files).map(parse).batch(32{drop})

    tf.estimator.Estimator(model_fn).train(train_input)
    """
    before, after = text.format(drop=""), text.format(drop=", drop_remainder=True")
    assert outcomes(check_migrated(before, after, RULE)) == [Outcome.CHANGED]


def test_a_check_in_a_file_that_no_changed_batch_reaches_is_not_told() -> None:
    check = MODEL.format(text="assert images.shape.as_list() == [None, 3]", start="")
    program = PROGRAM_OF_BOTH.replace("import network\n", "").replace("network.model", "model")
    files = {"inputs.py": INPUT.format(size=32), "other/network.py": check, "train.py": program}
    told = findings(migrate(files, RULE))
    assert [str(one.path) for one in told] == ["inputs.py"]


def test_shapes_of_another_library_are_not_ours() -> None:
    assert check_unchanged("assert x.shape.as_list() == [None, 3]\n", RULE) == []

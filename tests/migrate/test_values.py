"""The class of a value is known when all that can reach a place agrees, and only then."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

import pytest

from tests.migrate.names_project import project_of, question
from trainferry.migrate.read import Source
from trainferry.migrate.values import CLASSES, Values

DATASET = "tf.data.Dataset"
SESSION = "tf.Session"


def class_asked(text: str, others: Mapping[str, str] | None = None) -> str | None:
    """The class of `x` in the only `ask(x)`; TensorFlow is imported as tf."""
    values, source = followed(text, others)
    return values.class_of(source, question(source))


def followed(text: str, others: Mapping[str, str] | None = None) -> tuple[Values, Source]:
    files = {"net.py": text, **(others or {})}
    with_import = {
        path: "import tensorflow as tf\n" + textwrap.dedent(code) for path, code in files.items()
    }
    sources, names = project_of(with_import)
    return Values(list(sources.values()), names), sources["net.py"]


@pytest.mark.parametrize(
    ("expression", "family"),
    [
        ("tf.data.TFRecordDataset(files)", DATASET),
        ("tf.data.TextLineDataset(files).map(f).apply(g).batch(8)", DATASET),
        ("tf.data.Dataset.zip((a, b))", DATASET),
        ("tf.data.experimental.make_csv_dataset(files, 8)", DATASET),
        ("tf.contrib.data.Dataset.from_tensors(1)", DATASET),
        ("tf.data.Dataset.range(3).make_one_shot_iterator()", "tf.data.Iterator"),
        ("tf.compat.v1.Session()", SESSION),
        ("tf.InteractiveSession()", SESSION),
        ("tf.get_default_session()", SESSION),
        ("tf.keras.backend.get_session()", SESSION),
        ("tf.train.MonitoredTrainingSession()", "tf.train.MonitoredSession"),
        ("tf.train.Supervisor().managed_session()", SESSION),
        ("tf.ConfigProto().gpu_options", "tf.GPUOptions"),
        ("tf.ConfigProto().graph_options.optimizer_options", "tf.OptimizerOptions"),
        (
            "tf.ConfigProto().graph_options.rewrite_options",
            "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig",
        ),
        ("tf.Session().graph", "tf.Graph"),
        ("tf.get_default_graph()", "tf.Graph"),
        ("tf.train.AdamOptimizer(1e-3)", "tf.train.Optimizer"),
        ("tf.contrib.opt.LARSOptimizer(1e-3)", "tf.train.Optimizer"),
        ("tf.keras.optimizers.SGD()", "tf.keras.optimizers.Optimizer"),
        ("tf.train.Saver()", "tf.train.Saver"),
        ("tf.estimator.DNNClassifier([8], [])", "tf.estimator.Estimator"),
        ("tf.contrib.tpu.TPUEstimator(f)", "tf.estimator.Estimator"),
        ("tf.keras.estimator.model_to_estimator(m)", "tf.estimator.Estimator"),
        ("tf.contrib.tpu.RunConfig().replace(model_dir='a')", "tf.estimator.RunConfig"),
        ("tf.estimator.TrainSpec(f)", "tf.estimator.TrainSpec"),
        ("tf.keras.applications.ResNet50()", "tf.keras.Model"),
        ("tf.keras.models.load_model('m')", "tf.keras.Model"),
        ("tf.distribute.MirroredStrategy()", "tf.distribute.Strategy"),
        ("tf.contrib.distribute.CollectiveAllReduceStrategy()", "tf.distribute.Strategy"),
        ("tf.summary.FileWriter('log')", "tf.summary.FileWriter"),
    ],
)
def test_what_tensorflow_gives(expression: str, family: str) -> None:
    assert class_asked(f"ask({expression})") == family
    assert family in CLASSES


def test_keras_alone_has_its_own_classes() -> None:
    assert class_asked("import keras\nask(keras.models.Sequential())") == "keras.Model"


def test_names_from_inside_tensorflow() -> None:
    text = "from tensorflow.python.client import session\nask(session.Session())"
    assert class_asked(text) == SESSION
    text = "from tensorflow.python.data.ops import dataset_ops\nask(dataset_ops.Dataset.range(3))"
    assert class_asked(text) == DATASET


def test_the_adapter_gives_the_same_classes() -> None:
    star = "from npu_bridge.npu_init import *\n"
    assert class_asked(star + "ask(npu_config_proto(config_proto=c))") == "tf.ConfigProto"
    assert class_asked(star + "ask(NPURunConfig())") == "tf.estimator.RunConfig"
    text = star + "ask(npu_tf_optimizer(tf.train.AdamOptimizer()))"
    assert class_asked(text) == "tf.train.Optimizer"


def test_a_wrapped_optimizer_is_what_it_wraps() -> None:
    horovod = "import horovod.tensorflow as hvd\n"
    known = "opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer())\nask(opt)"
    assert class_asked(horovod + known) == "tf.train.Optimizer"
    assert class_asked(horovod + "ask(hvd.DistributedOptimizer(given))") is None


def test_a_method_that_gives_something_else_is_not_known() -> None:
    assert class_asked("ask(tf.data.Dataset.range(3).reduce(0, f))") is None


def test_a_library_that_is_not_known() -> None:
    assert class_asked("import other\nask(other.Dataset())") is None


# Names in a scope.


def test_the_last_assignment_before_the_use_wins() -> None:
    text = """
        x = tf.data.Dataset.range(3)
        x = x.make_one_shot_iterator()
        ask(x)
        x = tf.Session()
        """
    assert class_asked(text) == "tf.data.Iterator"


def test_branches_that_agree() -> None:
    text = """
        def f(files, shuffle):
            if files:
                dataset = tf.data.TFRecordDataset(files)
            elif shuffle:
                dataset = tf.data.Dataset.range(3)
            else:
                raise ValueError
            if shuffle:
                dataset = dataset.shuffle(8)
            ask(dataset)
        """
    assert class_asked(text) == DATASET


def test_branches_that_differ() -> None:
    text = """
        if a:
            x = tf.data.Dataset.range(3)
        else:
            x = [1]
        ask(x)
        """
    assert class_asked(text) is None


def test_the_other_branch_does_not_matter() -> None:
    text = """
        if a:
            x = [1]
        else:
            x = tf.data.Dataset.range(3)
            ask(x)
        """
    assert class_asked(text) == DATASET


def test_all_branches_hide_what_was_before() -> None:
    text = """
        x = [1]
        if a:
            x = tf.data.Dataset.range(3)
        else:
            x = tf.data.Dataset.range(4)
        ask(x)
        """
    assert class_asked(text) == DATASET


def test_a_loop_that_keeps_the_class() -> None:
    text = """
        dataset = tf.data.Dataset.range(3)
        for f in functions:
            dataset = dataset.map(f)
        ask(dataset)
        """
    assert class_asked(text) == DATASET


def test_a_loop_that_changes_the_class() -> None:
    text = """
        x = tf.data.Dataset.range(3)
        while more:
            ask(x)
            x = x.make_one_shot_iterator()
        """
    assert class_asked(text) is None


def test_none_adds_nothing() -> None:
    text = """
        session = None
        if a:
            session = tf.Session()
        ask(session)
        """
    assert class_asked(text) == SESSION


@pytest.mark.parametrize(
    "text",
    [
        "a, (b, c) = 1, (2, tf.Session())\nask(c)",
        "ask(tf.Session() if a else tf.InteractiveSession())",
        "ask(given or tf.Session())".replace("given", "None"),
        "if (s := tf.Session()):\n    ask(s)",
        "with tf.Session() as s, s.as_default():\n    ask(s)",
        "with tf.Graph().as_default() as g, tf.Session(graph=g) as s:\n    ask(s)",
        "import contextlib\nwith contextlib.closing(tf.Session()) as s:\n    ask(s)",
        "for s in [tf.Session(), tf.Session()]:\n    ask(s)",
        "for i, s in enumerate((tf.Session(),)):\n    ask(s)",
        "[ask(s) for s in [tf.Session()]]",
        "all = []\nall.append(tf.Session())\nask(all[0])",
        "by_name = {'a': 1, 'b': tf.Session()}\nask(by_name['b'])",
        "try:\n    s = tf.Session()\nfinally:\n    pass\nask(s)",
        "f = lambda: tf.Session()\nask(f())",
    ],
)
def test_ways_to_give_a_session_a_name(text: str) -> None:
    assert class_asked(text) == SESSION


@pytest.mark.parametrize(
    "text",
    [
        "a, *b = tf.Session(), 1\nask(b)",
        "s = tf.Session()\ns += 1\nask(s)",
        "with open(f) as s:\n    ask(s)",
        "for s in [tf.Session(), 1]:\n    ask(s)",
        "for x in tf.data.Dataset.range(3):\n    ask(x)",
        "by_name = {'a': 1, 'b': tf.Session()}\nask(by_name[key])",
        "try:\n    s = tf.Session()\nexcept E:\n    s = 1\nask(s)",
        "ask(nothing)",
        "ask(tf.Session)",
        "s = s\nask(s)",
    ],
)
def test_what_stays_unknown(text: str) -> None:
    assert class_asked(text) is None


def test_a_global_is_seen_in_functions() -> None:
    text = """
        session = None
        def start():
            global session
            session = tf.Session()
        def use():
            ask(session)
        """
    assert class_asked(text) == SESSION


def test_a_function_sees_what_is_set_after_it() -> None:
    text = """
        def outer():
            x = tf.Session()
            def inner():
                ask(x)
            x = 1
        """
    assert class_asked(text) is None


# Classes.


def test_attributes_are_followed_across_methods_and_bases() -> None:
    text = """
        from base import Base
        class Net(Base):
            def run(self):
                ask(self.session)
        """
    base = """
        class Base:
            session = None
            def __init__(self):
                self.graph, self.session = 1, tf.Session()
        """
    assert class_asked(text, {"base.py": base}) == SESSION


def test_an_attribute_set_differently_in_a_class_below() -> None:
    text = """
        class Base:
            def __init__(self):
                self.x = tf.Session()
            def run(self):
                ask(self.x)
        class Net(Base):
            def build(self):
                self.x = 1
        """
    assert class_asked(text) is None


def test_an_attribute_set_from_outside() -> None:
    text = """
        class Net:
            def run(self):
                ask(self.session)
        net = Net()
        net.session = tf.Session()
        """
    assert class_asked(text) == SESSION


def test_a_class_of_the_project_is_what_it_is_made_from() -> None:
    text = """
        class Base(tf.keras.Model): pass
        class Net(Base): pass
        ask(Net())
        """
    assert class_asked(text) == "tf.keras.Model"


def test_a_method_of_the_project_hides_the_library_s() -> None:
    text = """
        class Data(tf.data.Dataset):
            def batch(self, n):
                return [n]
        ask(Data().batch(3))
        """
    assert class_asked(text) is None


def test_properties_and_methods_give_what_they_return() -> None:
    text = """
        class Net:
            @property
            def session(self):
                return self.make()
            @staticmethod
            def make():
                return tf.Session()
        ask(Net().session)
        """
    assert class_asked(text) == SESSION


def test_super_gives_what_the_base_has() -> None:
    text = """
        class Base:
            def make(self):
                return tf.Session()
        class Net(Base):
            def make(self):
                ask(super(Net, self).make())
                return 1
        """
    assert class_asked(text) == SESSION


def test_a_session_of_a_test() -> None:
    text = """
        class NetTest(tf.test.TestCase):
            def test_it(self):
                with self.test_session() as sess:
                    ask(sess)
        """
    assert class_asked(text) == SESSION


def test_a_hook_is_given_a_session() -> None:
    text = """
        class Hook(tf.train.SessionRunHook):
            def before_run(self, run_context):
                ask(run_context.session)
        """
    assert class_asked(text) == SESSION


# Functions.


def test_what_a_function_returns() -> None:
    text = """
        def build(n):
            if n == 0:
                return None, None
            if n == 1:
                return build(0)
            return n, tf.data.Dataset.range(n)
        _, dataset = build(3)
        ask(dataset)
        """
    assert class_asked(text) == DATASET


def test_returns_that_differ() -> None:
    text = """
        def build(n):
            return tf.Session() if n else 0
        ask(build(3))
        """
    assert class_asked(text) is None


def test_a_context_manager_gives_what_it_yields() -> None:
    text = """
        import contextlib
        @contextlib.contextmanager
        def session():
            with tf.Session() as s:
                yield s
        with session() as s:
            ask(s)
        """
    assert class_asked(text) == SESSION


def test_a_decorator_that_is_not_known_may_change_everything() -> None:
    text = """
        @wrapped
        def build():
            return tf.Session()
        ask(build())
        """
    assert class_asked(text) is None


def test_a_generator_is_not_what_it_returns() -> None:
    text = """
        def build():
            yield 1
            return tf.Session()
        ask(build())
        """
    assert class_asked(text) is None


def test_a_parameter_is_what_all_callers_give() -> None:
    text = """
        def process(is_training, dataset, *, n=1):
            ask(dataset)
        """
    caller = """
        import net
        from net import process as p
        class Input:
            def make(self):
                net.process(True, tf.data.Dataset.range(3))
                p(True, dataset=tf.data.TFRecordDataset('a'), n=2)
        """
    assert class_asked(text, {"main.py": caller}) == DATASET


@pytest.mark.parametrize(
    "calls",
    [
        "pass",
        "process([1])",
        "process(tf.data.Dataset.range(3))\nprocess([1])",
        "process(*arguments)",
        "process(tf.data.Dataset.range(3))\nrun(process)",
    ],
)
def test_parameters_that_stay_unknown(calls: str) -> None:
    assert class_asked(f"def process(dataset):\n    ask(dataset)\n{calls}") is None


def test_a_default_counts_where_nothing_is_given() -> None:
    text = "def f(s={}):\n    ask(s)\nf()\nf(tf.Session())"
    assert class_asked(text.format("tf.Session()")) == SESSION
    assert class_asked(text.format("None")) == SESSION
    assert class_asked(text.format("1")) is None


@pytest.mark.parametrize(
    "annotation", ["tf.data.Dataset", "'tf.data.Dataset'", "tf.data.Dataset | None"]
)
def test_an_annotation_is_believed(annotation: str) -> None:
    assert class_asked(f"def f(dataset: {annotation}):\n    ask(dataset)") == DATASET


def test_self_is_no_argument() -> None:
    text = """
        class Net:
            def __init__(self, session, n):
                self.session = session
            def run(self, session):
                ask(session)
            def go(self):
                self.run(self.session)
        Net(tf.Session(), 1)
        """
    assert class_asked(text) == SESSION


def test_a_partial_gives_arguments() -> None:
    text = """
        import functools
        def run(session, n):
            ask(session)
        job = functools.partial(run, tf.Session())
        """
    assert class_asked(text) == SESSION
    assert class_asked(text.replace("tf.Session()", "n=1")) is None


def test_apply_gives_its_dataset_to_a_lambda() -> None:
    assert class_asked("tf.data.Dataset.range(3).apply(lambda ds: ask(ds))") == DATASET
    assert class_asked("tf.data.Dataset.range(3).map(lambda ds: ask(ds))") is None


def test_another_module_s_variable() -> None:
    others = {"setup.py": "config = tf.ConfigProto()\n", "common.py": "from setup import *\n"}
    assert class_asked("import common\nask(common.config)", others) == "tf.ConfigProto"


# What else can be asked.


def test_origins_are_the_expressions_that_make_a_value() -> None:
    values, source = followed(
        """
        def make(fast):
            config = tf.ConfigProto(a=1)
            if fast:
                config = tf.ConfigProto(b=2)
            return config
        ask(make(True))
        """
    )
    found = [ast.unparse(node) for _, node in values.origins(source, question(source))]
    assert found == ["tf.ConfigProto(a=1)", "tf.ConfigProto(b=2)"]


def test_origins_are_all_or_none() -> None:
    values, source = followed("def f(c):\n    ask(c or tf.ConfigProto())")
    assert values.origins(source, question(source)) == ()


def test_the_function_behind_a_partial() -> None:
    values, source = followed(
        """
        from functools import partial
        def input_fn(n): pass
        given = partial(input_fn, 3)
        ask(given)
        """
    )
    found = values.function_of(source, question(source))
    assert found is not None
    assert (found[0], found[1].name) == (source, "input_fn")


def test_callers_of_a_function() -> None:
    values, source = followed("def f(a): pass\nf(1)\nother.f(2)\ng = f\nask(f)")
    found = values.function_of(source, question(source))
    assert found is not None
    calls = [ast.unparse(call) for _, call in values.callers(*found)]
    assert calls == ["f(1)"]

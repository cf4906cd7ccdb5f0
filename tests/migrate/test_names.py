"""Names of one file: imports, aliases, scopes, and what is not certain."""

from __future__ import annotations

import sys

import pytest

from tests.migrate.names_project import asked, project_of, question, source_of
from trainferry.migrate.library import canonical_name, star_names
from trainferry.migrate.names import resolve_project, tf_names


@pytest.mark.parametrize(
    ("imported", "expression", "name"),
    [
        ("import tensorflow as tf", "tf.Session", "tf.Session"),
        ("import tensorflow.compat.v1 as tf", "tf.Session", "tf.Session"),
        ("import tensorflow as foo", "foo.nn.dropout", "tf.nn.dropout"),
        ("import tensorflow", "tensorflow.nn.dropout", "tf.nn.dropout"),
        ("import tensorflow as tf", "tf.compat.v1.estimator.Estimator", "tf.estimator.Estimator"),
        ("import tensorflow as tf", "tf.compat.v1.compat.v1.Session", "tf.Session"),
        ("import tensorflow.compat.v2 as tf", "tf.nn.dropout", "tf.compat.v2.nn.dropout"),
        ("from tensorflow import Session", "Session", "tf.Session"),
        ("from tensorflow import Session as S", "S", "tf.Session"),
        ("from tensorflow.compat import v1 as tf", "tf.device", "tf.device"),
        ("from tensorflow.compat.v1 import Session", "Session", "tf.Session"),
        ("import tensorflow as tf", "getattr(tf, 'Session')", "tf.Session"),
        ("import tensorflow as tf", "getattr(tf.nn, 'dropout', None)", "tf.nn.dropout"),
        ("import tensorflow as tf", "getattr(getattr(tf, 'nn'), 'relu')", "tf.nn.relu"),
        ("import tensorflow as tf", "getattr(tf, 'nn').relu", "tf.nn.relu"),
        (
            "import tensorflow as tf\nslim = tf.contrib.slim",
            "slim.conv2d",
            "tf.contrib.slim.conv2d",
        ),
        (
            "import tensorflow as tf\nK = tf.keras.backend",
            "K.set_session",
            "tf.keras.backend.set_session",
        ),
        ("import tensorflow as tf\nlayers = tf.layers", "layers.dense", "tf.layers.dense"),
        ("from tensorflow.contrib import slim", "slim.conv2d", "tf.contrib.slim.conv2d"),
        ("import tensorflow.contrib.slim as slim", "slim.conv2d", "tf.contrib.slim.conv2d"),
        (
            "import tensorflow.contrib.slim",
            "tensorflow.contrib.slim.conv2d",
            "tf.contrib.slim.conv2d",
        ),
        (
            "from tensorflow.contrib import opt as o",
            "o.LARSOptimizer",
            "tf.contrib.opt.LARSOptimizer",
        ),
        (
            "from tensorflow.keras import backend as K",
            "K.set_session",
            "tf.keras.backend.set_session",
        ),
        ("import horovod.tensorflow as hvd", "hvd.init", "horovod.tensorflow.init"),
        ("import horovod.tensorflow as mgw", "mgw.init", "horovod.tensorflow.init"),
        ("import horovod.keras", "horovod.keras.init", "horovod.keras.init"),
        ("from keras.layers import Dense", "Dense", "keras.layers.Dense"),
        (
            "from tensorflow.python.framework import ops",
            "ops.Graph",
            "tensorflow.python.framework.ops.Graph",
        ),
        (
            "import tensorflow as tf",
            "tf.python.framework.ops.Graph",
            "tensorflow.python.framework.ops.Graph",
        ),
        (
            "import tensorflow_core.python.framework.ops as ops",
            "ops.Graph",
            "tensorflow.python.framework.ops.Graph",
        ),
        (
            "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig",
            "RewriterConfig",
            "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig",
        ),
        ("import importlib\ntf = importlib.import_module('tensorflow')", "tf.nn", "tf.nn"),
        ("tf = __import__('tensorflow')", "tf.nn", "tf.nn"),
    ],
)
def test_every_spelling_gives_the_one_name(imported: str, expression: str, name: str) -> None:
    assert asked(f"{imported}\nask({expression})\n") == name


@pytest.mark.parametrize(
    "text",
    [
        "import requests\nask(requests.Session)",
        "import regex\nask(regex.compile)",
        "from sklearn.linear_model import LogisticRegression\nask(LogisticRegression)",
        "from mylib import tf\nask(tf.nn.dropout)",
        "import mylib\nask(mylib.tf.nn.dropout)",
        "import tensorflow_hub as tf\nask(tf.Session)",
        "import tf_slim as slim\nask(slim.conv2d)",
    ],
)
def test_another_library_is_not_ours(text: str) -> None:
    name = asked(text)
    assert name is not None
    assert not name.startswith(("tf.", "tensorflow."))


@pytest.mark.parametrize(
    "text",
    [
        "ask(tf.Session)",
        "import tf\nask(tf.TransformListener)",  # a library of ROS
        "class Net:\n    def gelu(self, x): ...\n    def f(self, x): ask(self.gelu)",
        "import tensorflow as tf\nclass Net:\n    def f(self): ask(self.tf.nn.dropout)",
        "import tensorflow as tf\nclass Net:\n    nn = tf.nn\nask(Net.nn.dropout)",
        "from sklearn.linear_model import LogisticRegression as L\nask(L().fit)",
        "import tensorflow as tf\nask(tf.Session().run)",
        "import tensorflow as tf\ncluster = tf.train.Server(x)\nask(cluster.shard)",
        "import tensorflow as tf\nask(tf.train[0].AdamOptimizer)",
        "import tensorflow as tf\nask(getattr(tf, name))",
        "import tensorflow as tf\nask(getattr(tf, 'Session', Fake))",
        "import tensorflow as tf\ndef getattr(a, b): ...\nask(getattr(tf, 'Session'))",
        "from keras.layers import *\nask(Dense)",
        "import tensorflow as tf\nFLAGS = tf.app.flags.FLAGS\nask(FLAGS.optimizer)",
        "import tensorflow as tf\nimport functools\nf = functools.partial(tf.nn.relu)\nask(f)",
    ],
)
def test_what_no_import_explains_has_no_name(text: str) -> None:
    assert asked(text) is None


class TestAssignments:
    def test_tuples_are_taken_apart(self) -> None:
        text = "import tensorflow as tf\na, (b, [c]) = tf.layers, (tf.nn, [tf.losses])\nask({})"
        assert asked(text.format("a.dense")) == "tf.layers.dense"
        assert asked(text.format("b.relu")) == "tf.nn.relu"
        assert asked(text.format("c.log_loss")) == "tf.losses.log_loss"

    def test_tuples_that_do_not_match_are_left_alone(self) -> None:
        text = "import tensorflow as tf\na, *b = tf.layers, tf.nn\nask(a.dense)"
        assert asked(text) is None
        assert asked("import tensorflow as tf\na, b = tf.layers\nask(a.dense)") is None

    def test_chained_and_annotated_assignments_count(self) -> None:
        assert (
            asked("import tensorflow as tf\na = b = tf.layers\nask(b.dense)") == "tf.layers.dense"
        )
        annotated = "import tensorflow as tf\na: object = tf.layers\nask(a.dense)"
        assert asked(annotated) == "tf.layers.dense"

    def test_classes_and_functions_can_be_assigned(self) -> None:
        assert asked("import tensorflow as tf\nS = tf.Session\nask(S)") == "tf.Session"
        text = "import tensorflow as tf\nS = getattr(tf, 'Session')\nask(S)"
        assert asked(text) == "tf.Session"

    def test_what_a_call_returns_is_not_the_function(self) -> None:
        assert asked("import tensorflow as tf\ns = tf.Session()\nask(s.run)") is None

    def test_a_walrus_binds(self) -> None:
        text = "import tensorflow as tf\nif (nn := tf.nn): ask(nn.relu)"
        assert asked(text) == "tf.nn.relu"
        assert asked("import tensorflow as tf\na = (b := tf.nn)\nask(a.relu)") == "tf.nn.relu"

    def test_both_sides_of_a_choice_must_agree(self) -> None:
        text = "import tensorflow as tf\nS = tf.Session if old else {}\nask(S)"
        assert asked(text.format("tf.compat.v1.Session")) == "tf.Session"
        assert asked(text.format("tf.InteractiveSession")) is None

    def test_an_alias_of_itself_is_followed(self) -> None:
        assert asked("import tensorflow as tf\ntf = tf.compat.v1\nask(tf.Session)") == "tf.Session"
        assert asked("import tensorflow as tf\ntf = tf.keras\nask(tf.layers)") is None
        assert asked("a = b\nb = a\nask(a.x)") is None

    def test_two_different_values_are_not_certain(self) -> None:
        text = (
            "import tensorflow as tf\nlayers = tf.layers\nlayers = tf.keras.layers\nask(layers.x)"
        )
        assert asked(text) is None

    def test_a_use_before_an_equal_binding_is_certain(self) -> None:
        text = "import tensorflow as tf\nask(tf.nn)\nimport tensorflow.compat.v1 as tf"
        assert asked(text) == "tf.nn"

    def test_changing_a_name_in_place_makes_it_unknown(self) -> None:
        assert asked("import tensorflow as tf\nx = tf.nn\nx += 1\nask(x.relu)") is None


class TestConditionalImports:
    def test_equal_alternatives_are_known(self) -> None:
        text = """
        try:
            import tensorflow.compat.v1 as tf
            tf.disable_v2_behavior()
        except ImportError:
            import tensorflow as tf
        ask(tf.Session)
        """
        assert asked(text) == "tf.Session"

    def test_different_alternatives_are_only_possible(self) -> None:
        text = """
        try:
            import horovod.tensorflow as mgw
        except ImportError:
            import tfplus.tensorflow as mgw
        ask(mgw.init)
        """
        source = source_of(text)
        names = resolve_project([source])
        assert names.full_name(source, question(source)) is None
        possible = names.possible_names(source, question(source))
        assert possible == {"horovod.tensorflow.init", "tfplus.tensorflow.init"}

    def test_a_dummy_of_the_project_leaves_the_library_possible(self) -> None:
        text = """
        try:
            import horovod.tensorflow as hvd
        except ImportError:
            hvd = Dummy()
        ask(hvd.init)
        """
        source = source_of(text)
        names = resolve_project([source])
        assert names.full_name(source, question(source)) is None
        assert names.possible_names(source, question(source)) == {"horovod.tensorflow.init"}

    def test_what_a_call_returns_has_no_possible_names(self) -> None:
        source = source_of("import tensorflow as tf\nask(tf.Session().run)\n")
        assert resolve_project([source]).possible_names(source, question(source)) == frozenset()

    def test_none_in_place_of_a_missing_library_changes_nothing(self) -> None:
        text = """
        try:
            import horovod.tensorflow as hvd
        except ImportError:
            hvd = None
        ask(hvd.init)
        """
        assert asked(text) == "horovod.tensorflow.init"

    def test_an_import_in_a_function_is_seen_there_only(self) -> None:
        text = "def f():\n    import tensorflow as tf\n    {}\n{}\n"
        assert asked(text.format("ask(tf.nn)", "")) == "tf.nn"
        assert asked(text.format("", "ask(tf.nn)")) is None

    def test_a_global_import_in_a_function_is_seen_everywhere(self) -> None:
        text = """
        hvd = None
        def load():
            global hvd
            import horovod.tensorflow as hvd
        def f(): ask(hvd.rank)
        """
        assert asked(text) == "horovod.tensorflow.rank"


class TestScopes:
    @pytest.mark.parametrize(
        "text",
        [
            "def f(tf): ask(tf.nn)",
            "def f(*tf): ask(tf.nn)",
            "def f(**tf): ask(tf.nn)",
            "def f(*, tf=None): ask(tf.nn)",
            "f = lambda tf: ask(tf.nn)",
            "def f():\n    for tf in x: ask(tf.nn)",
            "def f():\n    ask(tf.nn)\n    for tf in x: pass",
            "[ask(tf.nn) for tf in x]",
            "{ask(tf.nn): 1 for tf, _ in x}",
            "(ask(tf.nn) for y in x for tf in y)",
            "[y for y in x if (lambda tf: ask(tf.nn))(y)]",
            "def f():\n    try: pass\n    except E as tf: ask(tf.nn)",
            "def f():\n    with x as tf: ask(tf.nn)",
            "def f():\n    with x as (a, tf): ask(tf.nn)",
            "def f():\n    if (tf := g()): ask(tf.nn)",
            "def f():\n    [tf := y for y in x]\n    ask(tf.nn)",
            "def f():\n    ask(tf.nn)\n    del tf",
            "def f():\n    tf: object\n    ask(tf.nn)",
            "def f():\n    match x:\n        case tf: ask(tf.nn)",
            "def f():\n    match x:\n        case {'a': 1, **tf}: ask(tf.nn)",
            "def f():\n    match x:\n        case [*tf]: ask(tf.nn)",
            "def f():\n    def tf(): ...\n    ask(tf.nn)",
            "def f():\n    class tf: ...\n    ask(tf.nn)",
            "def f():\n    tf = 1\n    def g(): ask(tf.nn)",
            "def f():\n    tf = 1\n    class A:\n        ask(tf.nn)",
            "def f():\n    global tf\n    tf = 1\nask(tf.nn)",
            "def f():\n    tf = 1\n    def g():\n        nonlocal tf\n        ask(tf.nn)",
            "for tf in x: pass\nask(tf.nn)",
            "class A:\n    tf = 1\n    ask(tf.nn)",
            "class A:\n    import keras as tf\n    ask(tf.nn)",
            "tf += 1\nask(tf.nn)",
        ],
    )
    def test_a_name_of_the_project_hides_the_import(self, text: str) -> None:
        assert asked(f"import tensorflow as tf\n{text}\n") is None

    @pytest.mark.parametrize(
        "text",
        [
            "def f(tf): ...\nask(tf.nn)",
            "def f(x=ask(tf.nn), tf=1): ...",
            "def f(tf: ask(tf.nn)): ...",
            "def f(tf) -> ask(tf.nn): ...",
            "@ask(tf.nn)\ndef f(tf): ...",
            "[1 for tf in ask(tf.nn)]",
            "[tf for tf in x]\nask(tf.nn)",
            "class A:\n    tf = 1\n    def f(self): ask(tf.nn)",
            "class A:\n    tf = 1\n    x = [ask(tf.nn) for y in z]",
            "class A(ask(tf.nn)):\n    tf = 1",
            "def f():\n    tf = 1\n    def g():\n        global tf\n        ask(tf.nn)",
            "def f():\n    global tf\n    import tensorflow as tf\n    ask(tf.nn)",
            "def f():\n    def g(tf): ...\n    ask(tf.nn)",
            "def f():\n    ask(tf.nn)\ndel tf",
            "async def f():\n    async with ask(tf.nn) as x: ...",
            "def f():\n    x = f'{ask(tf.nn)}'",
            "match x:\n    case y if ask(tf.nn): ...",
        ],
    )
    def test_a_name_of_another_scope_does_not(self, text: str) -> None:
        assert asked(f"import tensorflow as tf\n{text}\n") == "tf.nn"

    def test_nonlocal_binds_in_the_function_around(self) -> None:
        text = """
        import tensorflow as tf
        def f():
            nn = tf.nn
            def g():
                nonlocal nn
                nn = tf.layers
            ask(nn.relu)
        """
        assert asked(text) is None

    def test_a_class_body_sees_the_module_until_it_binds(self) -> None:
        text = "import tensorflow as tf\nclass A:\n    ask(tf.nn)\n    import tensorflow as tf"
        assert asked(text) == "tf.nn"
        assert asked("class A:\n    import tensorflow as tf\n    ask(tf.nn)") == "tf.nn"

    def test_variables_of_lists_leak_in_python_2(self) -> None:
        text = "import tensorflow as tf\n[tf for tf in x]\n{}\nask(tf.nn)"
        assert asked(text.format("")) == "tf.nn"
        assert asked(text.format("print 'x'")) is None

    def test_a_star_import_in_a_function_counts_in_python_2(self) -> None:
        text = "print 'x'\ndef f():\n    from tensorflow import *\n    def g(): ask({})"
        assert asked(text.format("nn.relu")) == "tf.nn.relu"
        assert asked(text.format("numpy.abs")) is None

    @pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
    def test_type_parameters_hide_the_import(self) -> None:
        text = "import tensorflow as tf\n{}"
        assert asked(text.format("def f[tf](x: ask(tf.nn)): ...")) is None
        assert asked(text.format("class A[tf]:\n    ask(tf.nn)")) is None
        assert asked(text.format("@ask(tf.nn)\ndef f[tf](x): ...")) == "tf.nn"

    def test_an_annotated_attribute_is_no_name_of_the_scope(self) -> None:
        assert asked("import tensorflow as tf\ntf.x: int\nask(tf.nn)") == "tf.nn"

    def test_deeply_nested_code_is_read(self) -> None:
        text = f"import tensorflow as tf\nx = {' + '.join(['a'] * 700)} + ask(tf.nn)\n"
        assert asked(text) == "tf.nn"


class TestStars:
    def test_the_star_of_tensorflow_binds_its_names_and_no_others(self) -> None:
        assert asked("from tensorflow import *\nask(placeholder)") == "tf.placeholder"
        assert asked("from tensorflow.compat.v1 import *\nask(Session)") == "tf.Session"
        assert asked("from tensorflow import *\nask(range)") == "tf.range"
        assert asked("from tensorflow import *\nask(my_function)") is None
        assert asked("from tensorflow import *\nimport numpy as np\nask(np.abs)") == "numpy.abs"

    def test_the_star_of_the_adapter_brings_tensorflow(self) -> None:
        text = "from npu_bridge.npu_init import *\nask({})"
        assert asked(text.format("tf.Session")) == "tf.Session"
        assert asked(text.format("npu_ops.dropout")) == "npu_bridge.npu_init.npu_ops.dropout"
        assert len(star_names("npu_bridge.npu_init") or ()) == 71

    def test_a_star_may_hide_a_name_imported_before_it(self) -> None:
        before = "from tensorflow import layers\nfrom keras import *\nask(layers.Dense)"
        after = "from keras import *\nfrom tensorflow import layers\nask(layers.dense)"
        assert asked(before) is None
        assert asked(after) == "tf.layers.dense"

    def test_a_star_of_another_library_does_not_hide_tensorflow(self) -> None:
        text = "import tensorflow as tf\nfrom keras.layers import *\nask(tf.Session)"
        assert asked(text) == "tf.Session"

    def test_two_stars_leave_a_doubt(self) -> None:
        assert asked("from tensorflow import *\nfrom math import *\nask(sqrt)") is None


class TestTensorFlowNames:
    def test_each_longest_name_is_found_once_in_order(self) -> None:
        text = """
        import tensorflow as tf
        slim = tf.contrib.slim
        @tf.function
        def f(x: tf.Tensor):
            return slim.conv2d(tf.nn.relu(x), getattr(tf, "int32").name, np.abs(x))
        S = getattr(tf, "Session")
        """
        source = source_of(text)
        found = [name for _, name in tf_names(source, resolve_project([source]))]
        assert found == [
            "tf.contrib.slim",
            "tf.function",
            "tf.Tensor",
            "tf.contrib.slim.conv2d",
            "tf.nn.relu",
            "tf.int32.name",
            "tf.Session",
        ]

    def test_a_file_without_tensorflow_has_none(self) -> None:
        sources, names = project_of({"a.py": "import os\nos.getcwd()\nx = y.z\n"})
        assert list(tf_names(sources["a.py"], names)) == []


def test_a_name_without_a_path_is_the_library_itself() -> None:
    assert canonical_name("tensorflow") == "tf"
    assert canonical_name("tensorflow.compat.v1") == "tf"
    assert canonical_name("tensorflow.compat.v1alpha") == "tf.compat.v1alpha"
    assert canonical_name("tensorflow_hub.load") == "tensorflow_hub.load"

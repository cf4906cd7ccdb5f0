"""Programs that train with Keras get a session for the NPU, and only those."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_project, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "keras_session"
IMPORTS = """\
import atexit
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import set_keras_session_npu_config
"""
NET = "model = tf.keras.Sequential([])\nmodel.compile('adam', 'mse')\n"


def lines(text: str, indent: str = "") -> str:
    opened = f"{indent}npu_keras_sess = set_keras_session_npu_config(config=None)\n"
    return f"{opened}{indent}atexit.register(close_session, npu_keras_sess)\n{text}"


def check(before: str, after: str) -> None:
    head = "import tensorflow as tf\n"
    told = check_migrated(head + before, head + IMPORTS + after, RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def check_silent(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{text}", RULE) == []


def test_a_script_opens_it_before_the_model_is_built() -> None:
    check(
        f"x = load()\n{NET}model.fit(x, x)\n",
        "x = load()\n" + lines(f"{NET}model.fit(x, x)\n"),
    )


def test_a_program_that_asks_keras_for_its_session_opens_it_first() -> None:
    check(
        "x = load()\nsess = tf.keras.backend.get_session()\nsess.run(y)\n",
        "x = load()\n" + lines("sess = tf.keras.backend.get_session()\nsess.run(y)\n"),
    )
    check_silent("K = tf.keras.backend\nK.set_session(s)\nsess = K.get_session()\n")
    check_silent("def start(op):\n    tf.keras.backend.get_session().run(op)\n")


@pytest.mark.parametrize(
    ("imported", "made"),
    [
        ("from net import layers", "layers.load(path)"),
        ("import net.layers", "net.layers.load(path)"),
        ("from net.layers import load as get", "get(path)"),
    ],
)
def test_a_model_that_another_file_makes_is_made_in_it(imported: str, made: str) -> None:
    layers = (
        "import tensorflow as tf\ndef load(path):\n    return tf.keras.models.load_model(path)\n"
    )
    head = f"import os\n{imported}\n"
    middle = "path = os.path.join(a, b)\n"
    rest = f"model = {made}\nprint(model.predict_on_batch(x))\n"
    told = check_project(
        {"net/__init__.py": "", "net/layers.py": layers, "show.py": head + middle + rest},
        {"show.py": head + IMPORTS + middle + lines(rest)},
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "test", ["__name__ == '__main__'", "'__main__' == __name__", '__name__=="__main__"']
)
@pytest.mark.parametrize("start", ["main()", "tf.app.run()", "tf.app.run(main)"])
def test_a_program_opens_it_where_it_begins(test: str, start: str) -> None:
    train = "def main():\n    model = tf.keras.Sequential()\n    model.fit(x, y)\n"
    check(
        f"{train}if {test}:\n    print('hello')\n    {start}\n",
        f"{train}if {test}:\n    print('hello')\n" + lines(f"    {start}\n", "    "),
    )


def test_a_start_on_one_line_opens_it_in_the_function() -> None:
    check(
        """\
def main():
    '''Train.'''
    model = tf.keras.models.Model(a, b)
    model.fit_generator(data)
if __name__ == '__main__': main()
""",
        """\
def main():
    '''Train.'''
    npu_keras_sess = set_keras_session_npu_config(config=None)
    atexit.register(close_session, npu_keras_sess)
    model = tf.keras.models.Model(a, b)
    model.fit_generator(data)
if __name__ == '__main__': main()
""",
    )


def test_a_start_on_one_line_elsewhere_is_told() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        def train():
            model = tf.keras.Sequential()
            model.fit(x, y)
        if __name__ == '__main__': tf.app.run(train)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]


def test_a_script_that_calls_its_functions_opens_it_before() -> None:
    train = "def train():\n    model = tf.keras.Sequential()\n    model.fit(x, y)\n\n"
    check(f"{train}x = 1\ntrain()\n", f"{train}x = 1\n" + lines("train()\n"))


@pytest.mark.parametrize("method", ["train_on_batch(x, y)", "evaluate(x)", "predict(x)"])
def test_all_that_runs_a_model_counts(method: str) -> None:
    check(f"{NET}model.{method}\n", lines(f"{NET}model.{method}\n"))


def test_a_model_of_ones_own_class_counts() -> None:
    net = "class Net(tf.keras.Model):\n    pass\n"
    check(f"{net}net = Net()\nnet.fit(x, y)\n", net + lines("net = Net()\nnet.fit(x, y)\n"))


def test_other_spellings_of_tensorflow_count() -> None:
    for head in (
        "from tensorflow.compat.v1 import keras\n",
        "from tensorflow import keras\n",
        "import tensorflow.compat.v1.keras as keras\n",
    ):
        text = "model = keras.models.Sequential()\nmodel.fit(x, y)\n"
        check_migrated(head + text, head + IMPORTS + lines(text), RULE)


def test_a_program_opens_it_for_the_files_it_imports() -> None:
    trainer = "import tensorflow as tf\ndef train():\n    m = tf.keras.Sequential()\n    m.fit(x)\n"
    before = "import trainer\nif __name__ == '__main__':\n    trainer.train()\n"
    after = f"import trainer\n{IMPORTS}if __name__ == '__main__':\n"
    files = {"program.py": before, "trainer.py": trainer}
    told = check_project(
        files, {"program.py": after + lines("    trainer.train()\n", "    ")}, RULE
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_model_that_no_program_runs_is_told() -> None:
    told = check_unchanged(
        "import tensorflow as tf\ndef f():\n    m = tf.keras.Sequential()\n    m.fit(x)\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]


def test_a_graph_of_its_own_is_told() -> None:
    text = f"import tensorflow as tf\nwith tf.Graph().as_default():\n    pass\n{NET}model.fit(x)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_a_taken_name_is_told() -> None:
    text = f"import tensorflow as tf\nnpu_keras_sess = 1\n{NET}model.fit(x)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_with_a_patching_adapter_its_import_is_enough() -> None:
    options = Options(adapter="patched")
    told = check_migrated(
        f"import tensorflow as tf\n{NET}model.fit(x)\n",
        f"import tensorflow as tf\nfrom npu_bridge import npu_init\n{NET}model.fit(x)\n",
        RULE,
        options,
    )
    assert outcomes(told) == [Outcome.CHANGED]
    text = f"import tensorflow as tf\nfrom npu_bridge.npu_init import *\n{NET}model.fit(x)\n"
    assert check_unchanged(text, RULE, options) == []


@pytest.mark.parametrize(
    "text",
    [
        # Who gives Keras a session has one.
        f"tf.keras.backend.set_session(tf.Session())\n{NET}model.fit(x)\n",
        "from tensorflow.python.keras import backend as K\n"
        f"K.set_session(tf.Session())\n{NET}model.fit(x)\n",
        "from npu_bridge.npu_init import *\n"
        f"npu_keras_sess = set_keras_session_npu_config(config=None)\n{NET}model.fit(x)\n",
        # Eager programs have none.
        f"tf.enable_eager_execution()\n{NET}model.fit(x)\n",
        # Estimators open their own.
        f"{NET}e = tf.keras.estimator.model_to_estimator(model)\n"
        "if __name__ == '__main__':\n    e.train(f)\n",
        "def model_fn(features):\n    return tf.keras.layers.Dense(2)(features)\n"
        "if __name__ == '__main__':\n    tf.app.run()\n",
        # Unit tests stay on the host.
        "class NetTest(tf.test.TestCase):\n    def test(self):\n"
        "        m = tf.keras.Sequential()\n        m.fit(x)\n"
        "if __name__ == '__main__':\n    tf.test.main()\n",
        # Other libraries fit too.
        "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(x, y)\n"
        "if __name__ == '__main__':\n    tf.app.run()\n",
        "import keras\nmodel = keras.Sequential()\nmodel.fit(x)\n",
        "unknown.fit(x)\n",
    ],
)
def test_who_needs_no_session_gets_none(text: str) -> None:
    check_silent(text)


def test_a_session_from_a_file_that_is_imported_is_enough() -> None:
    files = {
        "program.py": f"import tensorflow as tf\nimport setup_gpu\n{NET}model.fit(x)\n",
        "setup_gpu.py": "from tensorflow.keras import backend as K\nK.set_session(s)\n",
    }
    assert check_project(files, {}, RULE) == []

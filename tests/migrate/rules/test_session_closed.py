"""A session that nothing closes is told, and no other."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.rule import Outcome

RULE = "session_closed"


@pytest.mark.parametrize(
    "text",
    [
        "sess = tf.Session()\nsess.run(x)\nsaver.restore(sess, path)",
        "def f():\n    sess = tf.compat.v1.Session()\n    return sess.run(x)",
        "class A:\n    def __init__(self):\n        self.sess = tf.Session()",
        "class A:\n    def build(self):\n        sess = tf.Session()\n        self.sess = sess\n"
        "    def load(self):\n        self.__restore(self.sess)\n"
        "    def __restore(self, sess):\n        saver.restore(sess, path)",
        "sess = tf.Session()\nstep = tf.train.global_step(sess, count)",
        "def f():\n    s = tf.InteractiveSession()\n    with s.as_default():\n        x.eval()",
    ],
)
def test_an_open_session_is_told(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert ".close()" in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "with tf.Session() as sess:\n    pass",
        "sess = tf.Session()\nsess.run(x)\nsess.close()",
        "sess = tf.Session()\nwith sess:\n    sess.run(x)",
        "def f():\n    sess = tf.Session()\n    return sess",
        "def f():\n    sess = tf.Session()\n    return Model(sess)",
        "def f():\n    sess = tf.Session()\n    yield sess, 1",
        "sess = tf.Session()\nwrapped = tf.contrib.eager.Checkpointer(sess)",
        "class A:\n    def __init__(self):\n        self.sess = tf.Session()\n"
        "    def end(self):\n        self.sess.close()",
        "class A:\n    def __init__(self):\n        self.sess = sess = tf.Session()",
        "class A:\n    def open(self):\n        sess = tf.Session()\n        self.sess = sess\n"
        "    def end(self):\n        self.sess.close()",
        "class A:\n    def open(self):\n        self.sess = tf.Session()\n        return self.sess",
        "sess = None\ndef f():\n    global sess\n    sess = tf.Session()",
        "import requests\nsess = requests.Session()",
    ],
)
def test_a_session_that_is_closed_or_handed_on_is_not_told(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{text}\n", RULE) == []


def test_an_attribute_may_be_closed_in_another_file() -> None:
    files = {
        "model.py": "import tensorflow as tf\nclass A:\n    def __init__(self):\n"
        "        self.sess = tf.Session()\n",
        "main.py": "from model import A\na = A()\na.sess.close()\n",
    }
    assert findings(migrate(files, RULE)) == []


def test_unit_tests_are_not_told() -> None:
    text = "import tensorflow as tf\nimport unittest\nsess = tf.Session()\n"
    assert findings(migrate({"a_test.py": text}, RULE)) == []

"""Every call of TensorFlow is in the table of names, however it is spelt."""

from __future__ import annotations

from pathlib import Path

from tests.migrate.written import make_project, migrated

SPELLINGS = b"""
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow import Session as S
from horovod import tensorflow as hvd
slim = tf.contrib.slim
FLAGS = tf.app.flags.FLAGS
tf.Session()
tf1.Session()
S()
getattr(tf, "Session")()
slim.conv2d(x)
hvd.rank()
FLAGS.scopes.split(",")
len("not ours")
"""


def test_all_spellings_of_a_name_are_one_row(tmp_path: Path) -> None:
    migration = migrated(make_project(tmp_path, {"net.py": SPELLINGS}))
    rows = {api.name: [line for _, line in api.places] for api in migration.apis}
    assert rows == {
        "tf.Session": [8, 9, 10, 11],
        "tf.contrib.slim.conv2d": [12],
        "horovod.tensorflow.rank": [13],
        "tf.app.flags.FLAGS": [14],
    }

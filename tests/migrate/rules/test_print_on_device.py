"""Prints in the model are told once, where nobody would see them."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.rule import Outcome

RULE = "print_on_device"
MODEL = "import tensorflow as tf\nx = tf.Print(x, [x])\n"
RUN = "from tensorflow.compat.v1 import Session\nwith Session() as s: s.run(x)\n"


def test_it_is_told_once_per_project() -> None:
    told = findings(migrate({"a.py": MODEL, "b.py": MODEL, "run.py": RUN}, RULE))
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "2 places" in told[0].message
    assert "_npu_log" in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        MODEL + "tf.estimator.Estimator(model_fn)\n",
        RUN + "print(x)\n",
        MODEL + RUN + "from npu_bridge.estimator import npu_ops\n"
        "npu_ops.outfeed_dequeue_op(channel_name='_npu_log', output_types=t, output_shapes=s)\n",
        RUN + "import tensorflow as tf\ndata = data.map(lambda x: tf.Print(x, [x]))\n",
        RUN + "from mylib import tf\ntf.Print(x, [x])\n",
    ],
)
def test_what_is_seen_anyway_is_not_told(text: str) -> None:
    assert check_unchanged(text, RULE) == []

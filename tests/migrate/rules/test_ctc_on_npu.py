"""CTC is told to take dense labels and to decode on the host."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_project, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "ctc_on_npu"
TOP = "import tensorflow as tf\n"


def test_the_text_of_the_loss_has_the_arguments_of_the_call() -> None:
    told = check_unchanged(
        f"{TOP}tf.nn.ctc_loss(labels=l, inputs=net, sequence_length=n, time_major=False)\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert (
        "`tf.nn.ctc_loss_v2(labels, net, label_lengths, n, logits_time_major=False, "
        "blank_index=-1)`" in told[0].message
    )


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.compat.v1 as tf\nd, p = tf.nn.ctc_greedy_decoder(net, n)\n",
        "from tensorflow.nn import ctc_beam_search_decoder as d\nd(net, n)\n",
        "from tensorflow.keras import backend as K\nK.ctc_decode(net, n)\n",
        "from tensorflow.keras import backend as K\nK.ctc_batch_cost(l, net, n, m)\n",
    ],
)
def test_decoders_and_keras_are_told(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_labels_of_any_length_are_told_where_they_are_read() -> None:
    reader = (
        "from tensorflow import io\n"
        "import tensorflow as tf\n"
        "kinds = {'labels': io.VarLenFeature(tf.int64), 'name': tf.VarLenFeature(tf.string)}\n"
    )
    files = {"loss.py": f"{TOP}tf.nn.ctc_loss(l, net, n)\n", "reader.py": reader}
    told = check_project(files, {}, RULE)
    assert [str(one.path) for one in told] == ["loss.py", "reader.py"]
    assert "`tf.FixedLenFeature([longest], tf.int64)`" in told[1].message
    assert check_unchanged(reader, RULE) == []


def test_what_is_on_the_host_or_dense_already_is_not_told() -> None:
    text = (
        f"{TOP}from npu_bridge.estimator.npu import npu_scope\n"
        "with npu_scope.without_npu_compile_scope():\n"
        "    tf.nn.ctc_greedy_decoder(net, n)\n"
        "tf.nn.ctc_loss_v2(l, net, a, b, blank_index=-1)\n"
    )
    assert check_unchanged(text, RULE) == []


def test_ctc_of_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tf\ntf.nn.ctc_loss(a, b, c)\n", RULE) == []

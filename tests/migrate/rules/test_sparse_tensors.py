"""Sparse tensors of the model are told, those of the input are not."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "sparse_tensors"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nx = tf.SparseTensor(i, v, s)\n",
        "import tensorflow.compat.v1 as t\nx = t.sparse_placeholder(t.int32)\n",
        "from tensorflow import sparse\nx = sparse.reduce_sum(y)\n",
        "import tensorflow as tf\nx = tf.sparse_reduce_sum(y)\n",
        "import tensorflow as tf\nx = tf.nn.embedding_lookup_sparse(w, ids, None)\n",
    ],
)
def test_sparse_values_in_the_model_are_told(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_a_matrix_is_no_batch_of_sequences() -> None:
    graph = "import tensorflow as tf\na = tf.sparse_placeholder(tf.float32)\n"
    product = "y = tf.sparse_tensor_dense_matmul(a, x)\n"
    assert "tf.matmul" in check_unchanged(graph + product, RULE)[0].message
    assert "lengths beside it" in check_unchanged(graph, RULE)[0].message


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nx = tf.sparse_to_dense(i, s, v)\n",
        "import tensorflow as tf\nx = tf.sparse_tensor_to_dense(y)\n",
        "import tensorflow as tf\ndef parse(r):\n    return tf.SparseTensor(i, v, s)\n",
        "import tensorflow as tf\nx = tf.SparseTensorValue(i, v, s)\n",
        "from mylib import tf\ntf.SparseTensor(i, v, s)\n",
    ],
)
def test_dense_results_and_input_pipelines_are_left_alone(text: str) -> None:
    assert check_unchanged(text, RULE) == []

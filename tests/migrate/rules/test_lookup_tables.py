"""Lookup tables need mixed compilation."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "lookup_tables"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.contrib.lookup.HashTable(\n"
        "    tf.contrib.lookup.KeyValueTensorInitializer(keys, values), 0)\n",
        "from tensorflow.contrib import lookup\nlookup.index_table_from_file(path)\n",
        "import tensorflow.compat.v1 as tf\ntf.lookup.StaticHashTable(made, -1)\n",
        "from tensorflow.python.ops import lookup_ops\nlookup_ops.index_table_from_file(path)\n",
        "from tensorflow.python.ops import lookup_ops\nlookup_ops.StaticHashTable(made, -1)\n",
    ],
)
def test_a_table_is_told_once(text: str) -> None:
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`mix_compile_mode`" in told[0].message


def test_other_tables_are_not_ours() -> None:
    text = "import tensorflow as tf\ntf.nn.embedding_lookup(a, b)\nlookup.HashTable(a)\n"
    assert check_unchanged(text, RULE) == []

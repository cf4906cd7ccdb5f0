"""The public names of `npu_bridge` and `hccl`."""

from __future__ import annotations

import ast

import pytest

from trainferry.migrate.surface import import_for, modules, modules_with, star_names


def test_the_star_import_brings_seventy_one_names() -> None:
    assert len(star_names()) == 71


@pytest.mark.parametrize(("name", "statement"), star_names().items())
def test_each_import_brings_the_name_it_is_for(name: str, statement: str) -> None:
    (node,) = ast.parse(statement).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    assert [alias.asname or alias.name for alias in node.names] == [name]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("npu_config_proto", "from npu_bridge.npu_init import npu_config_proto"),
        ("npu_ops", "from npu_bridge.estimator import npu_ops"),
        ("hccl_ops", "from npu_bridge.hccl import hccl_ops"),
        ("NPURunConfig", "from npu_bridge.estimator.npu.npu_config import NPURunConfig"),
        (
            "ExperimentalConfig",
            "from npu_bridge.estimator.npu.npu_config import ExperimentalConfig",
        ),
        ("DynamicRNN", "from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN"),
        ("npu_convert_dropout", "from npu_bridge.estimator.npu import npu_convert_dropout"),
        ("npu_unary_ops", "from npu_bridge.estimator.npu_unary_ops import npu_unary_ops"),
        ("keep_dtype_scope", "from npu_bridge.estimator.npu.npu_scope import keep_dtype_scope"),
        ("get_rank_id", "from hccl.manage.api import get_rank_id"),
        (
            "RewriterConfig",
            "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig",
        ),
        ("tf", "import tensorflow as tf"),
    ],
)
def test_a_name_has_its_import(name: str, statement: str) -> None:
    assert import_for(name) == statement


@pytest.mark.parametrize("name", ["disable_scope", "numpy", "allreduce", "reduce"])
def test_foreign_and_ambiguous_names_have_none(name: str) -> None:
    assert import_for(name) is None


def test_an_ambiguous_name_tells_its_modules() -> None:
    assert modules_with("allreduce") == (
        "npu_bridge.estimator.npu.npu_optimizer",
        "npu_bridge.hccl.hccl_ops",
    )


@pytest.mark.parametrize("name", ["ExperimentalConfig", "DynamicRNN", "npu_convert_dropout"])
def test_what_the_star_import_lacks_is_known_to_lack(name: str) -> None:
    assert name not in star_names()


def test_every_star_name_of_the_adapter_is_public_where_it_comes_from() -> None:
    for name, statement in star_names().items():
        home = statement.removeprefix("from ").partition(" ")[0]
        if home in modules():
            assert name in modules()[home]

"""`RewriterConfig` is imported from where it is."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "rewriter_config_home"


@pytest.mark.parametrize("alias", ["", " as R"])
def test_the_import_is_put_right(alias: str) -> None:
    told = check_migrated(
        f"from tensorflow.core.protobuf.config_pb2 import RewriterConfig{alias}\n",
        f"from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig{alias}\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.core.protobuf.config_pb2 import ConfigProto, RewriterConfig",
        "from tensorflow.core.protobuf import config_pb2\nx = config_pb2.RewriterConfig.OFF",
    ],
)
def test_other_forms_are_told(text: str) -> None:
    assert outcomes(check_unchanged(f"{text}\n", RULE)) == [Outcome.BY_HAND]


def test_what_is_right_or_not_tensorflows_stays() -> None:
    text = """\
        from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
        from mine.config_pb2 import RewriterConfig as Other
        """
    assert check_unchanged(text, RULE) == []

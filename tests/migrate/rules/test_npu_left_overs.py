"""What earlier migrations left behind is cleared away, or told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_project, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "npu_left_overs"
STAR = "from npu_bridge.npu_init import *\n"


def test_sessions_of_other_libraries_lose_the_configuration() -> None:
    told = check_migrated(
        f"{STAR}import requests\nfrom requests import Session as S\n"
        "a = requests.Session(config=npu_config_proto())\nb = S(config=npu_config_proto())\n",
        f"{STAR}import requests\nfrom requests import Session as S\n"
        "a = requests.Session()\nb = S()\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.CHANGED, Outcome.CHANGED]
    assert "take the import out" in told[0].message


def test_a_bare_none_is_taken_out() -> None:
    told = check_migrated(
        f"{STAR}import tensorflow as tf\ntry:\n    None\nexcept ImportError:\n    pass\nNone\n",
        f"{STAR}import tensorflow as tf\ntry:\n    pass\nexcept ImportError:\n    pass\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED, Outcome.CHANGED]


def test_an_import_that_is_missed_is_told() -> None:
    told = check_unchanged(f"{STAR}import tensorflow as tf\nNone\nprint(hvd.rank())\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`hvd` is still used" in told[0].message


def test_none_elsewhere_is_not_ours() -> None:
    assert check_unchanged("import tensorflow as tf\nNone\n", RULE) == []


def test_shutdown_behind_the_end_is_told() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import *
        if __name__ == "__main__":
            sess, shutdown = init_resource()
            tf.app.run()
            shutdown_resource(sess, shutdown)
            close_session(sess)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "never runs" in told[0].message


def test_a_star_without_use_is_told() -> None:
    told = check_unchanged(f"{STAR}from setuptools import setup\nsetup(name='x')\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert told[0].finding.concern is Concern.TIDY


@pytest.mark.parametrize(
    "line",
    ["import tensorflow as tf\nx = tf.constant(1)", "print(os.name)", "init_resource()"],
)
def test_a_star_with_use_is_not_told(line: str) -> None:
    assert check_unchanged(f"{STAR}{line}\n", RULE) == []


def test_ranks_without_a_start_are_told_by_lint() -> None:
    files = {"a.py": f"{STAR}a = get_npu_rank_id()\n", "b.py": f"{STAR}b = get_rank_size()\n"}
    told = check_project(files, {}, RULE, Options(lint=True))
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`init_resource()`" in told[0].message
    files["main.py"] = f"{STAR}session, shutdown = init_resource()\n"
    assert check_project(files, {}, RULE, Options(lint=True)) == []

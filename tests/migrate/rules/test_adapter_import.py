"""Where sessions are patched, the files that open them import the adapter."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, migrate, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "adapter_import"
PATCHED = Options(adapter="patched")


@pytest.mark.parametrize(
    "use",
    [
        "s = tf.compat.v1.Session(config=c)",
        "tf.contrib.slim.learning.train(op, d)",
        "with tf.train.MonitoredSession() as s: pass",
        "run(session_factory=tf.Session)",
        "def f(sv):\n    sv.managed_session()",
    ],
)
def test_a_file_with_sessions_imports_the_adapter_once(use: str) -> None:
    told = check_migrated(
        f"import tensorflow as tf\n{use}\nt = tf.Session()\n",
        f"import tensorflow as tf\nfrom npu_bridge import npu_init\n{use}\nt = tf.Session()\n",
        RULE,
        PATCHED,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_none_is_passed_by_name() -> None:
    told = check_migrated(
        "from npu_bridge import npu_init\nfrom tensorflow import Session as S\n"
        "s = S('', None, None)\n",
        "from npu_bridge import npu_init\nfrom tensorflow import Session as S\n"
        "s = S('', None, config=None)\n",
        RULE,
        PATCHED,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "line",
    [
        "from npu_bridge.npu_init import *",
        "from npu_bridge.npu_init import npu_config_proto",
        "import npu_bridge.npu_init",
        "from npu_bridge import npu_init as adapter",
    ],
)
def test_every_import_of_the_adapter_counts(line: str) -> None:
    text = f"import tensorflow as tf\n{line}\ns = tf.Session()\n"
    assert check_unchanged(text, RULE, PATCHED) == []


def test_a_name_that_is_taken_is_left_to_the_user() -> None:
    text = "import tensorflow as tf\ndef npu_init(): pass\ns = tf.Session()\n"
    assert outcomes(check_unchanged(text, RULE, PATCHED)) == [Outcome.BY_HAND]


def test_explicit_sessions_need_no_patch() -> None:
    assert check_unchanged("import tensorflow as tf\ns = tf.Session('', None, None)\n", RULE) == []


def test_files_without_sessions_of_tensorflow_are_not_ours() -> None:
    text = "import requests\nimport tensorflow as tf\ns = requests.Session()\nx = tf.ones(1)\n"
    assert check_unchanged(text, RULE, PATCHED) == []


def test_tests_and_scripts_for_samples_stay_on_the_host() -> None:
    files = {
        "net_test.py": "import tensorflow as tf\nimport unittest\ns = tf.Session()\n",
        "convert.py": "import tensorflow as tf\ns = tf.Session()\ntf.image.decode_png(b)\n",
    }
    assert migrate(files, RULE, PATCHED).after == {}

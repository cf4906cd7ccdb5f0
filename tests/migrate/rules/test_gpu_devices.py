"""What depends on GPUs that are found is told; what fails without them goes."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.rule import Outcome

RULE = "gpu_devices"
LISTED = "gpus = tf.config.experimental.list_physical_devices('GPU')\n"


@pytest.mark.parametrize(
    "setting",
    [
        "tf.config.experimental.set_memory_growth(gpus[0], True)",
        "tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], 'GPU')",
        "tf.config.experimental.set_virtual_device_configuration(\n    gpus[0],\n"
        "    [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=1024)])",
    ],
)
def test_settings_of_one_gpu_go(setting: str) -> None:
    told = check_migrated(
        f"import tensorflow as tf\n{setting}\nx = 1\n", "import tensorflow as tf\nx = 1\n", RULE
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_setting_that_is_used_is_told() -> None:
    text = "import tensorflow as tf\nx = tf.config.experimental.set_memory_growth(gpus[0], True)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        f"{LISTED}for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)",
        f"{LISTED}if gpus:\n    try:\n        for gpu in gpus:\n"
        "            tf.config.experimental.set_memory_growth(gpu, True)\n"
        "        l = tf.config.experimental.list_logical_devices('GPU')\n"
        "        print(len(gpus), len(l))\n    except RuntimeError as e:\n        print(e)",
        "cpus = tf.config.experimental.list_physical_devices('CPU')\nn = len(cpus)",
        "print(tf.test.is_gpu_available())",
        "if tf.test.is_gpu_available() and x == 'NHWC':\n    tf.logging.info('slow')",
        "mine.list_local_devices()",
    ],
)
def test_what_does_nothing_without_gpus_stays(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{text}\n", RULE) == []


@pytest.mark.parametrize(
    "text",
    [
        f"{LISTED}n = len(gpus)",
        f"{LISTED}assert gpus",
        f"{LISTED}if not gpus:\n    raise SystemExit",
        "from tensorflow.python.client import device_lib\ndef gpus():\n"
        "    found = device_lib.list_local_devices()\n"
        "    return [x.name for x in found if x.device_type == 'GPU']",
        "n = 1 if tf.test.is_gpu_available() else 0",
        "from tensorflow.compat.v1 import test as t\ndevice = t.gpu_device_name() or '/cpu:0'",
    ],
)
def test_decisions_are_told(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_unit_tests_are_not_told() -> None:
    text = (
        "import tensorflow as tf\nclass ATest(tf.test.TestCase):\n    def test(self):\n"
        "        if tf.test.is_gpu_available():\n            self.x = 1\n"
    )
    assert findings(migrate({"a_test.py": text}, RULE)) == []

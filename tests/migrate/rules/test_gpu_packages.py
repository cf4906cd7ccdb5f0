"""Packages that need a GPU are told with what to use instead."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_project, check_unchanged
from trainferry.migrate.rule import Outcome

RULE = "gpu_packages"


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("import cupy as cp\n", "cupy"),
        ("from cupyx.scipy import ndimage\n", "cupyx"),
        ("import os, pynvml\n", "pynvml"),
        ("from py3nvml.py3nvml import *\n", "py3nvml"),
        ("import nvidia.dali.plugin.tf as dali_tf\n", "nvidia.dali"),
        ("from nvidia.dali.pipeline import Pipeline\n", "nvidia.dali"),
        ("from nvidia import dali\n", "nvidia.dali"),
        ("def f():\n    import GPUtil\n", "GPUtil"),
        ("import tensorflow.contrib.tensorrt as trt\n", "tensorflow.contrib.tensorrt"),
        ("from tensorflow.contrib import tensorrt as trt\n", "tensorflow.contrib.tensorrt"),
        ("from numba import cuda\n", "numba.cuda"),
    ],
)
def test_a_gpu_package_is_told(text: str, package: str) -> None:
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert told.message.startswith(f"`{package}` needs a GPU: ")


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import cupy\nexcept ImportError:\n    cupy = None\n",
        "import cupyfoo\n",
        "from .cupy import array\n",
        "from numba import jit\n",
        "from tensorflow.contrib import slim\n",
        "import nvidia\n",
    ],
)
def test_others_are_not_told(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_a_module_of_the_project_is_not_ours() -> None:
    files = {"program.py": "import tensorrt\n", "tensorrt.py": ""}
    assert check_project(files, {}, RULE) == []


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.python.ops import nccl_ops as n\na = n.all_sum(g)\nb = n.all_sum(h)\n",
        "from tensorflow.contrib import nccl\na = nccl.all_sum(g)\n",
        "try:\n    from tensorflow.python.ops import nccl_ops\n"
        "except ImportError:\n    import tensorflow.contrib.nccl as nccl_ops\n"
        "a = nccl_ops.all_sum(g)\n",
    ],
)
def test_nccl_of_tensorflow_is_told_once_per_file(text: str) -> None:
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert "npu_distributed_optimizer_wrapper" in told.message


def test_another_nccl_is_not_ours() -> None:
    text = "from tensorflow.contrib.nccl.python.ops import nccl_ops\nnccl_ops._load_library()\n"
    assert check_unchanged(text, RULE) == []
    assert check_unchanged("from mine import nccl_ops\nnccl_ops.all_sum(g)\n", RULE) == []

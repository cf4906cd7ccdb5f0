"""What holds for all device programs."""

from __future__ import annotations

import importlib
import os

import pytest

from trainferry.train.kernels import programs

FUSION = "TRITON_DEFAULT_FP_FUSION"


def test_products_are_added_up_unrounded_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(FUSION, "0")
    importlib.reload(programs)
    assert os.environ[FUSION] == "0"
    monkeypatch.delenv(FUSION)
    importlib.reload(programs)
    assert os.environ[FUSION] == "1"

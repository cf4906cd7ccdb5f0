"""Fixtures of the tests of training and what comes after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.run_folder import make_run


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with one checkpoint of a very small CRNN; tests only read it."""
    return make_run(tmp_path_factory.mktemp("run") / "tiny")

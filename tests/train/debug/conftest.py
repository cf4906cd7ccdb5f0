"""Data for the runs that are debugged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.photo_data import make_photo_data
from tests.train.word_data import make_word_data


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"), train=24, val=0)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"))

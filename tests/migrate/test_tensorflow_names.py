"""Which names TensorFlow 1.15 has."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from trainferry.migrate.tensorflow_names import missing_part, moved_to, moves


@pytest.mark.parametrize(("old", "new"), moves().items())
def test_a_move_leads_from_a_missing_name_to_one_that_is_there(old: str, new: str) -> None:
    assert missing_part(old) == old
    assert missing_part(new) is None
    assert moved_to(old) == new


def test_the_shortest_missing_part_is_given() -> None:
    assert missing_part("tf.contrib.gan.features.gan_model") == "tf.contrib.gan"


def test_every_name_of_the_table_of_support_is_there() -> None:
    text = resources.files("trainferry.migrate").joinpath("support.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    names = [row["name"].removesuffix(".*") for row in rows]
    assert [name for name in names if name.startswith("tf.") and missing_part(name)] == []

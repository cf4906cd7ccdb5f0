"""Names of streets: French, of every kind, and different in every split."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from trainferry.errors import DataError
from trainferry.train.data.render.signs import naming
from trainferry.train.data.render.signs.streets import (
    SPLITS,
    Streets,
    parse_street,
    part_of,
    read_streets,
)
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.signs.charset import fsns_charset


def draw(split: str, count: int) -> list[str]:
    streets = Streets(split)
    return [streets.draw(Dice(0, split, index)).text for index in range(count)]


def test_names_are_many_and_can_be_written_with_the_codes_of_fsns() -> None:
    texts = draw("train", 3000)
    charset = fsns_charset()
    assert len(set(texts)) > 2600
    assert max(map(len, texts)) <= 37
    assert not charset.unknown("".join(texts))
    assert sum(text.startswith("Rue ") for text in texts) > 1300


def test_the_lists_of_names_are_read_once_for_each_way_to_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[str] = []
    loads = tomllib.loads

    def count(text: str) -> dict[str, Any]:
        reads.append(text)
        return loads(text)

    monkeypatch.setattr(tomllib, "loads", count)
    naming._material.cache_clear()
    for index in range(4):
        naming.draw_street(Dice(0, "train", index), widely=index % 2 == 0)
        naming.draw_town(Dice(0, "train", index))
        naming.street_types()
    assert len(reads) == 2


def test_no_name_occurs_in_two_splits() -> None:
    drawn = {split: set(draw(split, 400)) for split in SPLITS}
    assert not drawn["train"] & drawn["val"]
    assert not drawn["train"] & drawn["test"]
    assert not drawn["val"] & drawn["test"]


def test_accents_and_case_do_not_move_a_name_to_another_split() -> None:
    assert part_of("Rue de l'École") == part_of("RUE DE L'ECOLE")


def test_names_for_training_have_rare_letters_figures_and_many_beginnings() -> None:
    texts = draw("train", 2000)
    letters = Counter("".join(texts).lower())
    for rare in "kwxyzëïü0123456789":
        assert letters[rare] > 5, rare
    free, composed = (
        {word[:4] for text in drawn for word in text.split()}
        for drawn in (texts, draw("val", 2000))
    )
    assert len(free) > 1.2 * len(composed)


def test_invented_words_are_told_from_listed_ones() -> None:
    streets = Streets("train")
    drawn = [streets.draw(Dice(3, "train", index)) for index in range(600)]
    invented = {word.text for street in drawn for word in street.words if word.invented}
    listed = {word.text for street in drawn for word in street.words if not word.invented}
    assert len(invented) > 200
    assert len(invented & listed) < 10
    assert {"Rue", "de", "Avenue", "des"} <= listed
    assert not any(word.invented for word in parse_street("Rue de Zblrk").words)


def test_links_follow_the_article_of_the_noun() -> None:
    text = "\n".join(draw("train", 4000))
    for shape in (" du ", " des ", " de la ", " de l'", " d'"):
        assert shape in text
    for wrong in (" de le ", " de les ", "l' ", "d' ", " de la A", " de E"):
        assert wrong not in text


def test_a_written_name_is_told_apart_into_type_links_and_name() -> None:
    street = parse_street("Rue de l\u2019Aurore")
    assert [(word.text, word.role) for word in street.words] == [
        ("Rue", "type"),
        ("de", "link"),
        ("l'", "link"),
        ("Aurore", "name"),
    ]
    assert street.text == "Rue de l'Aurore"


def test_own_names_are_read_and_the_unusable_counted(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    names = [f"Rue Numéro {number}" for number in range(40)]
    path.write_text("\n".join([*names, "Rue 漢字", "Rue " + "a" * 40, ""]), encoding="utf-8")
    read = read_streets(path, fsns_charset())
    assert len(read.streets) == 40
    assert read.left_out == {"unknown character": 1, "too long": 1}
    drawn = {
        split: {Streets(split, read.streets).draw(Dice(0, split, i)).text for i in range(80)}
        for split in ("train", "val")
    }
    assert drawn["train"] | drawn["val"] <= set(names)
    assert not drawn["train"] & drawn["val"]


def test_a_list_without_names_for_a_split_is_told(tmp_path: Path) -> None:
    street = parse_street("Rue de Paris")
    other = next(split for split, parts in SPLITS.items() if part_of(street.text) not in parts)
    with pytest.raises(DataError, match="none of the 1 names belongs to the split"):
        Streets(other, [street])
    path = tmp_path / "names.txt"
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="no usable name"):
        read_streets(path, fsns_charset())
    with pytest.raises(DataError, match="cannot read"):
        read_streets(tmp_path / "none.txt", fsns_charset())
    path.write_bytes(b"\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_streets(path, fsns_charset())


def test_no_single_name_weighs_much_in_a_held_out_split() -> None:
    commonest = Counter(draw("val", 1500)).most_common(1)[0][1]
    assert commonest < 12
    assert {"Grande Rue", "Grand Rue"} <= set(draw("train", 3000))

"""Characters and class numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainferry.errors import DataError
from trainferry.train.data.words.alphabet import (
    LATIN36,
    LATIN36_UPSTREAM,
    LATIN36_ZOO,
    Alphabet,
    read_alphabet,
    write_alphabet,
)


@given(st.text(alphabet=LATIN36))
def test_what_is_encoded_is_decoded(text: str) -> None:
    alphabet = Alphabet(LATIN36)
    assert alphabet.decode(alphabet.encode(text)) == text


def test_the_blank_is_the_last_class() -> None:
    alphabet = Alphabet("abc")
    assert (alphabet.classes, alphabet.blank) == (4, 3)
    assert alphabet.decode([0, 3, 2, 3]) == "ac"


def test_unknown_characters_are_named() -> None:
    with pytest.raises(DataError, match="not in the alphabet: '!é'"):
        Alphabet("abc").encode("aé!b")


@pytest.mark.parametrize("number", [-1, 4])
def test_a_class_outside_is_refused(number: int) -> None:
    with pytest.raises(DataError, match=f"class {number}"):
        Alphabet("abc").decode([number])


@pytest.mark.parametrize("characters", ["", "abca"])
def test_an_alphabet_names_every_character_once(characters: str) -> None:
    with pytest.raises(DataError):
        Alphabet(characters)


def test_alphabets_differ_by_their_order() -> None:
    assert Alphabet("ab") == Alphabet("ab")
    assert Alphabet("ab") != Alphabet("ba")
    assert len({Alphabet("ab"), Alphabet("ab"), Alphabet("ba")}) == 2


@pytest.mark.parametrize("published", [LATIN36_UPSTREAM, LATIN36_ZOO])
def test_the_published_orders_have_the_same_characters(published: str) -> None:
    assert sorted(published) == list(LATIN36)


@pytest.mark.parametrize("characters", [LATIN36_UPSTREAM, "中文字母è"])
def test_the_order_survives_the_files(tmp_path: Path, characters: str) -> None:
    write_alphabet(Alphabet(characters), tmp_path / "char_dict")
    assert read_alphabet(tmp_path).characters == characters
    assert read_alphabet(tmp_path / "char_dict" / "ord_map.json").characters == characters
    assert read_alphabet(tmp_path / "char_dict" / "char_dict.json").characters == characters


def test_the_files_are_those_of_the_originals(tmp_path: Path) -> None:
    write_alphabet(Alphabet("ba"), tmp_path)
    order = json.loads((tmp_path / "ord_map.json").read_text())
    assert order == {"0_index": "98", "1_index": "97", "97_ord": "1", "98_ord": "0"}
    names = json.loads((tmp_path / "char_dict.json").read_text())
    assert names == {"97_ord": "a", "98_ord": "b"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "without a gap"),
        ('{"0_index": "97", "2_index": "98"}', "without a gap"),
        ('{"0_index": "97", "1_index": "97"}', "two class numbers"),
        ('{"0_index": "many"}', "no number"),
        ('{"0_index": "99999999999"}', "no number"),
        ('{"0_index": "97", "97_ord": "5"}', "the other"),
    ],
)
def test_a_malformed_map_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "ord_map.json").write_text(content)
    with pytest.raises(DataError, match=message):
        read_alphabet(tmp_path)


def test_a_char_dict_of_other_characters_is_refused(tmp_path: Path) -> None:
    write_alphabet(Alphabet("ab"), tmp_path)
    (tmp_path / "char_dict.json").write_text('{"97_ord": "a"}')
    with pytest.raises(DataError, match="differ in 'b'"):
        read_alphabet(tmp_path)


def test_a_folder_without_a_map_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no ord_map\.json"):
        read_alphabet(tmp_path)


def test_a_map_saved_with_a_mark_at_its_start_is_read(tmp_path: Path) -> None:
    (tmp_path / "ord_map.json").write_text('{"0_index": "97"}', encoding="utf-8-sig")
    assert read_alphabet(tmp_path).characters == "a"


@pytest.mark.parametrize("content", ['{"0_index": "55296"}', "[" * 100_000])
def test_no_map_ends_in_another_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "ord_map.json").write_text(content)
    with pytest.raises(DataError, match="no dictionary of classes"):
        read_alphabet(tmp_path)

"""What is written on the pictures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trainferry.errors import DataError
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import FONT_ENDINGS
from trainferry.train.data.render.words.lexicon import (
    LONGEST,
    LONGEST_LINE,
    Lexicon,
    Lines,
    Text,
    read_words,
)


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    lexicon = Lexicon()
    return [lexicon.draw(Dice(0, "train", index)) for index in range(4000)]


def test_labels_are_the_letters_and_digits_drawn(texts: list[Text]) -> None:
    for text in texts:
        assert text.label == "".join(c for c in text.drawn if c.isalnum())
        assert 1 <= len(text.label) <= LONGEST
        assert text.label.isascii()


def test_lengths_are_those_of_signs(texts: list[Text]) -> None:
    lengths = [len(text.label) for text in texts]
    assert 5.3 < sum(lengths) / len(lengths) < 6.5
    assert min(lengths) == 1
    assert max(lengths) > 14


def test_words_in_other_scripts_get_no_english_ending() -> None:
    lexicon = Lexicon(("北京大学", "Straße"))
    texts = [lexicon.draw(Dice(0, "train", index)) for index in range(1000)]
    assert {text.label for text in texts if text.label[0] == "北"} == {"北京大学"}
    assert any(text.drawn == "北京大学." for text in texts)
    assert any(text.drawn.lower().endswith("e's") for text in texts)


def test_capitals_are_most_frequent(texts: list[Text]) -> None:
    upper = sum(text.label.isupper() for text in texts) / len(texts)
    lower = sum(text.label.islower() for text in texts) / len(texts)
    assert 0.45 < upper < 0.62
    assert 0.12 < lower < 0.25


def test_every_character_of_the_alphabet_is_written(texts: list[Text]) -> None:
    seen = Counter("".join(text.label.lower() for text in texts))
    assert set(seen) == set("0123456789abcdefghijklmnopqrstuvwxyz")
    assert min(seen.values()) > 20


def test_some_words_are_drawn_with_signs_that_the_label_leaves_out(texts: list[Text]) -> None:
    assert 0.05 < sum(text.drawn != text.label for text in texts) / len(texts) < 0.25


def test_unusable_words_of_the_user_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("harbour\n\n!!!\n" + "x" * 24 + "\n漢字\nquay\n", encoding="utf-8")
    read = read_words(path, str.isascii)
    assert read.words == ("harbour", "quay")
    assert read.left_out == {
        "too long": 1,
        "no letter or digit": 1,
        "no font has its characters": 1,
    }


def test_a_word_file_without_usable_words_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("---\n", encoding="utf-8")
    with pytest.raises(DataError, match="1 no letter or digit") as caught:
        read_words(path, str.isascii)
    assert "--fonts" not in str(caught.value.hint)


def test_words_that_no_font_has_need_another_font(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("渡口\n码头\n", encoding="utf-8")
    with pytest.raises(DataError, match="2 no font has its characters") as caught:
        read_words(path, str.isascii)
    assert "pass --fonts FOLDER with a font that has these characters" in str(caught.value.hint)
    assert all(ending in str(caught.value.hint) for ending in FONT_ENDINGS)


def test_a_word_file_in_another_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("café\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        read_words(path, str.isascii)


def test_a_missing_word_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read the words"):
        read_words(tmp_path / "none.txt", str.isascii)


def test_a_mark_at_the_start_of_a_word_file_is_no_letter(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("ferry\r\n", encoding="utf-8-sig")
    assert read_words(path, lambda _: True).words == ("ferry",)


def test_accents_written_as_signs_of_their_own_stay_in_the_label(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("cafe\u0301\n", encoding="utf-8")
    assert read_words(path, lambda _: True).words == ("caf\u00e9",)


def test_white_space_that_no_font_has_is_drawn_as_a_space(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("渡口\u3000码头\nno\u00a0 parking\n", encoding="utf-8")
    read = read_words(path, lambda text: text.isalpha())
    assert read.words == ("渡口 码头", "no parking")


def test_lines_may_be_longer_than_words_and_hold_signs_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text(f"……\n{'渡' * LONGEST_LINE}\n{'渡' * (LONGEST_LINE + 1)}\n", encoding="utf-8")
    read = read_words(path, lambda _: True, whole=True)
    assert read.words == ("……", "渡" * LONGEST_LINE)
    assert read.left_out["too long"] == 1


def test_lines_are_drawn_and_labelled_as_they_are_written() -> None:
    lines = ("你好，世界！", "iPhone 手机", "（免费）停车")
    drawn = {Lines(lines).draw(Dice(0, "lines", index)) for index in range(200)}
    assert drawn == {Text(line, line) for line in lines}

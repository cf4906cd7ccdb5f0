"""Tables of scores: aligned, in every script, with what a reader looks for."""

from __future__ import annotations

from typing import Any

from trainferry.cli.evaluate_classes import class_averages, class_table, confused_classes
from trainferry.cli.evaluate_table import photo_table, word_table
from trainferry.cli.evaluate_texts import (
    confused_characters,
    text_mistakes,
    worst_characters,
    worst_words,
)

PHOTOS = {
    "step": 1200,
    "epoch": 3.5,
    "top1": 0.76531,
    "top5": 0.93,
    "macro_f1": 0.70004,
    "loss": 1.23456,
    "samples": 50000.0,
    "saved": "2024-05-06 07:08:09",
}
WORDS = {
    "step": 70,
    "epoch": None,
    "sequence_accuracy": 0.5,
    "character_accuracy": 0.75,
    "edit_similarity": 0.8,
    "loss": 2.0,
    "samples": 12.0,
    "left_out": 3.0,
    "saved": None,
}


def one_class(
    label: int, name: str, samples: int, right: int, taken: str | None, named: int = 0
) -> dict[str, Any]:
    return {
        "label": label,
        "name": name,
        "samples": samples,
        "named": named,
        "right": right,
        "precision": right / named if named else None,
        "recall": right / samples if samples else None,
        "f1": 2 * right / (samples + named) if samples + named else None,
        "taken_for": taken,
        "times": samples - right,
    }


CLASSES: dict[str, Any] = {
    "classes": [
        one_class(0, "background", 0, 0, None),
        one_class(1, "tench", 4, 3, "降落伞", named=9),
        one_class(2, "降落伞", 10, 10, None, named=11),
        one_class(3, "a very long name of a thing that hardly anyone has seen", 8, 0, "tench"),
        one_class(4, "golf ball", 0, 0, None, named=2),
    ],
    "top1": 13 / 22,
    "macro_precision": 0.5,
    "macro_recall": 0.25,
    "macro_f1": 1 / 3,
    "weighted_precision": 0.75,
    "weighted_f1": 2 / 3,
    "confused": [
        {"truth": "a thing", "read": "tench", "times": 6, "truth_label": 3, "read_label": 1},
        {"truth": "tench", "read": "降落伞", "times": 1, "truth_label": 1, "read_label": 2},
    ],
}


def test_checkpoints_of_photographs_have_the_columns_of_the_originals_and_one_more() -> None:
    head, row = photo_table([PHOTOS])
    names = ["step", "epoch", "top-1", "top-5", "macro", "F1", "loss", "samples", "saved"]
    assert head.split() == names
    shown = "1200 3.50 76.53% 93.00% 70.00% 1.2346 50000 2024-05-06 07:08:09"
    assert " ".join(row.split()) == shown
    assert head.index("top-1") + len("top-1") == row.index("76.53%") + len("76.53%")


def test_checkpoints_of_words_have_their_own_columns() -> None:
    head, row = word_table([WORDS])
    assert head.split()[:6] == ["step", "epoch", "sequence", "character", "edit", "loss"]
    assert " ".join(row.split()) == "70 - 50.00% 75.00% 80.00% 2.0000 12 3 -"


def test_every_class_with_samples_has_a_line() -> None:
    head, *rows = class_table(CLASSES)
    assert " ".join(head.split()[:8]) == "label class samples named right precision recall F1"
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert rows[0].split()[2:8] == ["4", "9", "3", "33.3%", "75.0%", "46.2%"]
    assert rows[0].endswith("降落伞 (1)")
    assert rows[1].endswith("-")
    assert "a very long name of a thing tha…" in rows[2]


def test_a_class_that_was_never_named_has_no_precision() -> None:
    assert class_table(CLASSES)[3].split()[-6:-2] == ["0", "-", "0.0%", "0.0%"]


def test_averages_tell_what_is_not_in_them() -> None:
    head, macro, weighted, never, without = class_averages(CLASSES)
    assert head.split() == ["average", "precision", "recall", "F1"]
    assert " ".join(macro.split()) == "macro every class counts alike 50.0% 25.0% 33.3%"
    assert " ".join(weighted.split()) == "weighted by its samples 75.0% 59.1% 66.7%"
    assert never == (
        "never named, which averages take for a precision of 0: "
        "1 of the classes (a very long name of a thing tha…)"
    )
    assert without == "without samples, in no average: 1 of the classes (golf ball), named 2 times"


def test_averages_of_all_classes_need_no_words() -> None:
    complete = [each for each in CLASSES["classes"] if each["named"] and each["samples"]]
    assert len(class_averages({**CLASSES, "classes": complete})) == 3


def test_of_many_absent_classes_a_few_are_named() -> None:
    classes = [one_class(number, f"class {number}", 0, 0, None) for number in range(1, 1001)]
    note = class_averages({**CLASSES, "classes": classes})[-1]
    assert "1000 of the classes (class 1, class 2, class 3, class 4, class 5, …)" in note


def test_wide_characters_keep_columns_straight() -> None:
    _, latin, wide, _ = class_table(CLASSES)
    # Three characters take six columns.
    assert wide.index("10") + 3 + len("10") == latin.index(" 4") + len(" 4")


def test_names_cannot_move_the_cursor() -> None:
    row = {"classes": [one_class(1, "a\x1b[31m\nb", 1, 1, None)], "confused": []}
    assert "a?[31m?b" in class_table(row)[1]


def test_confused_pairs_tell_of_how_many() -> None:
    head, first, second = confused_classes(CLASSES)
    assert head.split()[:2] == ["times", "of"]
    assert first.split() == ["6", "8", "a", "thing", "tench"]
    assert second.split() == ["1", "4", "tench", "降落伞"]


def test_only_the_worst_pairs_are_shown() -> None:
    row = {**CLASSES, "confused": CLASSES["confused"] * 20}
    assert len(confused_classes(row)) == 11


def character(name: str, written: int, read: int, right: int) -> dict[str, Any]:
    row = one_class(0, name, written, right, None, named=read)
    return {"character": name, **row}


TEXTS: dict[str, Any] = {
    "confused": [
        {"truth": "o", "read": "0", "times": 3},
        {"truth": "", "read": "i", "times": 1},
        {"truth": " ", "read": "", "times": 1},
        {"truth": "é", "read": "\u0301", "times": 1},
        {"truth": "\u00a0", "read": "\x1b", "times": 1},
    ],
    "characters": [
        character("0", 0, 3, 0),
        character("o", 4, 1, 1),
        character(" ", 2, 1, 1),
        character("a", 7, 7, 7),
    ],
    "worst": [{"truth": "boat", "read": ""}, {"truth": "x" * 60, "read": "a\x1b[31m"}],
}


def test_confused_characters_tell_of_how_many() -> None:
    head, *rows = confused_characters(TEXTS)
    assert head.split() == ["times", "of", "this", "character", "was", "read", "as"]
    assert [row.split() for row in rows] == [
        ["3", "4", "o", "0"],
        ["1", "-", "(nothing)", "i"],
        ["1", "2", "(space)", "(nothing)"],
        ["1", "-", "é", "U+0301"],
        ["1", "-", "U+00A0", "U+001B"],
    ]


def test_only_the_commonest_confusions_are_shown() -> None:
    assert len(confused_characters({**TEXTS, "confused": TEXTS["confused"] * 20})) == 11


def test_worst_characters_are_those_that_were_ever_wrong() -> None:
    head, *rows = worst_characters(TEXTS)
    assert " ".join(head.split()) == "worst characters written read right precision recall F1"
    assert [row.split()[0] for row in rows] == ["0", "o", "(space)"]
    assert rows[0].split()[1:] == ["0", "3", "0", "0.0%", "-", "0.0%"]
    assert rows[1].split()[1:] == ["4", "1", "1", "100.0%", "25.0%", "40.0%"]


def test_worst_words_cannot_move_the_cursor_or_fill_the_line() -> None:
    _, first, second = worst_words(TEXTS)
    assert first.split() == ["boat", "(nothing)"]
    assert second.split() == ["x" * 47 + "…", "a?[31m"]


def test_mistakes_of_texts_are_three_tables() -> None:
    assert text_mistakes(TEXTS).count("") == 3

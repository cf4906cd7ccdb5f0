"""Tables of scores: aligned, in every script, with what a reader looks for."""

from __future__ import annotations

from typing import Any

from trainferry.cli.evaluate_table import (
    class_table,
    confused_classes,
    photo_table,
    word_mistakes,
    word_table,
)

PHOTOS = {
    "step": 1200,
    "epoch": 3.5,
    "top1": 0.76531,
    "top5": 0.93,
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


def one_class(label: int, name: str, samples: int, right: int, taken: str | None) -> dict[str, Any]:
    return {
        "label": label,
        "name": name,
        "samples": samples,
        "right": right,
        "top1": right / samples if samples else None,
        "taken_for": taken,
        "times": samples - right,
    }


CLASSES = {
    "classes": [
        one_class(0, "background", 0, 0, None),
        one_class(1, "tench", 4, 3, "降落伞"),
        one_class(2, "降落伞", 10, 10, None),
        one_class(3, "a very long name of a thing that hardly anyone has seen", 8, 2, "tench"),
        one_class(4, "golf ball", 0, 0, None),
    ],
    "confused": [
        {"truth": "a thing", "read": "tench", "times": 6, "truth_label": 3, "read_label": 1},
        {"truth": "tench", "read": "降落伞", "times": 1, "truth_label": 1, "read_label": 2},
    ],
}


def test_checkpoints_of_photographs_have_the_columns_of_the_originals() -> None:
    head, row = photo_table([PHOTOS])
    assert head.split() == ["step", "epoch", "top-1", "top-5", "loss", "samples", "saved"]
    shown = "1200 3.50 76.53% 93.00% 1.2346 50000 2024-05-06 07:08:09"
    assert " ".join(row.split()) == shown
    assert head.index("top-1") + len("top-1") == row.index("76.53%") + len("76.53%")


def test_checkpoints_of_words_have_their_own_columns() -> None:
    head, row = word_table([WORDS])
    assert head.split()[:6] == ["step", "epoch", "sequence", "character", "edit", "loss"]
    assert " ".join(row.split()) == "70 - 50.00% 75.00% 80.00% 2.0000 12 3 -"


def test_every_class_with_samples_has_a_line() -> None:
    head, *rows, note = class_table(CLASSES)
    assert head.split()[:5] == ["label", "class", "samples", "right", "top-1"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert rows[0].endswith("降落伞 (1)")
    assert rows[1].endswith("-")
    assert "75.0%" in rows[0]
    assert "a very long name of a thing tha…" in rows[2]
    assert note == "classes without a sample: 1"


def test_wide_characters_keep_columns_straight() -> None:
    _, latin, wide, _, _ = class_table(CLASSES)
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


def test_mistakes_of_words_are_told_in_two_lines() -> None:
    row = {
        "confused": [
            {"truth": "o", "read": "0", "times": 3},
            {"truth": "", "read": "i", "times": 1},
            {"truth": " ", "read": "", "times": 1},
        ],
        "worst": [{"truth": "boat", "read": ""}],
    }
    assert word_mistakes(row) == [
        "most often read wrong: o as 0 (3), nothing as i (1), space as nothing (1)",
        "worst words: boat as nothing",
    ]

"""What is kept and dropped before training, and why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.train.data.samples import encoded_word, open_words, write_words
from trainferry.errors import DataError
from trainferry.train.data.example import build_example
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words import check as module
from trainferry.train.data.words.alphabet import LATIN36, Alphabet, write_alphabet
from trainferry.train.data.words.check import WordCheck, check_words, require_enough
from trainferry.train.data.words.records import WordRecords


def test_every_record_is_kept_or_dropped_for_one_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(
        path,
        [
            encoded_word("Good"),
            encoded_word("much too long"[:10].replace(" ", "")),
            encoded_word("with space"),
            encoded_word(""),
            build_example({"image/encoded": b"no picture", "image/text": "bad"}),
            b"\xff no example",
            encoded_word("fine2"),
        ],
    )
    check = _check(open_words([path]), max_length=6, pictures=True)
    assert check.kept.tolist() == [0, 6]
    assert check.dropped == {
        "too_long": 1,
        "unknown_character": 1,
        "empty": 1,
        "unreadable_picture": 1,
        "corrupt_record": 1,
    }
    assert check.total == len(check.kept) + sum(check.dropped.values())
    example = check.examples["unknown_character"][0]
    assert (example.record, example.label) == ("a.tfrecords:2", "with space")
    assert "' '" in example.detail


@pytest.mark.parametrize(
    ("text", "columns", "fits"),
    [
        ("abcd", 4, True),
        ("abcd", 3, False),
        ("aabb", 6, True),
        ("aabb", 5, False),
        ("aa", 2, False),
    ],
)
def test_repeats_need_a_column_of_their_own(
    tmp_path: Path, text: str, columns: int, fits: bool
) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", [text])])
    check = _check(records, columns=columns)
    assert check.dropped["too_long"] == (0 if fits else 1)


def test_repeats_count_after_the_case_is_folded(tmp_path: Path) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["Aa"])
    assert _check(open_words([path]), columns=2).dropped["too_long"] == 1
    kept = _check(open_words([path], case="keep", alphabet="Aa"), columns=2)
    assert kept.dropped["too_long"] == 0


def test_without_pictures_bad_pictures_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecords"
    write_records(path, [build_example({"image/encoded": b"no picture", "image/text": "bad"})])
    assert _check(open_words([path])).kept.tolist() == [0]


def test_flipped_bits_and_cut_files_are_counted(tmp_path: Path) -> None:
    path = write_words(tmp_path / "a.tfrecords", ["one", "two", "three"])
    whole = bytearray(path.read_bytes())
    whole[40] ^= 1
    path.write_bytes(whole[:-5])
    check = _check(open_words([path]))
    assert check.kept.tolist() == [1]
    assert check.dropped["corrupt_record"] == 2
    assert "truncated" in check.summary()
    assert "does not match its checksum" in check.summary()


def test_label_statistics_tell_what_is_missing(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["ab", "b", "x!"])], alphabet="abx")
    check = _check(records)
    assert check.lengths == {2: 1, 1: 1}
    assert check.characters == {"a": 1, "b": 2}
    assert check.never_seen == "x"
    assert "1 to 2 characters" in check.summary()
    assert "never seen in a label: x" in check.summary()


def test_at_most_five_examples_are_kept(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["!"] * 9)])
    check = _check(records)
    assert check.dropped["unknown_character"] == 9
    assert len(check.examples["unknown_character"]) == 5


def test_examples_are_short_and_show_what_cannot_be_seen(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["x" * 400, "e\u0301"])])
    shown = _check(records).summary()
    assert "x" * 61 not in shown
    assert "…'  400 characters" in shown
    assert "'e\\u0301'  not in the alphabet: '\\u0301'" in shown


def test_capitals_that_no_label_can_have_are_told(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["AB", "!"])], alphabet="AB")
    first, second = _check(records).examples["unknown_character"]
    assert "task.case=keep" in first.detail
    assert "task.case=keep" not in second.detail


def test_the_result_is_json(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["one", "!"])])
    facts = json.loads(json.dumps(_check(records).to_json()))
    assert (facts["total"], facts["kept"]) == (2, 1)
    assert facts["examples"]["unknown_character"][0]["label"] == "!"


@pytest.mark.cluster
def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["word", "b!d", "", "aaaaaaaaaaaaaaaa"] * 30
    records = open_words([write_words(tmp_path / "a.tfrecords", texts)])
    monkeypatch.setattr(module, "_CHUNK", 17)
    told: list[tuple[int, int]] = []
    both = check_words(
        records,
        columns=25,
        max_length=23,
        pictures=False,
        processes=2,
        progress=lambda done, total: told.append((done, total)),
    )
    alone = _check(records)
    assert np.array_equal(both.kept, alone.kept)
    assert both.to_json() == alone.to_json()
    assert told[-1] == (120, 120)


def test_raw_records_are_checked_too(tmp_path: Path) -> None:
    write_alphabet(Alphabet(LATIN36), tmp_path)
    path = tmp_path / "train_1.tfrecords"
    examples = [
        build_example({"images": bytes(9600), "labels": [10, 36], "labels_length": 1}),
        build_example({"images": b"short", "labels": [10], "labels_length": 1}),
    ]
    write_records(path, examples)
    check = _check(open_words([path]), pictures=True)
    assert check.kept.tolist() == [0]
    assert check.dropped["corrupt_record"] == 1


def test_too_few_words_are_refused_with_the_main_reason(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", ["ok", "n!", "m!", ""])])
    check = _check(records)
    require_enough(check, 0.25)
    with pytest.raises(DataError, match=r"only 1 of 4 records.*not in the alphabet") as caught:
        require_enough(check, 0.5)
    assert "alphabet" in caught.value.hint


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    records = open_words([write_words(tmp_path / "a.tfrecords", [])])
    with pytest.raises(DataError, match="no records"):
        require_enough(_check(records), 0.0)


def _check(
    records: WordRecords, *, columns: int = 25, max_length: int = 23, pictures: bool = False
) -> WordCheck:
    return check_words(
        records, columns=columns, max_length=max_length, pictures=pictures, processes=1
    )

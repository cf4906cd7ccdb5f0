"""Scores are sums over the right samples, divided once, under a rule that is told."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainferry.errors import UsageError
from trainferry.train.recipe.read import read_recipe
from trainferry.train.scores import words as score_module
from trainferry.train.scores.mistakes import Mistakes, align
from trainferry.train.scores.run import find_protocol
from trainferry.train.scores.words import (
    PROTOCOLS,
    WordScore,
    character_accuracy,
    choose_protocol,
    edit_distance,
    edit_similarity,
    plain_edit_distance,
)

# Truth, reading. Sequence right: 3 of 6 as is, 5 of 6 in lower case.
WORDS = [
    ("hello", "hello"),
    ("Street", "street"),
    ("CAFE", "cafe"),
    ("seven", "sewen"),
    ("11", "11"),
    ("it's", "it's"),
]

words = st.text("abcAB1'", max_size=7)


def scored(protocol: str, pairs: list[tuple[str, str]]) -> WordScore:
    score = WordScore(choose_protocol(protocol))
    for truth, read in pairs:
        score.add(truth, read)
    return score


def test_exact_compares_words_as_they_are() -> None:
    values = scored("exact", WORDS).values()
    assert values["sequence_accuracy"] == pytest.approx(3 / 6)
    assert values["character_accuracy"] == pytest.approx((1 + 5 / 6 + 0 + 4 / 5 + 1 + 1) / 6)
    assert values["edit_similarity"] == pytest.approx((1 + 5 / 6 + 0 + 4 / 5 + 1 + 1) / 6)
    assert values["samples"] == 6
    assert values["left_out"] == 0


def test_alnum36_folds_case_and_drops_other_signs() -> None:
    values = scored("alnum36", [*WORDS, ("it's", "ITS"), ("!?", "x")]).values()
    assert values["sequence_accuracy"] == pytest.approx(6 / 7)
    assert values["samples"] == 7
    assert values["left_out"] == 1


def test_alnum36_min3_keeps_long_plain_labels_only() -> None:
    values = scored("alnum36-min3", WORDS).values()
    assert values["samples"] == 4
    assert values["left_out"] == 2
    assert values["sequence_accuracy"] == pytest.approx(3 / 4)


def test_zoo_drops_the_tail_that_fills_no_batch() -> None:
    pairs = [("abcd", "abcd")] * 60 + [("abcd", "abxx")] * 4 + [("abcd", "")] * 30
    values = scored("zoo", pairs).values()
    assert values["samples"] == 64
    assert values["left_out"] == 30
    assert values["sequence_accuracy"] == pytest.approx(60 / 64)
    assert values["character_accuracy"] == pytest.approx((60 + 4 * 0.5) / 64)
    corrected = scored("exact", pairs).values()
    assert corrected["samples"] == 94
    assert corrected["sequence_accuracy"] == pytest.approx(60 / 94)
    assert corrected["character_accuracy"] == pytest.approx((60 + 4 * 0.5) / 94)


def test_zoo_is_the_mean_of_the_batch_means() -> None:
    pairs = [("ab", "ab" if number % 3 else "ax") for number in range(64 * 3 + 5)]
    batches = [pairs[first : first + 64] for first in range(0, 64 * 3, 64)]
    means = [sum(truth == read for truth, read in batch) / 64 for batch in batches]
    assert scored("zoo", pairs).values()["sequence_accuracy"] == pytest.approx(sum(means) / 3)


def test_zoo_synth90k_divides_by_a_batch_that_it_did_not_read() -> None:
    values = scored("zoo-synth90k", [("ab", "ab")] * 300).values()
    assert values["sequence_accuracy"] == pytest.approx(2 / 3)
    assert values["samples"] == 256
    values = scored("zoo-synth90k", [("ab", "ab")] * 256).values()
    assert values["sequence_accuracy"] == 1


@pytest.mark.parametrize(
    ("truth", "read", "expected"),
    [
        ("abcd", "abcd", 1.0),
        ("abcd", "ab", 0.5),
        ("abcd", "abcdxyz", 1.0),
        ("abcd", "xabcd", 0.0),
        ("abcd", "", 0.0),
        ("", "", 1.0),
        ("", "a", 0.0),
    ],
)
def test_character_accuracy_is_that_of_the_originals(
    truth: str, read: str, expected: float
) -> None:
    assert character_accuracy(truth, read) == expected


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_both_edit_distances_are_equal(one: str, two: str) -> None:
    assert edit_distance(one, two) == plain_edit_distance(one, two)
    assert 0 <= edit_similarity(one, two) <= 1
    assert (edit_similarity(one, two) == 1) == (one == two)


def test_scores_do_not_need_the_quick_package(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scored("exact", WORDS).values()
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    monkeypatch.setattr(score_module, "_quick_distance", score_module._find_quick_distance())
    assert score_module._quick_distance is None
    assert scored("exact", WORDS).values() == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(words, words), max_size=20), st.integers(1, 4))
def test_scores_do_not_depend_on_the_number_of_processes(
    pairs: list[tuple[str, str]], processes: int
) -> None:
    whole = scored("alnum36", pairs)
    parts = [scored("alnum36", pairs[rank::processes]) for rank in range(processes)]
    added = {key: sum(part.state()[key] for part in parts) for key in whole.state()}
    together = WordScore.from_state(whole.protocol, added)
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    assert together.values() == pytest.approx(whole.values())
    assert merged.values() == pytest.approx(whole.values())


def test_no_sample_gives_no_score_and_no_error() -> None:
    assert scored("exact", []).values()["sequence_accuracy"] == 0


def test_an_unknown_protocol_is_an_error_that_lists_them() -> None:
    with pytest.raises(UsageError) as caught:
        choose_protocol("alnum")
    assert all(name in caught.value.hint for name in PROTOCOLS)


def test_protocols_travel_to_other_processes() -> None:
    for protocol in PROTOCOLS.values():
        assert pickle.loads(pickle.dumps(protocol)) == protocol


@settings(max_examples=100, deadline=None)
@given(words, words)
def test_an_alignment_is_as_short_as_the_distance(one: str, two: str) -> None:
    pairs = align(one, two)
    assert "".join(truth for truth, _ in pairs) == one
    assert "".join(read for _, read in pairs) == two
    assert sum(truth != read for truth, read in pairs) == edit_distance(one, two)


def test_confused_characters_and_worst_words_are_ranked() -> None:
    mistakes = Mistakes()
    for truth, read in [
        ("o1o", "010"),
        ("good", "g0od"),
        ("fine", "fine"),
        ("cat", "ca"),
        ("x", "yz"),
    ]:
        mistakes.add(truth, read)
    assert mistakes.confused() == [("o", "0", 3), ("", "y", 1), ("t", "", 1), ("x", "z", 1)]
    assert mistakes.worst_words()[0] == ("x", "yz")
    assert ("fine", "fine") not in mistakes.worst_words()


def test_every_character_is_scored_the_worst_first() -> None:
    mistakes = Mistakes()
    for truth, read in [("aab", "aab"), ("ab", "bb"), ("c", ""), ("", "d")]:
        mistakes.add(truth, read)
    rows = {row["character"]: row for row in mistakes.characters()}
    assert list(rows) == ["c", "d", "a", "b"]
    assert rows["a"] == {
        "character": "a",
        "samples": 3,
        "named": 2,
        "right": 2,
        "precision": 1,
        "recall": 2 / 3,
        "f1": 4 / 5,
    }
    assert (rows["b"]["samples"], rows["b"]["named"], rows["b"]["right"]) == (2, 3, 2)
    assert (rows["c"]["precision"], rows["c"]["recall"], rows["c"]["f1"]) == (None, 0, 0)
    assert (rows["d"]["precision"], rows["d"]["recall"], rows["d"]["f1"]) == (0, None, 0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(words, words), max_size=8))
def test_characters_are_as_many_as_were_written_and_read(pairs: list[tuple[str, str]]) -> None:
    mistakes = Mistakes()
    for truth, read in pairs:
        mistakes.add(truth, read)
    written, got = ("".join(part) for part in zip(*pairs, strict=True)) if pairs else ("", "")
    rows = mistakes.characters()
    assert {row["character"] for row in rows} == set(written + got)
    for row in rows:
        assert row["samples"] == written.count(row["character"])
        assert row["named"] == got.count(row["character"])


def test_only_the_worst_words_are_kept() -> None:
    mistakes = Mistakes()
    for number in range(100):
        mistakes.add("a" * 100, "a" * (100 - number))
    assert len(mistakes.worst_words()) == 20
    assert mistakes.worst_words()[0][1] == "a"


def test_mistakes_of_two_parts_add_up() -> None:
    whole, one, two = Mistakes(), Mistakes(), Mistakes()
    for part, words_of_part in ((one, [("cat", "car"), ("dog", "")]), (two, [("cow", "car")])):
        for truth, read in words_of_part:
            part.add(truth, read)
            whole.add(truth, read)
    one.merge(two)
    assert one.confused() == whole.confused()
    assert one.characters() == whole.characters()
    assert {word for word, _ in one.worst_words()} == {"cat", "dog", "cow"}


@pytest.mark.parametrize(
    ("alphabet", "asked", "name"),
    [
        ("0123456789abc", None, "alnum36"),
        ("abcABC!", None, "alnum36"),
        ("口出ab", None, "exact"),
        ("口出ab", "alnum36", "alnum36"),
        ("0123456789abc", "exact", "exact"),
    ],
)
def test_the_usual_protocol_counts_the_characters_of_a_run(
    alphabet: str, asked: str | None, name: str
) -> None:
    protocol = find_protocol(read_recipe("crnn_small", [f'task.alphabet="{alphabet}"']), asked)
    assert protocol is not None
    assert protocol.name == name

"""Readings are what their definition says, however they are searched for."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trainferry.errors import DataError
from trainferry.train.data.words.alphabet import LATIN36, Alphabet
from trainferry.train.tasks.ctc import ctc_losses
from trainferry.train.tasks.decode import Lexicon, beam, beam_readings, best_in_lexicon, greedy

ABC = Alphabet("abc")


def scores(path: str, alphabet: Alphabet = ABC, certainty: float = 5.0) -> torch.Tensor:
    """Logits, 1 T K, whose best path is `path`; `-` is the blank."""
    best = [alphabet.blank if one == "-" else alphabet.encode(one)[0] for one in path]
    return certainty * torch.nn.functional.one_hot(
        torch.tensor(best), alphabet.classes
    ).float().unsqueeze(0)


def random_logits(*shape: int, seed: int = 0) -> torch.Tensor:
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def all_readings(logits: torch.Tensor) -> dict[tuple[int, ...], float]:
    """Sum the probability of every path, T K."""
    probabilities = logits.double().softmax(1).numpy()
    columns, classes = probabilities.shape
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(classes), repeat=columns):
        merged = [one for one, _ in itertools.groupby(path)]
        reading = tuple(one for one in merged if one != classes - 1)
        found[reading] += math.prod(probabilities[range(columns), path])
    return found


@pytest.mark.parametrize(
    ("path", "merged", "unmerged"),
    [
        ("-a-b-c-", "abc", "abc"),
        ("aabbcc", "abc", "aabbcc"),
        ("a-a", "aa", "aa"),
        ("aa-a", "aa", "aaa"),
        ("-----", "", ""),
        ("cccc", "c", "cccc"),
        ("abab", "abab", "abab"),
    ],
)
def test_the_best_path_collapses(path: str, merged: str, unmerged: str) -> None:
    (reading,) = greedy(scores(path))
    assert ABC.decode(reading.classes) == merged
    (reading,) = greedy(scores(path), merge_repeated=False)
    assert ABC.decode(reading.classes) == unmerged


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=8, max_size=8), min_size=1, max_size=6))
def test_a_batch_is_read_like_its_samples(paths: list[list[int]]) -> None:
    logits = 4 * torch.nn.functional.one_hot(torch.tensor(paths), 4).float()
    for path, reading in zip(paths, greedy(logits), strict=True):
        merged = [one for one, _ in itertools.groupby(path)]
        assert reading.classes == tuple(one for one in merged if one != 3)
        assert len(reading.columns) == len(reading.character_scores) == len(reading.classes)
        assert [path[column] for column in reading.columns] == list(reading.classes)


def test_a_character_is_as_sure_as_its_best_column() -> None:
    logits = scores("-aab")
    logits[0, 2] *= 2
    probabilities = logits.softmax(2)[0]
    (reading,) = greedy(logits)
    assert reading.columns == (2, 3)
    assert reading.character_scores == pytest.approx(
        [float(probabilities[2, 0]), float(probabilities[3, 1])]
    )
    assert reading.confidence == pytest.approx(math.prod(reading.character_scores))


def test_an_empty_reading_is_as_sure_as_its_least_blank_column() -> None:
    logits = scores("---")
    logits[0, 1] *= 0.5
    (reading,) = greedy(logits)
    assert reading.classes == ()
    assert reading.confidence == pytest.approx(float(logits.softmax(2)[0, 1, 3]))


def test_arrays_and_half_precision_are_read_too() -> None:
    logits = random_logits(3, 9, 5)
    expected = [reading.classes for reading in greedy(logits)]
    assert [reading.classes for reading in greedy(logits.numpy())] == expected
    assert len(greedy(logits.bfloat16())) == 3
    assert greedy(torch.zeros(0, 9, 5)) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_sums_all_paths(seed: int) -> None:
    logits = random_logits(1, 5, 3, seed=seed)
    expected = sorted(all_readings(logits[0]).items(), key=lambda entry: -entry[1])
    (found,) = beam_readings(logits, width=1000, best=1000)
    assert [reading.classes for reading in found] == [classes for classes, _ in expected]
    for reading, (_, probability) in zip(found, expected, strict=True):
        assert reading.confidence == pytest.approx(probability, rel=1e-5)


def test_the_beam_finds_what_the_best_path_misses() -> None:
    probabilities = np.array([[[0.4, 0.001, 0.599], [0.4, 0.001, 0.599]]])
    logits = torch.from_numpy(np.log(probabilities))
    assert greedy(logits)[0].classes == ()
    (reading,) = beam(logits, width=10)
    assert reading.classes == (0,)
    assert reading.confidence == pytest.approx(0.4 * 0.4 + 2 * 0.4 * 0.599, rel=1e-5)


def test_the_confidence_of_a_beam_is_the_probability_of_ctc_but_for_paths_not_kept() -> None:
    logits = random_logits(4, 12, 6, seed=3)
    for row, reading in enumerate(beam(logits, width=500)):
        labels = torch.tensor([reading.classes])
        loss = ctc_losses(logits[row : row + 1], labels, torch.tensor([labels.shape[1]]))
        assert float(loss) - 1e-4 < -math.log(reading.confidence) < float(loss) + 0.05


def test_the_columns_of_a_beam_stand_where_the_characters_are() -> None:
    (reading,) = beam(scores("--a-bb-a"), width=10)
    assert ABC.decode(reading.classes) == "aba"
    assert reading.columns[0] == 2
    assert reading.columns[1] in {4, 5}
    assert reading.columns[2] == 7


def test_only_the_best_classes_of_a_column_lengthen_a_reading() -> None:
    logits = random_logits(2, 20, 3000, seed=1)
    logits[:, ::2, 17] += 20
    logits[:, 1::2, -1] += 20
    for reading in beam(logits, width=20, classes_per_column=10):
        assert set(reading.classes) == {17}


def test_a_lexicon_allows_only_its_words() -> None:
    lexicon = Lexicon(["abc", "cab", "b", "bb"], ABC)
    for seed in range(5):
        logits = random_logits(1, 5, 4, seed=seed)
        expected = max(lexicon.words, key=lambda word: all_readings(logits[0])[word])
        (reading,) = beam(logits, width=100, lexicon=lexicon)
        assert reading.classes == expected
        assert reading.classes in lexicon
        assert best_in_lexicon(logits, [lexicon])[0].classes == expected


def test_a_narrow_beam_is_widened_until_it_holds_a_word() -> None:
    lexicon = Lexicon(["abcabc", "bbbb"], ABC)
    (reading,) = beam(scores("ccccccccc"), width=1, lexicon=lexicon)
    assert reading.classes in lexicon


def test_no_word_that_fits_is_an_empty_reading_without_confidence() -> None:
    lexicon = Lexicon(["aaa"], ABC)
    logits = scores("aaa")
    assert beam(logits, lexicon=lexicon)[0].confidence == 0
    assert best_in_lexicon(logits, [lexicon])[0].confidence == 0
    assert best_in_lexicon(logits, [Lexicon([], ABC)])[0].classes == ()


def test_beam_and_exact_scores_agree_on_a_lexicon() -> None:
    alphabet = Alphabet(LATIN36)
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list(LATIN36), size=random.integers(2, 8))) for _ in range(50)]
    lexicon = Lexicon(words, alphabet)
    logits = random_logits(3, 25, 37, seed=5)
    exact = best_in_lexicon(logits, [lexicon] * 3)
    searched = beam(logits, width=200, lexicon=lexicon)
    for one, two in zip(exact, searched, strict=True):
        assert one.classes == two.classes
        assert one.confidence == pytest.approx(two.confidence, rel=1e-3)
        assert one.columns == two.columns


def test_a_word_list_is_folded_and_what_cannot_be_spelt_is_told(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("ABC\nabc\n\n cab \nnaïve\n", encoding="utf-8")
    lexicon = Lexicon.read(path, ABC)
    assert len(lexicon) == 2
    assert (0, 1, 2) in lexicon
    assert (0, 1) not in lexicon
    assert lexicon.left_out == ["naïve"]


def test_an_unusable_word_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read the word list"):
        Lexicon.read(tmp_path / "missing.txt", ABC)
    path = tmp_path / "my words.txt"
    path.write_text("xyz\n")
    with pytest.raises(DataError, match="no word that the alphabet can spell"):
        Lexicon.read(path, ABC)
    for encoding, called in (("gb18030", "GB18030"), ("utf-16", "UTF-16")):
        path.write_text("abc\n北京\n", encoding=encoding)
        with pytest.raises(DataError, match="not UTF-8") as caught:
            Lexicon.read(path, ABC)
        assert (
            f"iconv -f {called} -t UTF-8 '{path}' > 'my words_utf8.txt', "
            "then --lexicon 'my words_utf8.txt'"
        ) in caught.value.hint

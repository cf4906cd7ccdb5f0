"""Scores of signs: exact ones beside those of the original, whatever batches and processes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from tests.train.sign_data import small_charset
from trainferry.train.data.batch import Batch
from trainferry.train.scores.read_texts import EXAMPLES
from trainferry.train.scores.signs import SpellScore, original_scores
from trainferry.train.tasks.spell import Spell

CHARSET = small_charset()
NULL = CHARSET.null
LENGTH = 6
TASK = Spell(CHARSET, LENGTH)
TRUTHS = ["abc", "bad", "cafe", "a", "", "hg 01", "face", "b"]
# One character wrong, one too many, nothing, something for nothing, one too few; the others right.
READS = ["abc", "bed", "cafed", "", "a", "hg 0", "face", "b"]


def batch(
    texts: list[str], valid: list[bool] | None = None, first: int = 0, *, told: bool = False
) -> Batch:
    count = len(texts)
    codes = [(CHARSET.encode(text) + [NULL] * LENGTH)[:LENGTH] for text in texts]
    return Batch(
        images=torch.zeros(count, 1, 1, 3, dtype=torch.uint8),
        labels=torch.tensor(codes),
        lengths=torch.tensor([len(text) for text in texts]),
        valid=torch.tensor(valid or [True] * count),
        positions=torch.arange(first, first + count),
        skipped=torch.tensor(0),
        texts=tuple(texts) if told else (),
    )


def logits(reads: list[str]) -> Tensor:
    codes = torch.tensor([CHARSET.padded(read, LENGTH) for read in reads])
    return 6 * functional.one_hot(codes, CHARSET.classes).float()


def score(reads: list[str], truths: list[str]) -> SpellScore:
    result = TASK.new_score()
    result.add(logits(reads), batch(truths))
    return result


def test_exact_scores_and_the_originals_are_those_counted_by_hand() -> None:
    values = score(READS, TRUTHS).values()
    assert values["samples"] == 8
    assert values["sequence_accuracy"] == pytest.approx(3 / 8)
    assert values["character_accuracy"] == pytest.approx((1 + 2 / 3 + 1 + 0 + 0 + 4 / 5 + 2) / 8)
    similar = 1 + 2 / 3 + 4 / 5 + 0 + 0 + 4 / 5 + 1 + 1
    assert values["edit_similarity"] == pytest.approx(similar / 8)
    # The character too many, and the one where there is no text, are forgiven.
    assert values["sequence_accuracy_original"] == pytest.approx(5 / 8)
    shares = 1 + 2 / 3 + 1 + 0 + 4 / 5 + 1 + 1
    assert values["character_accuracy_original"] == pytest.approx(shares / 7)
    assert values["empty"] == 1


def test_the_originals_scores_are_those_of_its_formulas() -> None:
    """`char_accuracy` and `sequence_accuracy` of its metrics.py, written out."""
    stream = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, LENGTH + 1, (200,), generator=stream)
    labels = torch.randint(0, 3, (200, LENGTH), generator=stream)
    labels[torch.arange(LENGTH) >= lengths[:, None]] = NULL
    read = torch.where(torch.rand(200, LENGTH, generator=stream) < 0.9, labels, 1)
    read[torch.rand(200, LENGTH, generator=stream) < 0.1] = NULL
    unused = torch.zeros(200)
    data = Batch(unused, labels, lengths, unused, unused, unused)
    shares, right = original_scores(functional.one_hot(read, CHARSET.classes).float(), data, NULL)

    weights = (labels != NULL).float()
    per_sample = ((read == labels).float() * weights).sum(1) / weights.sum(1)
    torch.testing.assert_close(shares, per_sample)
    replaced = torch.where(labels == NULL, NULL, read)
    assert torch.equal(right, (replaced == labels).all(1))
    assert 0 < int(right.sum()) < 200


def test_the_loss_is_the_mean_of_the_tasks() -> None:
    losses = TASK.losses(logits(READS), batch(TRUTHS))
    assert score(READS, TRUTHS).values()["loss"] == pytest.approx(float(losses.mean()))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.sampled_from(["exact", "alnum36"]))
def test_scores_do_not_depend_on_batches_or_processes(
    size: int, processes: int, protocol: str
) -> None:
    task = Spell(CHARSET, LENGTH, protocol=protocol)
    truths, reads = TRUTHS * 2, READS + READS[::-1]
    whole = task.new_score()
    whole.add(logits(reads), batch(truths))
    edges = [16 * rank // processes for rank in range(processes + 1)]
    parts = []
    for begin, end in pairwise(edges):
        part = task.new_score()
        for start in range(begin, end, size):
            rows = [min(row, end - 1) for row in range(start, start + size)]
            valid = [row < end for row in range(start, start + size)]
            data = batch([truths[row] for row in rows], valid, first=start)
            part.add(logits([reads[row] for row in rows]), data)
        parts.append(part)
    loaded = task.new_score()
    loaded.load_state({key: sum(part.state()[key] for part in parts) for key in whole.state()})
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    for one in (loaded, merged):
        assert one.values() == pytest.approx(whole.values(), rel=1e-6)
    assert merged.examples() == whole.examples()
    assert merged.details()["confused"] == whole.details()["confused"]


def test_rows_that_fill_a_batch_never_count() -> None:
    result = TASK.new_score()
    result.add(logits(READS), batch(TRUTHS, [False] * 8))
    values = result.values()
    assert {value for name, value in values.items() if name != "edit_similarity"} == {0.0}
    assert result.examples() == []


def test_what_could_not_be_read_is_counted() -> None:
    result = TASK.new_score()
    data = batch(["a"])
    data.skipped.fill_(3)
    result.add(logits(["a"]), data)
    assert result.values()["unreadable"] == 3


def test_a_text_that_is_too_long_for_the_network_is_not_right() -> None:
    result = TASK.new_score()
    result.add(logits(["abcdef"]), batch(["abcdefgh"], told=True))
    values = result.values()
    assert values["sequence_accuracy"] == values["sequence_accuracy_original"] == 0
    assert values["character_accuracy"] == pytest.approx(6 / 8)
    assert values["character_accuracy_original"] == pytest.approx(6 / 8)


def test_the_protocol_decides_what_counts_but_not_in_the_originals_scores() -> None:
    result = Spell(CHARSET, LENGTH, protocol="alnum36").new_score()
    result.add(logits(["a b", "'", "cd"]), batch(["ab", "'", "ce"]))
    values = result.values()
    assert (values["samples"], values["left_out"]) == (2, 1)
    assert values["sequence_accuracy"] == pytest.approx(1 / 2)
    assert values["sequence_accuracy_original"] == pytest.approx(1 / 3)


def test_examples_show_mistakes_first_and_details_which_they_are() -> None:
    result = TASK.new_score()
    result.add(logits(READS), batch(TRUTHS, first=10))
    shown = [(one.position, one.truth, one.read) for one in result.examples()]
    assert shown[:2] == [(11, "bad", "bed"), (12, "cafe", "cafed")]
    assert shown[5:] == [(10, "abc", "abc"), (16, "face", "face"), (17, "b", "b")]
    assert 0.9 < result.examples()[0].confidence < 1
    details = result.details()
    assert json.loads(json.dumps(details)) == details
    assert {"truth": "a", "read": "e", "times": 1} in details["confused"]
    assert {"truth": "", "read": "d", "times": 1} in details["confused"]
    assert details["worst"][0] == {"truth": "a", "read": ""}
    result.add(logits(READS), batch(TRUTHS))
    assert len(result.examples()) == EXAMPLES


def test_scores_are_counted_on_the_device(emulated_npu: torch.device) -> None:
    here, there = TASK.new_score(), TASK.new_score()
    here.add(logits(READS), batch(TRUTHS))
    there.add(logits(READS).to(emulated_npu), batch(TRUTHS).to(emulated_npu))
    assert there.values() == pytest.approx(here.values())
    assert there.details() == here.details()

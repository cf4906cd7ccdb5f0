"""The task of reading text: losses, scores over valid rows, and plain words when it fails."""

from __future__ import annotations

import math

import pytest
import torch

from trainferry.train.data.batch import Batch
from trainferry.train.data.words.alphabet import Alphabet
from trainferry.train.scores.read_texts import EXAMPLES
from trainferry.train.tasks.ctc import ctc_losses
from trainferry.train.tasks.diagnose import PATIENCE_STEPS
from trainferry.train.tasks.recognise import Recognise
from trainferry.train.tasks.task import Score, Snapshot, Task

ABC = Alphabet("abc")
COLUMNS = 7


def batch(texts: list[str], valid: list[bool] | None = None, first: int = 0) -> Batch:
    labels = torch.full((len(texts), 5), ABC.blank)
    for row, text in enumerate(texts):
        labels[row, : len(text)] = torch.tensor(ABC.encode(text), dtype=torch.int64)
    return Batch(
        images=torch.zeros(len(texts), 1, 1, 3, dtype=torch.uint8),
        labels=labels,
        lengths=torch.tensor([len(text) for text in texts]),
        valid=torch.tensor(valid or [True] * len(texts)),
        positions=torch.arange(first, first + len(texts)),
        skipped=torch.tensor(0),
    )


def logits(texts: list[str]) -> torch.Tensor:
    """Scores whose best path reads `texts`, each character once, then blanks."""
    classes = [[*ABC.encode(text), *[ABC.blank] * (COLUMNS - len(text))] for text in texts]
    return 6 * torch.nn.functional.one_hot(torch.tensor(classes), ABC.classes).float()


def test_recognise_is_a_task() -> None:
    task: Task = Recognise(ABC, 5)
    score: Score = task.new_score()
    assert score.primary in score.values()


def test_losses_are_those_of_ctc() -> None:
    task = Recognise(ABC, 5)
    texts = ["abc", "", "ca"]
    losses = task.losses(logits(texts), batch(texts))
    expected = ctc_losses(logits(texts), batch(texts).labels, batch(texts).lengths)
    assert torch.equal(losses, expected)
    assert losses.dtype == torch.float32


def test_only_valid_rows_count() -> None:
    task = Recognise(ABC, 5)
    score = task.new_score()
    score.add(logits(["abc", "ab", "a"]), batch(["abc", "ac", "b"], [True, True, False]))
    values = score.values()
    assert values["samples"] == 2
    assert values["sequence_accuracy"] == pytest.approx(1 / 2)
    assert values["character_accuracy"] == pytest.approx((1 + 1 / 2) / 2)
    losses = task.losses(logits(["abc", "ab"]), batch(["abc", "ac"]))
    assert values["loss"] == pytest.approx(float(losses.mean()))


def test_scores_of_several_processes_add_up() -> None:
    task = Recognise(ABC, 5)
    truths, reads = ["abc", "cab", "b", "ca"], ["abc", "cb", "b", "ac"]
    whole, one, two = task.new_score(), task.new_score(), task.new_score()
    whole.add(logits(reads), batch(truths))
    one.add(logits(reads[:3]), batch(truths[:3]))
    two.add(logits(reads[3:]), batch(truths[3:], first=3))
    added = {key: value + two.state()[key] for key, value in one.state().items()}
    loaded = task.new_score()
    loaded.load_state(added)
    assert loaded.values() == pytest.approx(whole.values())
    one.merge(two)
    assert one.values() == pytest.approx(whole.values())
    assert one.examples() == whole.examples()


def test_labels_that_do_not_fit_are_counted() -> None:
    task = Recognise(ABC, 5)
    score = task.new_score()
    score.add(logits(["abc"])[:, :5], batch(["aaaa"]))
    assert score.values()["impossible"] == 1
    assert score.values()["loss"] == 0


def test_examples_show_mistakes_first() -> None:
    score = Recognise(ABC, 5).new_score()
    score.add(logits(["a", "b", "ab"]), batch(["a", "c", "ab"], first=10))
    examples = score.examples()
    assert [(one.position, one.truth, one.read) for one in examples] == [
        (11, "c", "b"),
        (10, "a", "a"),
        (12, "ab", "ab"),
    ]
    assert 0.9 < examples[0].confidence <= 1
    for _ in range(10):
        score.add(logits(["a", "b"]), batch(["a", "c"]))
    assert len(score.examples()) == EXAMPLES


def test_repeats_can_be_read_as_the_originals_do_while_training() -> None:
    plain, zoo = Recognise(ABC, 5), Recognise(ABC, 5, merge_repeated=False)
    scores = logits(["aab"])
    assert [plain.text(reading) for reading in plain.read(scores)] == ["ab"]
    assert [zoo.text(reading) for reading in zoo.read(scores)] == ["aab"]


def test_the_protocol_decides_what_counts() -> None:
    score = Recognise(Alphabet("abc"), 5, protocol="alnum36-min3").new_score()
    score.add(logits(["abc", "ab"]), batch(["abc", "ab"]))
    assert score.values()["samples"] == 1
    assert score.values()["left_out"] == 1


def test_a_snapshot_tells_empty_and_equal_readings() -> None:
    task = Recognise(ABC, 5)
    snapshot = task.snapshot(7, 1.5, logits(["", "", "ab", "c"]))
    assert snapshot == Snapshot(7, 1.5, empty_share=0.5, distinct_share=0.75)


def plateau(loss: float = 20.0, empty: float = 1.0, distinct: float = 0.01) -> list[Snapshot]:
    return [Snapshot(step, loss, empty, distinct) for step in range(0, PATIENCE_STEPS + 1, 100)]


def test_a_healthy_run_has_no_diagnosis() -> None:
    task = Recognise(ABC, 5)
    assert task.diagnose([]) is None
    assert task.diagnose(plateau(empty=0.0, distinct=0.9)) is None
    assert task.diagnose(plateau()[:-1]) is None
    assert task.diagnose([*plateau(), Snapshot(9999, 5.0, 0.1, 0.9)]) is None


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_broken_loss_is_told_with_what_to_try(loss: float) -> None:
    told = Recognise(ABC, 5).diagnose([Snapshot(10, loss, 0.0, 1.0)])
    assert told is not None
    assert "--debug overflow" in told
    assert "lower learning rate" in told


def test_the_blank_plateau_is_told_with_what_to_try() -> None:
    told = Recognise(ABC, 5).diagnose(plateau())
    assert told is not None
    assert f"Nothing has been read for {PATIENCE_STEPS} steps" in told
    assert "stays where it is" in told
    falling = [
        Snapshot(one.step, 20 - one.step / PATIENCE_STEPS * 5, 1.0, 0.01) for one in plateau()
    ]
    told = Recognise(ABC, 5).diagnose(falling)
    assert told is not None
    assert "falls" in told


def test_one_reading_for_all_pictures_is_told() -> None:
    told = Recognise(ABC, 5).diagnose(plateau(empty=0.0))
    assert told is not None
    assert "same text" in told

"""The task of spelling signs: inputs, losses and confidence as the original's, and plain words."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.train.networks.golden import Golden, read_golden
from tests.train.sign_data import small_charset
from trainferry.errors import UsageError
from trainferry.train.data.batch import Batch
from trainferry.train.data.signs.charset import NULL_NAME, Charset, fsns_charset
from trainferry.train.recipe.tasks import SignAugment, SignPicture
from trainferry.train.tasks.diagnose import PATIENCE_STEPS
from trainferry.train.tasks.spell import Spell, read_signs
from trainferry.train.tasks.task import Score, Snapshot, Task

CHARSET = small_charset()
LENGTH = 6
PICTURE = SignPicture(views=3, height=12, width=16)
PLAIN = SignAugment(crop=0.0, colour=0.0)
EVERYTHING = SignAugment(crop=1.0, colour=1.0, geometry=0.5, blur=1.0, noise=0.5)


def spell(
    smoothing: float = 0.1, *, count_nulls: bool = True, augment: SignAugment = PLAIN
) -> Spell:
    return Spell(CHARSET, LENGTH, smoothing, count_nulls, PICTURE, augment)


def batch(texts: list[str]) -> Batch:
    dice = np.random.default_rng(1)
    return Batch(
        images=torch.from_numpy(dice.integers(0, 256, (len(texts), 12, 48, 3), np.uint8)),
        labels=torch.tensor([CHARSET.padded(text, LENGTH) for text in texts]),
        lengths=torch.tensor([len(text) for text in texts]),
        valid=torch.ones(len(texts), dtype=torch.bool),
        positions=torch.arange(len(texts)),
        skipped=torch.tensor(0),
    )


def labelled(labels: Tensor) -> Batch:
    unused = torch.zeros(len(labels))
    return Batch(unused, labels, unused, unused, unused, unused)


def random_logits(rows: int) -> Tensor:
    stream = torch.Generator().manual_seed(2)
    return 3 * torch.randn(rows, LENGTH, CHARSET.classes, generator=stream)


def sure_logits(codes: list[list[int]], classes: int = CHARSET.classes) -> Tensor:
    return 6 * functional.one_hot(torch.tensor(codes), classes).float()


@pytest.fixture(scope="module")
def golden(shared: Path) -> Golden:
    return read_golden(shared, "attention_ocr")


def test_spell_is_a_task() -> None:
    task: Task = spell()
    score: Score = task.new_score()
    assert score.primary in score.values()


def test_inputs_are_those_of_the_original() -> None:
    images = batch(["a", "b"]).images
    inputs = spell().inputs(images)
    assert inputs.shape == (2, 3, 12, 48)
    expected = (images.permute(0, 3, 1, 2).double() / 255 - 0.5) * 2.5
    torch.testing.assert_close(inputs.double(), expected, rtol=0, atol=1e-6)
    assert torch.equal(spell().inputs(images.float()), inputs)


def test_mean_and_deviation_are_of_each_channel() -> None:
    picture = SignPicture(1, 2, 2, mean=(10.0, 20.0, 30.0), deviation=(2.0, 4.0, 0.5))
    inputs = Spell(CHARSET, picture=picture).inputs(torch.full((1, 2, 2, 3), 50.0))
    assert inputs[0, :, 0, 0].tolist() == [20.0, 7.5, 40.0]


def test_without_variation_training_sees_what_evaluation_sees() -> None:
    task, data = spell(), batch(["a", "bc"])
    inputs, varied = task.vary(data)
    assert torch.equal(inputs, task.inputs(data.images))
    assert varied is data


def test_views_vary_each_at_its_place() -> None:
    data = batch(["a", "b", "c"])
    data.images[:, :, :16] = 60
    data.images[:, :, 16:32] = 120
    data.images[:, :, 32:] = 180
    inputs, _ = spell(augment=SignAugment(crop=1.0, colour=0.1)).vary(data)
    assert inputs.shape == (3, 3, 12, 48)
    views = inputs.unflatten(3, (3, 16)).mean(dim=(1, 2, 4))
    assert (views[:, 0] < views[:, 1]).all()
    assert (views[:, 1] < views[:, 2]).all()


def test_the_network_is_told_the_right_characters() -> None:
    data = batch(["ab", ""])
    (hint,) = spell().hints(data)
    assert hint is data.labels


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("count_nulls", [True, False])
def test_losses_are_summed_over_the_characters(smoothing: float, count_nulls: bool) -> None:
    data, logits = batch(["abc", "", "0123'a"]), random_logits(3)
    losses = spell(smoothing, count_nulls=count_nulls).losses(logits, data)
    each = functional.cross_entropy(
        logits.flatten(0, 1), data.labels.flatten(), label_smoothing=smoothing, reduction="none"
    ).unflatten(0, (3, LENGTH))
    weights = torch.ones_like(each) if count_nulls else (data.labels != CHARSET.null).float()
    torch.testing.assert_close(losses, (each * weights).sum(1))
    assert losses.dtype == torch.float32


def test_losses_of_half_precision_are_computed_in_fp32() -> None:
    logits, data = random_logits(2).bfloat16(), batch(["abc", "d"])
    assert torch.equal(spell().losses(logits, data), spell().losses(logits.float(), data))


def test_the_least_loss_of_fsns_is_that_of_the_original() -> None:
    task = Spell(fsns_charset())
    assert task.least_loss == pytest.approx(29.9265, abs=1e-4)
    labels = torch.full((1, 37), 5)
    share = torch.full((1, 37, 134), 0.1 / 134)
    share[:, :, 5] += 0.9
    assert float(task.losses(share.log(), labelled(labels))) == pytest.approx(
        task.least_loss, rel=1e-5
    )
    assert spell(0.0).least_loss == 0


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_losses_and_readings_are_the_originals(golden: Golden, mode: str) -> None:
    task = Spell(fsns_charset())
    logits = torch.from_numpy(golden.arrays[f"{mode}_logits"])
    labels = torch.from_numpy(golden.arrays["labels"])
    losses = task.losses(logits, labelled(labels))
    expected = golden.facts[f"{mode}_sequence_loss"]
    assert float(losses.mean()) == pytest.approx(expected, rel=1e-5)
    for row, reading in enumerate(task.read(logits)):
        assert list(reading.codes) == golden.arrays[f"{mode}_predicted"][row].tolist()
        assert reading.original_confidence == pytest.approx(
            float(golden.arrays[f"{mode}_normalized_confidence"][row]), rel=1e-4
        )


def test_a_reading_ends_at_the_first_null() -> None:
    a, b, null = CHARSET.encode("a")[0], CHARSET.encode("b")[0], CHARSET.null
    task = spell()
    whole, empty, broken = task.read(
        sure_logits([[a, b, a, b, a, b], [null] * 6, [a, b, null, null, a, null]])
    )
    assert (whole.text, empty.text, broken.text) == ("ababab", "", "ab")
    assert broken.codes == (a, b)
    sure = math.exp(6) / (math.exp(6) + CHARSET.classes - 1)
    assert broken.character_scores == pytest.approx((sure, sure))
    for reading in (whole, empty, broken):
        assert reading.confidence == pytest.approx(sure)
    assert empty.original_confidence == pytest.approx(sure)
    assert broken.original_confidence == pytest.approx(sure)
    assert whole.original_confidence == pytest.approx(sure ** (6 / 7)), "there is no null behind"


def test_confidence_falls_with_any_doubt_in_the_text_and_not_behind_it() -> None:
    codes = [[*CHARSET.encode("abc"), *[CHARSET.null] * 3]] * 3
    logits = sure_logits(codes)
    logits[1, 1] /= 2
    logits[2, 5] /= 2
    sure, doubtful, behind = (reading.confidence for reading in spell().read(logits))
    assert doubtful < sure
    assert behind == sure


def test_scores_of_an_exported_file_are_read_alike() -> None:
    logits = random_logits(4)
    assert read_signs(logits.numpy(), CHARSET) == spell().read(logits)


def test_the_null_may_have_any_code() -> None:
    charset = Charset(((0, NULL_NAME), (1, "x"), (2, "y")))
    (reading,) = read_signs(sure_logits([[2, 1, 0, 1]], 3), charset)
    assert reading.text == "yx"


def test_characters_that_share_a_code_read_as_the_last_of_them() -> None:
    codes = CHARSET.padded("a\u2019b", LENGTH)
    (reading,) = spell().read(sure_logits([codes]))
    assert reading.text == "a'b"


def test_a_step_repeats_exactly_from_its_seed(emulated_npu: torch.device) -> None:
    task, data = spell(augment=EVERYTHING), batch(["a", "b", "cd", ""])

    def step(device: torch.device) -> tuple[Tensor, Tensor]:
        torch.manual_seed(11)
        there = data.to(device)
        inputs, varied = task.vary(there)
        logits = inputs.mean(dim=(1, 2))[:, : LENGTH * 5].unflatten(1, (LENGTH, 5))
        logits = logits.repeat(1, 1, 3)[:, :, : CHARSET.classes]
        return inputs.cpu(), task.losses(logits, varied).cpu()

    first, again, there = map(step, (torch.device("cpu"), torch.device("cpu"), emulated_npu))
    assert torch.equal(first[0], again[0])
    torch.testing.assert_close(first[0], there[0], rtol=0, atol=1e-3)
    torch.testing.assert_close(first[1], there[1])


def test_a_snapshot_tells_empty_and_equal_readings() -> None:
    null = [CHARSET.null] * 6
    logits = sure_logits([null, null, [1, *null[1:]], [2, *null[1:]], [3, *null[1:]]])
    assert spell().snapshot(7, 1.5, logits) == Snapshot(7, 1.5, 0.4, 0.75)
    same = spell().snapshot(7, 1.5, sure_logits([[1, *null[1:]]] * 4))
    assert (same.empty_share, same.distinct_share) == (0.0, 0.0)
    assert spell().snapshot(7, 1.5, sure_logits([[1, *null[1:]]])).distinct_share == 1


def history(loss: float, empty: float = 0.0, distinct: float = 0.8) -> list[Snapshot]:
    return [Snapshot(step, loss, empty, distinct) for step in range(0, PATIENCE_STEPS + 1, 100)]


def test_a_healthy_run_has_no_diagnosis() -> None:
    task = Spell(fsns_charset())
    assert task.diagnose([]) is None
    assert task.diagnose(history(30.4)) is None, "it has nothing more to learn"
    assert task.diagnose(history(90.0)[:-1]) is None
    falling = [Snapshot(s.step, 120 - s.step / 50, 0.0, 0.8) for s in history(0)]
    assert task.diagnose(falling) is None


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_broken_loss_is_told_with_what_to_try(loss: float) -> None:
    told = spell().diagnose([Snapshot(10, loss, 0.0, 1.0)])
    assert told is not None
    assert "--debug overflow" in told
    assert "lower learning rate" in told


def test_nothing_read_is_told() -> None:
    told = Spell(fsns_charset()).diagnose(history(80.0, empty=1.0, distinct=0.0))
    assert told is not None
    assert f"Nothing has been read for {PATIENCE_STEPS} steps" in told


def test_one_text_for_all_pictures_is_told() -> None:
    told = Spell(fsns_charset()).diagnose(history(80.0, distinct=0.0))
    assert told is not None
    assert "same text" in told


def test_a_loss_that_does_not_fall_is_told() -> None:
    told = Spell(fsns_charset()).diagnose(history(80.0))
    assert told is not None
    assert "stayed at 80.0" in told
    assert "guessing gives 181.2, a perfect network 29.9" in told


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(UsageError):
        Spell(CHARSET, protocol="nonsense").new_score()

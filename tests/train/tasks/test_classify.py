"""The task of naming photographs: inputs, losses as TensorFlow's, and plain words when it fails."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from trainferry.train.data.batch import Batch
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture
from trainferry.train.tasks.classify import Classify
from trainferry.train.tasks.diagnose import PATIENCE_STEPS
from trainferry.train.tasks.task import Score, Snapshot, Task

NAMES = ("cat", "dog", "cow", "hen", "pig", "fox")
PICTURE = PhotoPicture(height=12, width=16)


def batch(labels: list[int]) -> Batch:
    dice = np.random.default_rng(1)
    return Batch(
        images=torch.from_numpy(dice.integers(0, 256, (len(labels), 12, 16, 3), np.uint8)),
        labels=torch.tensor(labels),
        lengths=torch.ones(len(labels), dtype=torch.int64),
        valid=torch.ones(len(labels), dtype=torch.bool),
        positions=torch.arange(len(labels)),
        skipped=torch.tensor(0),
    )


def classify(
    smoothing: float = 0.0, *, background: bool = True, augment: PhotoAugment | None = None
) -> Classify:
    return Classify(NAMES, background, smoothing, PICTURE, augment or PhotoAugment())


def random_logits(rows: int, classes: int = 7) -> Tensor:
    return 3 * torch.randn(rows, classes, generator=torch.Generator().manual_seed(2))


def test_classify_is_a_task() -> None:
    task: Task = classify()
    score: Score = task.new_score()
    assert score.primary in score.values()


def test_the_background_is_a_class_of_the_network() -> None:
    assert classify().outputs == 7
    assert classify().names[0] == "background"
    assert classify(background=False).outputs == 6
    assert classify(background=False).names == NAMES


def test_inputs_are_normalised_whether_bytes_or_not() -> None:
    images = batch([1, 2]).images
    inputs = classify().inputs(images)
    assert inputs.shape == (2, 3, 12, 16)
    expected = images.permute(0, 3, 1, 2).float() - torch.tensor(PICTURE.mean).view(3, 1, 1)
    assert torch.equal(inputs, expected)
    assert torch.equal(classify().inputs(images.float()), expected)


def test_without_variation_training_sees_what_evaluation_sees() -> None:
    task, data = classify(), batch([1, 2, 3])
    inputs, varied = task.vary(data)
    assert torch.equal(inputs, task.inputs(data.images))
    assert varied is data


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("background", [True, False])
def test_losses_are_those_of_tensorflow(smoothing: float, background: bool) -> None:
    task = classify(smoothing, background=background)
    labels, classes = [0, 3, 5, 1], task.outputs
    logits = random_logits(4, classes)
    # softmax_cross_entropy(onehot * (1 - s) + s / K), written out
    values = logits.double().numpy()
    answered = values - np.log(np.exp(values).sum(1, keepdims=True))
    wanted = np.eye(classes)[labels] * (1 - smoothing) + smoothing / classes
    losses = task.losses(logits, batch(labels))
    assert losses.dtype == torch.float32
    np.testing.assert_allclose(losses.numpy(), -(wanted * answered).sum(1), rtol=1e-5)
    same = functional.cross_entropy(
        logits, torch.tensor(labels), label_smoothing=smoothing, reduction="none"
    )
    torch.testing.assert_close(losses, same)


def test_losses_of_half_precision_are_computed_in_fp32() -> None:
    task, logits = classify(0.1), random_logits(3).bfloat16()
    losses = task.losses(logits, batch([1, 2, 3]))
    assert torch.equal(losses, task.losses(logits.float(), batch([1, 2, 3])))


def test_soft_labels_take_the_place_of_labels() -> None:
    task, data, logits = classify(0.1), batch([1, 2, 3]), random_logits(3)
    soft = dataclasses.replace(data, soft=task.shares(data.labels))
    torch.testing.assert_close(task.losses(logits, soft), task.losses(logits, data))


@pytest.mark.parametrize("augment", [PhotoAugment(mixup=0.4), PhotoAugment(cutmix=1.0)])
def test_mixed_pictures_have_mixed_smoothed_labels(augment: PhotoAugment) -> None:
    task, data = classify(0.1, augment=augment), batch([1, 4, 6, 2])
    torch.manual_seed(5)
    inputs, mixed = task.vary(data)
    assert inputs.shape == (4, 3, 12, 16)
    assert mixed.soft is not None
    torch.testing.assert_close(mixed.soft.sum(1), torch.ones(4))
    floor = 0.1 / 7
    own, other = float(mixed.soft[1, 4] - floor) / 0.9, float(mixed.soft[1, 1] - floor) / 0.9
    assert own + other == pytest.approx(1)
    losses = task.losses(random_logits(4), mixed)
    plain = task.losses(random_logits(4), data)
    before = task.losses(random_logits(4), dataclasses.replace(data, labels=data.labels.roll(1)))
    torch.testing.assert_close(losses, own * plain + other * before)


def test_a_step_repeats_exactly_from_its_seed(emulated_npu: torch.device) -> None:
    everything = PhotoAugment(operations=2, mixup=0.2, cutmix=1.0, erasing=0.5)
    task, data = classify(0.1, augment=everything), batch([1, 2, 3, 4, 5, 6])

    def step(device: torch.device) -> tuple[Tensor, Tensor]:
        torch.manual_seed(11)
        inputs, mixed = task.vary(data.to(device))
        logits = inputs.mean(dim=(2, 3)) @ torch.ones(3, 7, device=device)
        return inputs.cpu(), task.losses(logits, mixed).cpu()

    first, again, there = map(step, (torch.device("cpu"), torch.device("cpu"), emulated_npu))
    assert torch.equal(first[0], again[0])
    torch.testing.assert_close(first[0], there[0], rtol=0, atol=1e-2)
    torch.testing.assert_close(first[1], there[1])


def test_a_snapshot_tells_how_many_get_another_answer() -> None:
    logits = functional.one_hot(torch.tensor([2, 2, 2, 5]), 7).float()
    assert classify().snapshot(7, 1.5, logits) == Snapshot(7, 1.5, 0.0, distinct_share=0.25)


def history(loss: float, distinct: float = 0.8) -> list[Snapshot]:
    return [Snapshot(step, loss, 0.0, distinct) for step in range(0, PATIENCE_STEPS + 1, 100)]


def test_a_healthy_run_has_no_diagnosis() -> None:
    task = classify()
    assert task.diagnose([]) is None
    assert task.diagnose(history(1.2)) is None
    assert task.diagnose(history(math.log(7))[:-1]) is None
    falling = [Snapshot(s.step, 1.9 - s.step / 2000, 0.0, 0.8) for s in history(0)]
    assert task.diagnose(falling) is None


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_broken_loss_is_told_with_what_to_try(loss: float) -> None:
    told = classify().diagnose([Snapshot(10, loss, 0.0, 1.0)])
    assert told is not None
    assert "--debug overflow" in told
    assert "lower learning rate" in told


def test_a_loss_that_stays_at_guessing_is_told() -> None:
    told = classify().diagnose(history(math.log(7) - 0.01))
    assert told is not None
    assert "guessing among 7 classes gives 1.95" in told
    assert f"for {PATIENCE_STEPS} steps" in told


def test_one_class_for_all_pictures_is_told() -> None:
    told = classify().diagnose(history(1.7, distinct=0.0))
    assert told is not None
    assert "one and the same class" in told
    assert classify().diagnose(history(0.05, distinct=0.0)) is None, "they may be of one class"

"""The CTC loss agrees with PyTorch's own, and never breaks a run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from trainferry.train.data.words.alphabet import Alphabet
from trainferry.train.tasks.ctc import ctc_losses, impossible_labels
from trainferry.train.tasks.decode import greedy

Losses = Callable[[Tensor, Tensor, Tensor], Tensor]


def reference(logits: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
    samples, columns, classes = logits.shape
    return functional.ctc_loss(
        logits.float().log_softmax(2).transpose(0, 1)
        if logits.dtype != torch.float64
        else logits.log_softmax(2).transpose(0, 1),
        labels,
        torch.full((samples,), columns),
        lengths,
        blank=classes - 1,
        reduction="none",
        zero_infinity=True,
    )


def gradient(
    function: Losses, logits: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    logits = logits.clone().requires_grad_()
    losses = function(logits, labels, lengths)
    weights = torch.linspace(0.5, 1.5, len(losses), dtype=losses.dtype)
    (losses * weights).sum().backward()
    assert logits.grad is not None
    return losses.detach(), logits.grad


def batch(
    samples: int, columns: int, classes: int, length: int, seed: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(samples, columns, classes, generator=generator, dtype=torch.float64)
    labels = torch.randint(classes - 1, (samples, length), generator=generator)
    lengths = torch.randint(length + 1, (samples,), generator=generator)
    return logits, pad(labels, lengths, classes - 1), lengths


def pad(labels: Tensor, lengths: Tensor, filler: int) -> Tensor:
    return torch.where(torch.arange(labels.shape[1]) < lengths[:, None], labels, filler)


@settings(max_examples=60, deadline=None)
@given(
    samples=st.integers(1, 5),
    columns=st.integers(1, 12),
    classes=st.integers(2, 6),
    length=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_values_and_gradients_are_those_of_pytorch(
    samples: int, columns: int, classes: int, length: int, seed: int
) -> None:
    logits, labels, lengths = batch(samples, columns, classes, length, seed)
    losses, slopes = gradient(ctc_losses, logits, labels, lengths)
    expected, expected_slopes = gradient(reference, logits, labels, lengths)
    torch.testing.assert_close(losses, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(slopes, expected_slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length", [0, 1, 12, 23])
def test_labels_of_every_length_agree_in_float32(length: int) -> None:
    logits, labels, _ = batch(4, 25, 37, 23)
    lengths = torch.full((4,), length)
    # Neighbours differ, so that 23 characters fit into 25 columns.
    labels = pad((labels // 2) * 2 % 36 + torch.arange(23) % 2, lengths, 36)
    losses, slopes = gradient(ctc_losses, logits.float(), labels, lengths)
    expected, expected_slopes = gradient(reference, logits, labels, lengths)
    assert losses.dtype == torch.float32
    torch.testing.assert_close(losses, expected.float(), rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(slopes, expected_slopes.float(), rtol=1e-4, atol=1e-5)


def test_repeated_characters_need_a_blank_between_them() -> None:
    logits, _, _ = batch(2, 25, 37, 6)
    labels = torch.tensor([[3, 3, 3, 7, 7, 36], [1, 2, 2, 1, 2, 2]])
    lengths = torch.tensor([5, 6])
    losses, slopes = gradient(ctc_losses, logits, labels, lengths)
    expected, expected_slopes = gradient(reference, logits, labels, lengths)
    torch.testing.assert_close(losses, expected)
    torch.testing.assert_close(slopes, expected_slopes)


def test_an_empty_label_costs_the_blank_of_every_column() -> None:
    logits, labels, _ = batch(3, 9, 5, 4)
    losses = ctc_losses(logits, labels, torch.zeros(3, dtype=torch.int64))
    torch.testing.assert_close(losses, -logits.log_softmax(2)[:, :, -1].sum(1))


def test_an_impossible_label_has_no_loss_and_no_gradient_and_is_flagged() -> None:
    logits, _, _ = batch(3, 4, 5, 4)
    labels = torch.tensor([[0, 1, 1, 2], [0, 1, 2, 3], [1, 1, 1, 1]])
    lengths = torch.tensor([4, 4, 3])
    assert impossible_labels(labels, lengths, 4).tolist() == [True, False, True]
    losses, slopes = gradient(ctc_losses, logits.float(), labels, lengths)
    assert (losses == 0).tolist() == [True, False, True]
    assert slopes.abs().sum((1, 2)).gt(0).tolist() == [False, True, False]
    assert slopes.isfinite().all()


def test_what_lies_beyond_the_length_does_not_matter() -> None:
    logits, labels, lengths = batch(6, 10, 5, 6)
    padded = gradient(ctc_losses, logits, labels, lengths)
    rubbish = gradient(ctc_losses, logits, pad(labels, lengths, 1), lengths)
    wider = gradient(ctc_losses, logits, functional.pad(labels, (0, 5), value=4), lengths)
    for other in (rubbish, wider):
        for one, two in zip(padded, other, strict=True):
            torch.testing.assert_close(one, two)
    assert torch.equal(
        impossible_labels(labels, lengths, 3),
        impossible_labels(pad(labels, lengths, 1), lengths, 3),
    )


def test_each_sample_is_alone_in_its_batch() -> None:
    logits, labels, lengths = batch(5, 10, 5, 6)
    together = ctc_losses(logits, labels, lengths)
    alone = [
        ctc_losses(logits[i : i + 1], labels[i : i + 1, : int(lengths[i])], lengths[i : i + 1])
        for i in range(5)
    ]
    torch.testing.assert_close(together, torch.cat(alone))


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    logits, labels, lengths = batch(3, 6, 4, 3)
    lengths[0], labels[0] = 3, torch.tensor([1, 1, 2])
    assert torch.autograd.gradcheck(
        lambda x: ctc_losses(x, labels, lengths), (logits.requires_grad_(),)
    )


def test_probabilities_of_all_labels_add_up_to_one() -> None:
    logits, _, _ = batch(1, 3, 3, 3)
    total = 0.0
    for length in range(4):
        for label in itertools.product(range(2), repeat=length):
            labels = torch.tensor([[*label, *[2] * (3 - length)]])
            lengths = torch.tensor([length])
            if not impossible_labels(labels, lengths, 3).any():
                total += float(torch.exp(-ctc_losses(logits, labels, lengths)))
    assert total == pytest.approx(1)


def test_half_precision_scores_give_float32_losses_and_half_precision_gradients() -> None:
    logits, labels, lengths = batch(4, 25, 37, 10)
    rounded = logits.bfloat16()
    losses, slopes = gradient(ctc_losses, rounded, labels, lengths)
    expected, expected_slopes = gradient(ctc_losses, rounded.float(), labels, lengths)
    assert losses.dtype == torch.float32
    assert slopes.dtype == torch.bfloat16
    torch.testing.assert_close(losses, expected)
    torch.testing.assert_close(slopes, expected_slopes.bfloat16())


def test_autocast_does_not_change_the_loss() -> None:
    logits, labels, lengths = batch(4, 25, 37, 10)
    plain = gradient(ctc_losses, logits.float(), labels, lengths)
    with torch.autocast("cpu", torch.bfloat16):
        cast = gradient(ctc_losses, logits.float(), labels, lengths)
    assert torch.equal(plain[0], cast[0])
    assert torch.equal(plain[1], cast[1])


def test_thousands_of_classes_and_many_columns_agree() -> None:
    logits, labels, lengths = batch(3, 70, 5825, 23)
    losses, slopes = gradient(ctc_losses, logits.float(), labels, lengths)
    expected, expected_slopes = gradient(reference, logits, labels, lengths)
    torch.testing.assert_close(losses, expected.float(), rtol=1e-5, atol=1e-3)
    torch.testing.assert_close(slopes, expected_slopes.float(), rtol=1e-3, atol=1e-4)


def test_extreme_scores_stay_finite() -> None:
    logits, labels, lengths = batch(4, 25, 37, 10)
    losses, slopes = gradient(ctc_losses, (logits * 1e4).float(), labels, lengths)
    assert losses.isfinite().all()
    assert slopes.isfinite().all()


def test_broken_scores_are_not_hidden() -> None:
    logits, labels, lengths = batch(2, 8, 5, 3)
    logits[0, 2, 1] = torch.nan
    losses = ctc_losses(logits, labels, lengths)
    assert losses.isnan().tolist() == [True, False]


def test_losses_and_readings_are_those_of_the_original(shared: Path) -> None:
    facts = json.loads((shared / "golden" / "crnn.json").read_text(encoding="utf-8"))
    alphabet = Alphabet(facts["alphabet"])
    golden = np.load(shared / "golden" / "crnn.npz")
    texts = facts["words"]
    labels = torch.full((len(texts), 23), alphabet.blank)
    for row, text in enumerate(texts):
        labels[row, : len(text)] = torch.tensor(alphabet.encode(text))
    lengths = torch.tensor([len(text) for text in texts])
    for mode in ("eval", "train"):
        logits = torch.from_numpy(golden[f"{mode}_logits"]).transpose(0, 1)
        losses = ctc_losses(logits, labels, lengths)
        torch.testing.assert_close(losses, torch.from_numpy(golden[f"{mode}_losses"]))
        expected = [tuple(row[row >= 0].tolist()) for row in golden[f"{mode}_greedy"]]
        assert [reading.classes for reading in greedy(logits)] == expected

"""The CTC kernels against the plain path, against torch's own loss, and against float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from trainferry.train.kernels.ctc import CTC, takes
from trainferry.train.tasks.ctc import PlainCTC, impossible_labels

pytestmark = pytest.mark.cuda

CLOSE = {
    torch.float32: (2e-5, 1e-5),
    torch.bfloat16: (2e-5, 1.6e-2),  # of the gradient: its own type
    torch.float16: (2e-5, 2e-3),
}

Batch = tuple[Tensor, Tensor, Tensor]


def batch(
    device: torch.device, samples: int, columns: int, classes: int, length: int, seed: int = 0
) -> Batch:
    stream = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(samples, columns, classes, generator=stream)
    labels = torch.randint(max(classes - 1, 1), (samples, length), generator=stream)
    lengths = torch.randint(length + 1, (samples,), generator=stream)
    return logits.to(device), labels.to(device), lengths.to(device)


def learn(function: type[torch.autograd.Function], parts: Batch) -> tuple[Tensor, Tensor]:
    logits, labels, lengths = parts
    logits = logits.clone().requires_grad_()
    losses = function.apply(logits, labels, lengths)
    weights = torch.linspace(0.5, 1.5, len(losses), dtype=losses.dtype, device=losses.device)
    (losses * weights).sum().backward()
    assert logits.grad is not None
    return losses.detach(), logits.grad


def check(parts: Batch) -> None:
    logits, labels, lengths = parts
    losses, slopes = learn(CTC, parts)
    expected, expected_slopes = learn(PlainCTC, (logits.double(), labels, lengths))
    assert losses.dtype == torch.float32
    assert slopes.dtype == logits.dtype
    of_loss, of_slope = CLOSE[logits.dtype]
    torch.testing.assert_close(losses.double(), expected, rtol=of_loss, atol=1e-4)
    torch.testing.assert_close(slopes.double(), expected_slopes, rtol=of_slope, atol=of_slope)


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 2, 1), (3, 7, 5, 4), (2, 25, 37, 23), (2, 12, 5, 12), (1, 40, 11, 38), (2, 3, 700, 2)],
    ids=str,
)
def test_losses_and_gradients_are_those_of_float64(
    kernel_device: torch.device, shape: tuple[int, int, int, int], dtype: torch.dtype
) -> None:
    logits, labels, lengths = batch(kernel_device, *shape)
    check((logits.to(dtype), labels, lengths))


def test_thousands_of_classes_agree(kernel_device: torch.device) -> None:
    check(batch(kernel_device, 2, 9, 5_999, 6))


def test_losses_are_those_of_torch(kernel_device: torch.device) -> None:
    logits, labels, lengths = batch(kernel_device, 5, 25, 37, 12)
    expected = functional.ctc_loss(
        logits.double().log_softmax(2).transpose(0, 1),
        labels,
        torch.full((5,), 25),
        lengths,
        blank=36,
        reduction="none",
        zero_infinity=True,
    )
    losses = CTC.apply(logits, labels, lengths)
    torch.testing.assert_close(losses.double(), expected, rtol=2e-5, atol=1e-4)


def test_repeated_characters_and_empty_labels(kernel_device: torch.device) -> None:
    logits, _, _ = batch(kernel_device, 4, 12, 9, 6)
    labels = torch.tensor(
        [[3, 3, 3, 7, 7, 0], [1, 2, 2, 1, 2, 2], [0] * 6, [5] * 6], device=kernel_device
    )
    check((logits, labels, torch.tensor([5, 6, 0, 6], device=kernel_device)))


def test_an_impossible_label_has_no_loss_and_no_gradient(kernel_device: torch.device) -> None:
    logits, _, _ = batch(kernel_device, 3, 4, 5, 4)
    labels = torch.tensor([[0, 1, 1, 2], [0, 1, 2, 3], [1, 1, 1, 1]], device=kernel_device)
    lengths = torch.tensor([4, 4, 3], device=kernel_device)
    assert impossible_labels(labels, lengths, 4).tolist() == [True, False, True]
    losses, slopes = learn(CTC, (logits, labels, lengths))
    assert (losses == 0).tolist() == [True, False, True]
    assert slopes.abs().sum((1, 2)).gt(0).tolist() == [False, True, False]


def test_what_lies_beyond_the_length_does_not_matter(kernel_device: torch.device) -> None:
    logits, labels, lengths = batch(kernel_device, 4, 10, 5, 6)
    rubbish = labels.clone()
    rubbish[torch.arange(6, device=kernel_device) >= lengths[:, None]] = -7
    wide = functional.pad(labels, (0, 30), value=10**6)[:, :6]  # rows with a stride of their own
    for other in (rubbish, wide):
        for one, two in zip(
            learn(CTC, (logits, labels, lengths)), learn(CTC, (logits, other, lengths)), strict=True
        ):
            assert torch.equal(one, two)


def test_a_mean_weighs_every_loss_alike(kernel_device: torch.device) -> None:
    logits, labels, lengths = batch(kernel_device, 3, 8, 5, 3)
    slopes = []
    for function in (CTC, PlainCTC):
        scores = logits.clone().requires_grad_()
        function.apply(scores, labels, lengths).mean().backward()
        slopes.append(scores.grad)
    torch.testing.assert_close(*slopes, rtol=1e-5, atol=1e-6)


def test_broken_and_extreme_scores_stay_as_visible_as_they_were(
    kernel_device: torch.device,
) -> None:
    logits, labels, lengths = batch(kernel_device, 2, 8, 5, 3)
    losses, slopes = learn(CTC, (logits * 1e4, labels, lengths))
    assert losses.isfinite().all()
    assert slopes.isfinite().all()
    logits[0, 2, 1] = torch.nan
    assert CTC.apply(logits, labels, lengths).isnan().tolist() == [True, False]


def test_a_class_that_is_ruled_out_breaks_nothing(kernel_device: torch.device) -> None:
    logits, labels, lengths = batch(kernel_device, 2, 8, 5, 3)
    logits[:, :, 0] = -torch.inf
    labels = labels.clamp(min=1)
    check((logits, labels, lengths))


def test_double_precision_and_huge_alphabets_are_left_to_the_plain_path(
    kernel_device: torch.device,
) -> None:
    logits, labels, _ = batch(kernel_device, 1, 2, 5, 2)
    assert takes(logits, labels)
    assert not takes(logits.double(), labels)
    assert not takes(logits.new_zeros(1, 1, 20_000), labels)
    assert not takes(logits, labels.new_zeros(1, 2_000))


def test_a_replayed_loss_reads_what_is_there_now(kernel_device: torch.device) -> None:
    if kernel_device.type != "cuda":
        pytest.skip("needs an NVIDIA GPU: there are no graphs elsewhere")
    from trainferry.devices.capture import Recorded

    logits, labels, lengths = batch(kernel_device, 4, 25, 37, 12)
    scores = logits.clone().requires_grad_()

    def work() -> tuple[Tensor, ...]:
        losses = CTC.apply(scores, labels, lengths)
        return losses.detach(), *torch.autograd.grad(losses.sum(), scores)

    recorded = Recorded(work, kernel_device)
    for seed in range(6):
        new = batch(kernel_device, 4, 25, 37, 12, seed)
        with torch.no_grad():
            for old, value in zip((scores, labels, lengths), new, strict=True):
                old.copy_(value)
        losses, slopes = (each.clone() for each in recorded())
        expected = new[0].clone().requires_grad_()
        theirs = CTC.apply(expected, *new[1:])
        assert torch.equal(losses, theirs)
        assert torch.equal(slopes, *torch.autograd.grad(theirs.sum(), expected))
    assert recorded.is_recorded

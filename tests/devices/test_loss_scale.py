"""Loss scaling moves as the originals do."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from trainferry.devices.loss_scale import ORIGINAL_START, LossScale, LossScaleOptions
from trainferry.errors import CheckpointError, RecipeError


def dynamic(**changes: float) -> LossScale:
    return LossScale(LossScaleOptions("dynamic", **changes))  # type: ignore[arg-type]  # names checked by the call


def trace(scale: LossScale, steps: str) -> list[float]:
    """Play `+` for a finite step and `!` for an overflow."""
    values = []
    for step in steps:
        scale.update(step == "+")
        values.append(scale.value)
    return values


def test_moves_exactly_as_the_exponential_manager_of_contrib() -> None:
    scale = dynamic(start=8.0, grow_after=3, shrink_after=2)
    #      grow        bad 1: good = 0   bad 2: halve        bad 1 stays, bad 2: halve
    steps = "+++" + "+!" + "++" + "!" + "++" + "!+!" + "+++"
    assert trace(scale, steps) == [
        *(8.0, 8.0, 16.0),  # the third clean step in a row doubles
        *(16.0, 16.0),  # one overflow is remembered, and clean steps count anew
        *(16.0, 16.0),  # clean steps do not clear the overflow
        8.0,  # the second overflow halves; both counters start again
        *(8.0, 8.0),
        *(8.0, 8.0, 4.0),  # clean step between two overflows: still two
        *(4.0, 4.0, 8.0),
    ]
    assert scale.overflows == 4


def test_doubling_forgets_the_overflows_before_it() -> None:
    scale = dynamic(start=4.0, grow_after=2, shrink_after=2)
    assert trace(scale, "!++!+!") == [4.0, 4.0, 8.0, 8.0, 8.0, 4.0]


def test_the_defaults_are_those_of_the_originals() -> None:
    scale = dynamic()
    assert scale.value == 2.0**16
    assert trace(scale, "+" * 1000)[-2:] == [2.0**16, 2.0**17]
    assert trace(scale, "!!") == [2.0**17, 2.0**16]


def test_never_below_one() -> None:
    assert trace(dynamic(start=2.0), "!!!!!!") == [2.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_a_doubling_past_fp32_is_left_out() -> None:
    scale = dynamic(start=2.0**127, grow_after=1)
    assert trace(scale, "++") == [2.0**127, 2.0**127]


def test_a_static_scale_counts_overflows_but_stays() -> None:
    scale = LossScale(LossScaleOptions("static", start=128.0, grow_after=1))
    assert trace(scale, "+!!!+") == [128.0] * 5
    assert scale.overflows == 3


def test_without_scaling_the_loss_is_the_loss() -> None:
    scale = LossScale(LossScaleOptions("none"))
    loss = torch.tensor(3.0)
    assert scale.scale(loss) is loss
    assert not scale.skips_overflows
    assert not scale.unscale([_with_gradient(float("nan"))])


def test_a_resumed_run_scales_as_if_never_stopped() -> None:
    steps = "++!+++!++!" * 3
    whole, first, second = (dynamic(start=64.0, grow_after=4) for _ in range(3))
    expected = trace(whole, steps)
    head = trace(first, steps[:13])
    second.restore(first.state())
    assert head + trace(second, steps[13:]) == expected
    assert second.state() == whole.state()


def test_a_static_scale_is_that_of_the_recipe_not_of_the_checkpoint() -> None:
    scale = LossScale(LossScaleOptions("static", start=128.0))
    scale.restore({"value": 4.0, "good_steps": 3, "bad_steps": 1, "overflows": 9})
    assert (scale.value, scale.overflows) == (128.0, 9)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(CheckpointError, match="lacks good_steps"):
        dynamic().restore({"value": 1.0, "bad_steps": 0, "overflows": 0})


@pytest.mark.parametrize("kind", ["cpu", "npu"])
def test_gradients_come_back_at_their_own_size(kind: str, emulated_npu: torch.device) -> None:
    device = emulated_npu if kind == "npu" else torch.device(kind)
    torch.manual_seed(0)
    plain = nn.Linear(3, 2).to(device)
    inputs = torch.randn(5, 3).to(device)
    plain(inputs).square().mean().backward()
    expected = [weight.grad.clone() for weight in plain.parameters() if weight.grad is not None]

    plain.zero_grad()
    scale = LossScale(LossScaleOptions("dynamic", start=ORIGINAL_START))
    scale.scale(plain(inputs).square().mean()).backward()
    finite = scale.unscale(plain.parameters())

    assert finite.device.type == kind
    assert finite.dtype == torch.bool
    assert finite.item()
    for weight, gradient in zip(plain.parameters(), expected, strict=True):
        assert weight.grad is not None
        assert torch.equal(weight.grad, gradient)  # a power of two divides exactly


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), float("nan")])
def test_one_bad_gradient_makes_the_step_an_overflow(bad: float) -> None:
    good, broken = _with_gradient(1.0), _with_gradient(bad)
    assert not dynamic().unscale([good, broken, nn.Parameter(torch.zeros(1))])
    assert dynamic().unscale([good])


def test_gradients_of_several_formats_are_all_looked_at() -> None:
    half = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
    half.grad = torch.full((2,), float("inf"), dtype=torch.bfloat16)
    for order in ([half, _with_gradient(1.0)], [_with_gradient(1.0), half]):
        assert not dynamic().unscale(order)


def test_no_gradients_are_finite_gradients() -> None:
    assert dynamic().unscale([])


@pytest.mark.parametrize(
    "changes",
    [
        {"start": 0.5},
        {"start": float("inf")},
        {"start": float("nan")},
        {"grow_after": 0},
        {"shrink_after": 0},
        {"grow_by": 1.0},
        {"shrink_by": 1.0},
        {"shrink_by": 0.0},
    ],
)
def test_numbers_that_make_no_sense_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(RecipeError):
        dynamic(**changes)


def _with_gradient(value: float) -> Tensor:
    weight = nn.Parameter(torch.zeros(3))
    weight.grad = torch.tensor([1.0, value, 2.0])
    return weight

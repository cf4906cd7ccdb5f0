"""Programs that read both ways against torch's LSTM, values and all gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from torch import Tensor, nn

from trainferry.devices.kernels import large_programs_at_once
from trainferry.train.kernels import recurrence as kernel
from trainferry.train.kernels.lstm import _plan, read_by_time
from trainferry.train.kernels.recurrence import Plan, Recurrence, Slices, plan_for
from trainferry.train.networks.crnn import ForgetBiasLSTM

pytestmark = pytest.mark.cuda

Read = Callable[[nn.LSTM, Tensor], tuple[Tensor, tuple[Tensor, Tensor]]]

# pictures, columns, channels, hidden, layers
SHAPES = {
    "small": (3, 4, 6, 16, 1),
    "two layers, two tiles": (18, 3, 8, 32, 2),
    "one column": (5, 1, 8, 16, 2),
    "one picture, three layers": (1, 5, 3, 16, 3),
    "wide": (4, 3, 16, 64, 1),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_values_states_and_gradients_are_those_of_the_lstm(
    kernel_device: torch.device, shape: tuple[int, ...]
) -> None:
    recurrence, columns = make(shape, kernel_device)
    alone = Slices(shape[3], 16, 4, 4, False)
    theirs = facts(nn.LSTM.forward, in_format(recurrence, torch.float64), columns.double())
    mine = facts(reads_with(alone), recurrence, columns)
    for own, expected in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own.double(), expected, rtol=1e-4, atol=1e-5)


def test_products_may_be_computed_in_eight_parts(kernel_device: torch.device) -> None:
    recurrence, columns = make((3, 3, 6, 64, 1), kernel_device)
    mine, theirs = (
        facts(reads_with(Slices(64, 16, 8, parts, False)), recurrence, columns) for parts in (8, 1)
    )
    for own, expected in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own, expected, rtol=1e-4, atol=1e-5)


def test_gradients_may_come_through_the_last_state_alone(kernel_device: torch.device) -> None:
    recurrence, columns = make(SHAPES["two layers, two tiles"], kernel_device)
    exact = in_format(recurrence, torch.float64)
    found = []
    for read, lstm, given in (
        (reads_with(Slices(32, 16, 4, 4, False)), recurrence, columns.clone()),
        (nn.LSTM.forward, exact, columns.double()),
    ):
        _, (hidden, cell) = read(lstm, given.requires_grad_())
        (hidden * cell.cos()).sum().backward()
        assert given.grad is not None
        found.append(given.grad.double())
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_in_half_precision_they_are_as_near_to_the_truth_as_rounding_allows(
    kernel_device: torch.device, kind: torch.dtype
) -> None:
    recurrence, columns = make((18, 4, 24, 32, 2), kernel_device)
    check_half(recurrence, columns, Slices(32, 16, 4, 4, False), kind)


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "counted"])
@pytest.mark.parametrize(
    ("units", "rows", "warps", "parts"),
    [(16, 16, 4, 4), (16, 16, 8, 8), (32, 32, 8, 1), (32, 64, 8, 1)],
)
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_programs_that_tell_each_other_get_the_same(
    kernel_device: torch.device,
    kind: torch.dtype,
    units: int,
    rows: int,
    warps: int,
    parts: int,
    marked: bool,
) -> None:
    needs_programs_at_once(kernel_device)
    recurrence, columns = make((70, 25, 48, 128, 2), kernel_device)
    slices = Slices(units, rows, warps, parts, marked)
    check_half(recurrence, columns, slices, kind)
    columns = columns.to(kind)
    first, second = (facts(reads_with(slices), recurrence, columns) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("pictures", [64, 100, 200, 512, 600])
def test_every_batch_is_cut_so_that_programs_run_at_the_same_time(
    kernel_device: torch.device, pictures: int
) -> None:
    needs_programs_at_once(kernel_device)
    recurrence, columns = make((pictures, 3, 32, 256, 1), kernel_device)
    plan = plan_for(pictures, 256, large_programs_at_once(kernel_device))
    assert plan is not None
    for slices in plan:
        check_half(recurrence, columns, slices, torch.bfloat16)


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "counted"])
def test_who_waits_for_a_program_that_does_not_run_gives_up(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch, marked: bool
) -> None:
    needs_programs_at_once(kernel_device)
    launches = kernel._launches

    def without_the_last(*given: object) -> Iterator[kernel._Launch]:
        for launch in launches(*given):  # type: ignore[arg-type]
            count, tiles, directions = launch.grid
            yield launch._replace(grid=(count - 1, tiles, directions))

    monkeypatch.setattr(kernel, "_launches", without_the_last)
    monkeypatch.setattr(kernel, "_POLLS", 100)
    recurrence, columns = make((16, 4, 32, 64, 1), kernel_device)
    read, _ = reads_with(Slices(16, 16, 4, 4, marked))(recurrence, columns.half())
    assert read[:, 1:-1, :48].isnan().all()


@pytest.mark.parametrize("marked", [True, False], ids=["marked", "counted"])
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_what_is_no_number_is_no_mark(
    kernel_device: torch.device, kind: torch.dtype, marked: bool
) -> None:
    needs_programs_at_once(kernel_device)
    recurrence, columns = make((16, 4, 32, 64, 1), kernel_device)
    columns = columns.to(kind)
    columns[3] = float("nan")
    columns[5].view(torch.int16).fill_(-1)  # as the marks are
    columns.requires_grad_()
    read, _ = reads_with(Slices(16, 16, 4, 4, marked))(recurrence, columns)
    read.float().square().sum().backward()
    assert columns.grad is not None
    for values in (read, columns.grad):
        broken = values.isnan().flatten(1)
        assert broken[[3, 5]].all()
        assert broken.any(1).sum() == 2


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_under_autocast_columns_keep_their_format_and_weights_theirs(
    kernel_device: torch.device, half: torch.dtype, kind: torch.dtype
) -> None:
    if large_programs_at_once(kernel_device) == 0:
        pytest.skip("needs a Hopper; cuDNN reads on other GPUs")
    torch.manual_seed(0)
    recurrence = ForgetBiasLSTM(8, 16, 2).to(kernel_device)
    columns = torch.randn(3, 4, 8, device=kernel_device, dtype=kind, requires_grad=True)
    with torch.autocast(kernel_device.type, dtype=half):
        assert _plan(recurrence, columns) is not None
        read, _ = read_by_time(recurrence, columns)
    read.float().square().sum().backward()
    assert read.dtype == kind
    assert read.is_contiguous()
    assert columns.grad is not None
    assert columns.grad.dtype == kind
    assert all(weight.grad is not None for weight in recurrence.parameters())
    expected, _ = nn.LSTM.forward(recurrence, columns.float())
    torch.testing.assert_close(read.float(), expected, rtol=0, atol=2e-2)


@pytest.mark.parametrize(
    ("hidden", "kind", "pictures", "dropout"),
    [
        (24, torch.float16, 2, 0.0),
        (512, torch.float16, 2, 0.0),
        (16, torch.float32, 2, 0.0),
        (16, torch.float64, 2, 0.0),
        (16, torch.float16, 0, 0.0),
        (16, torch.float16, 2, 0.5),
    ],
)
def test_what_the_programs_cannot_read_is_left_to_torch(
    kernel_device: torch.device, hidden: int, kind: torch.dtype, pictures: int, dropout: float
) -> None:
    recurrence = nn.LSTM(8, hidden, 2, batch_first=True, bidirectional=True, dropout=dropout)
    columns = torch.zeros(pictures, 3, 8, dtype=kind, device=kernel_device)
    assert _plan(recurrence, columns) is None


@pytest.mark.parametrize("hidden", kernel.HIDDEN)
@pytest.mark.parametrize("pictures", [1, 64, 65, 128, 200, 512, 1000])
@pytest.mark.parametrize("programs", [16, 80, 132])
def test_no_start_has_more_programs_than_run_at_the_same_time(
    hidden: int, pictures: int, programs: int
) -> None:
    plan = plan_for(pictures, hidden, programs)
    assert plan is not None
    for slices in plan:
        assert hidden % slices.units == 0
        assert 2 * hidden // slices.units <= programs
        if programs == 132 and pictures <= 512:
            assert 2 * slices.tiles(pictures) * (hidden // slices.units) <= programs
    assert plan_for(pictures, 256, 14) is None
    assert plan_for(pictures, hidden, 0) is None


def make(shape: tuple[int, ...], device: torch.device) -> tuple[nn.LSTM, Tensor]:
    pictures, columns, channels, hidden, layers = shape
    torch.manual_seed(0)
    recurrence = nn.LSTM(channels, hidden, layers, batch_first=True, bidirectional=True)
    return recurrence.to(device), torch.randn(pictures, columns, channels, device=device)


def reads_with(slices: Slices) -> Read:
    def read(recurrence: nn.LSTM, columns: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        weights = [getattr(recurrence, name) for name in recurrence._flat_weights_names]
        result, *state = Recurrence.apply(Plan(slices, slices), columns.dtype, columns, *weights)
        return result, (state[0], state[1])

    return read


def facts(read: Read, recurrence: nn.LSTM, columns: Tensor) -> list[Tensor]:
    """Values, states and gradients of a loss that depends on all of them."""
    recurrence.zero_grad()
    columns = columns.detach().clone().requires_grad_()
    result, (hidden, cell) = read(recurrence, columns)
    loss = result.double().square().sum() + (hidden.double() * cell.double().cos()).sum()
    loss.backward()
    gradients = [each.grad for each in (columns, *recurrence.parameters())]
    assert all(gradient is not None for gradient in gradients)
    found = [result, hidden, cell, *(each for each in gradients if each is not None)]
    return [each.detach() for each in found]


def in_format(recurrence: nn.LSTM, kind: torch.dtype) -> nn.LSTM:
    copied = copy.deepcopy(recurrence).to(kind)
    copied.flatten_parameters()
    return copied


def check_half(recurrence: nn.LSTM, columns: Tensor, slices: Slices, kind: torch.dtype) -> None:
    """Half precision costs what its rounding costs, at the places where programs store."""
    columns, exact = columns.to(kind), in_format(recurrence, torch.float64)
    truth = facts(nn.LSTM.forward, exact, columns.double())
    rounded = facts(rounds_to(kind), exact, columns.double())
    mine = facts(reads_with(slices), recurrence, columns)
    for true, expected, own in zip(truth, rounded, mine, strict=True):
        assert error(own, true) <= 1.5 * error(expected, true) + 0.1 * torch.finfo(kind).eps


def rounds_to(kind: torch.dtype) -> Read:
    """An LSTM in double precision that rounds what the programs store in half precision."""

    def read(recurrence: nn.LSTM, columns: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        names = recurrence._flat_weights_names
        weights = [getattr(recurrence, name) for name in names]
        hidden, cells = [], []
        for _ in range(recurrence.num_layers):
            ways = []
            for backwards in (False, True):
                given, own, *biases = weights[:4]
                del weights[:4]
                steps = rounded(columns @ rounded(given, kind).T, kind).unbind(1)
                way, cell = _read_way(steps[::-1] if backwards else steps, own, sum(biases), kind)
                ways.append(torch.stack(way[::-1] if backwards else way, 1))
                hidden.append(way[-1])
                cells.append(cell)
            columns = rounded(torch.cat(ways, 2), kind)
        return columns, (rounded(torch.stack(hidden), kind), rounded(torch.stack(cells), kind))

    return read


def _read_way(
    steps: Sequence[Tensor], own: Tensor, bias: Tensor | int, kind: torch.dtype
) -> tuple[list[Tensor], Tensor]:
    own = rounded(own, kind)
    hidden = cell = steps[0].new_zeros(len(steps[0]), own.shape[1])
    told = []
    for step in steps:
        sums = rounded(step + hidden @ own.T, kind, forward=False) + bias
        i, f, g, o = sums.chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = rounded(o.sigmoid() * cell.tanh(), kind, back=False)
        told.append(hidden)
    return told, cell


def rounded(
    values: Tensor, kind: torch.dtype, *, forward: bool = True, back: bool = True
) -> Tensor:
    """Round values to a format, and gradients on their way back."""
    result = values + (values.to(kind).double() - values).detach() if forward else values * 1
    if back:
        result.register_hook(lambda gradient: gradient.to(kind).double())
    return result


def error(values: Tensor, true: Tensor) -> float:
    return ((values.double() - true).norm() / true.norm()).item()


def needs_programs_at_once(device: torch.device) -> None:
    if large_programs_at_once(device) < 32:
        pytest.skip("needs a device on which many programs run at the same time")

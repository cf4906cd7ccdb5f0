"""The emulated NPU computes what the CPU computes, and refuses what a device refuses."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.precision import PRECISIONS, Precision, autocast

CPU = torch.device("cpu")


class Reader(nn.Module):
    """A small network with every layer that the text networks use."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.first_norm = nn.BatchNorm2d(6, eps=1e-3, momentum=1e-3)
        self.second = nn.Conv2d(6, 8, 2)
        self.second_norm = nn.BatchNorm2d(8)
        self.recurrence = nn.LSTM(
            8 * 4, 10, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2
        )
        _make_buffers_of_hidden_biases(self.recurrence)
        self.classifier = nn.Linear(20, 5, bias=False)

    def forward(self, pictures: Tensor) -> Tensor:
        seen = functional.max_pool2d(
            functional.relu(self.first_norm(self.first(pictures)), inplace=True), 2
        )
        seen = functional.max_pool2d(
            functional.relu(self.second_norm(self.second(functional.pad(seen, (0, 1, 0, 1))))), 2
        )
        columns = seen.permute(0, 3, 1, 2).flatten(2)
        read, _ = self.recurrence(columns)
        return self.classifier(functional.dropout(read, 0.1, self.training))


class ClosedFormLoss(torch.autograd.Function):
    """A loss over columns with its own gradient, by gather, where and scatter, as CTC has."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, classes: Tensor) -> Tensor:
        scores = functional.log_softmax(logits.float(), dim=2)
        ctx.save_for_backward(scores, classes)
        ctx.dtype = logits.dtype
        picked = scores.gather(2, classes.unsqueeze(2)).squeeze(2)
        alpha = torch.where(classes == 0, torch.zeros_like(picked), picked)
        for column in range(1, alpha.shape[1]):
            alpha[:, column] += alpha[:, column - 1] * 0.5
        return -picked.mean(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        scores, classes = ctx.saved_tensors
        wanted = torch.zeros_like(scores).scatter_(2, classes.unsqueeze(2), 1.0)
        gradient = (scores.exp() - wanted) / scores.shape[1]
        return (gradient * gradients[0][:, None, None]).to(ctx.dtype), None


def _make_buffers_of_hidden_biases(recurrence: nn.LSTM) -> None:
    for name, weight in list(recurrence.named_parameters()):
        if name.startswith("bias_hh"):
            delattr(recurrence, name)
            recurrence.register_buffer(name, torch.zeros_like(weight))


def _augment(pictures: Tensor) -> Tensor:
    size = pictures.shape
    matrices = torch.eye(2, 3, device=pictures.device).expand(size[0], 2, 3)
    matrices = matrices + 0.05 * torch.randn(size[0], 2, 3, device=pictures.device)
    grid = functional.affine_grid(matrices, list(size), align_corners=False)
    warped = functional.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
    small = functional.interpolate(warped, scale_factor=0.5, mode="bilinear", antialias=True)
    return functional.interpolate(small, size=size[2:], mode="nearest")


def _train(
    device: torch.device,
    make_optimizer: Callable[[nn.Module], torch.optim.Optimizer],
    precision: Precision = "fp32",
) -> tuple[list[float], dict[str, Tensor]]:
    torch.manual_seed(5)
    network = Reader().to(device)
    optimizer = make_optimizer(network)
    inputs = torch.Generator().manual_seed(6)
    losses = []
    for _ in range(20):
        pictures = torch.rand(4, 3, 16, 24, generator=inputs).to(device, non_blocking=True)
        classes = torch.randint(0, 5, (4, 6), generator=inputs).to(device, non_blocking=True)
        with autocast(device, precision):
            logits = network(_augment(pictures))
        loss: Tensor = ClosedFormLoss.apply(logits, classes).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.cpu() for name, value in network.state_dict().items()}


OPTIMIZERS: dict[str, Callable[[nn.Module], torch.optim.Optimizer]] = {
    "momentum": lambda network: torch.optim.SGD(
        network.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=1e-4, foreach=True
    ),
    "plain momentum": lambda network: torch.optim.SGD(
        network.parameters(), 0.1, momentum=0.9, foreach=False
    ),
    "adam": lambda network: torch.optim.Adam(network.parameters(), 1e-2, foreach=True),
    "fused adam": lambda network: torch.optim.AdamW(network.parameters(), 1e-2, fused=True),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_twenty_steps_give_the_same_losses_and_weights(
    optimizer: str, emulated_npu: torch.device
) -> None:
    losses, weights = _train(CPU, OPTIMIZERS[optimizer])
    npu_losses, npu_weights = _train(emulated_npu, OPTIMIZERS[optimizer])
    assert npu_losses == losses
    assert losses[-1] < losses[0]
    assert all(torch.equal(weights[name], npu_weights[name]) for name in weights)


@pytest.mark.parametrize("precision", [each for each in PRECISIONS if each != "fp32"])
def test_twenty_steps_in_half_precision_give_the_same_losses(
    precision: Precision, emulated_npu: torch.device
) -> None:
    losses, _ = _train(CPU, OPTIMIZERS["momentum"], precision)
    npu_losses, _ = _train(emulated_npu, OPTIMIZERS["momentum"], precision)
    assert npu_losses == losses


OPERATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": torch.sum,
    "mean over a dimension": lambda x: x.mean(1),
    "matrix product": lambda x: x @ x.t(),
    "softmax": lambda x: x.softmax(1),
    "top values": lambda x: x.topk(2, dim=1).values,
    "sorted": lambda x: x.sort(dim=0).values,
    "running sum": lambda x: x.cumsum(0),
    "running log sum": lambda x: x.logcumsumexp(1),
    "index by list": lambda x: x[:, [2, 0]],
    "index by mask": lambda x: x[x > 0],
    "gather": lambda x: x.gather(1, torch.tensor([[0], [1], [2]], device=x.device)),
    "index add": lambda x: x.index_add(0, torch.tensor([0, 0, 1], device=x.device), x),
    "masked fill": lambda x: x.masked_fill(x < 0, -9.0),
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "join": lambda x: torch.cat([x, x.flip(1)], 1),
    "roll": lambda x: x.roll(1, 0),
    "norm of the whole": torch.linalg.vector_norm,
    "layer norm": lambda x: functional.layer_norm(x, (4,)),
    "group norm": lambda x: functional.group_norm(x.view(1, 4, 3), 2),
    "gelu": functional.gelu,
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "transposed convolution": lambda x: functional.conv_transpose2d(
        x.view(1, 2, 2, 3), torch.ones(2, 2, 2, 2, device=x.device), groups=2
    ),
    "average pool": lambda x: functional.avg_pool2d(x.view(1, 3, 4), 2),
    "adaptive pool": lambda x: functional.adaptive_avg_pool2d(x.view(1, 3, 4), (1, 2)),
    "cross entropy": lambda x: functional.cross_entropy(
        x, torch.tensor([0, 3, 1], device=x.device)
    ),
    "gru": lambda x: _seeded(nn.GRU(4, 3)).to(x.device)(x.view(3, 1, 4))[0],
    "lstm cell": lambda x: _seeded(nn.LSTMCell(4, 3)).to(x.device)(x)[0],
    "attention": lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "in place on a view": lambda x: _double_second_row(x * 1),
    "strided": lambda x: (x * 1).as_strided((2, 2), (4, 2), 1),
    "unfolded": lambda x: x.unfold(1, 2, 1),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_and_its_gradient_are_those_of_the_cpu(
    name: str, emulated_npu: torch.device
) -> None:
    values = torch.randn(3, 4, generator=torch.Generator().manual_seed(2))
    found = []
    for device in (CPU, emulated_npu):
        x = values.clone().to(device).requires_grad_()
        result = OPERATIONS[name](x)
        result.square().sum().backward()
        assert result.device == device
        assert x.grad is not None
        found.append((result.detach().cpu(), x.grad.cpu()))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


def _seeded(layer: nn.Module) -> nn.Module:
    for weight in layer.parameters():
        nn.init.uniform_(weight, -0.5, 0.5, generator=torch.Generator().manual_seed(1))
    return layer


def _double_second_row(x: Tensor) -> Tensor:
    x[1, 1:].mul_(2)
    return x


RANDOM: dict[str, Callable[[torch.device], Tensor]] = {
    "rand": lambda device: torch.rand(5, device=device),
    "randn": lambda device: torch.randn(5, device=device),
    "randint": lambda device: torch.randint(0, 99, (5,), device=device),
    "randperm": lambda device: torch.randperm(9, device=device),
    "bernoulli": lambda device: torch.full((9,), 0.5, device=device).bernoulli(),
    "dropout": lambda device: functional.dropout(torch.ones(9, device=device)),
    "multinomial": lambda device: torch.multinomial(torch.ones(9, device=device), 4),
    "uniform": lambda device: torch.empty(4, device=device).uniform_(2, 3),
    "normal": lambda device: nn.init.trunc_normal_(torch.empty(4, device=device)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_those_of_the_cpu(name: str, emulated_npu: torch.device) -> None:
    torch.manual_seed(3)
    expected = RANDOM[name](CPU)
    torch.manual_seed(3)
    assert torch.equal(RANDOM[name](emulated_npu).cpu(), expected)


def test_tensors_travel_to_the_npu_and_back(emulated_npu: torch.device) -> None:
    for dtype in (
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.uint8,
        torch.bool,
    ):
        there = torch.tensor([[0, 1], [1, 1]], dtype=dtype).to(emulated_npu, non_blocking=True)
        assert there.device == emulated_npu
        assert type(there) is Tensor
        assert torch.equal(there.cpu(), torch.tensor([[0, 1], [1, 1]], dtype=dtype))
    assert torch.tensor(3.5, device=emulated_npu).item() == 3.5
    assert torch.arange(3, device=emulated_npu).tolist() == [0, 1, 2]
    assert torch.empty(0, 3, device=emulated_npu).cpu().shape == (0, 3)


def test_a_copy_is_a_copy(emulated_npu: torch.device) -> None:
    source = torch.ones(3)
    there = source.to(emulated_npu)
    source.zero_()
    assert there.sum().item() == 3
    back = there.cpu()
    there.zero_()
    assert back.sum().item() == 3
    there.copy_(torch.tensor([1, 2, 3]))
    assert there.tolist() == [1.0, 2.0, 3.0]


def test_views_share_memory(emulated_npu: torch.device) -> None:
    whole = torch.zeros(2, 3, device=emulated_npu)
    whole.t()[1:].view(2, 2).add_(1)
    whole[:, 0].fill_(7)
    assert whole.tolist() == [[7, 1, 1], [7, 1, 1]]
    assert whole[1:].storage_offset() == 3
    assert whole.data_ptr() == whole.detach().data_ptr()


def test_channels_last_is_kept(emulated_npu: torch.device) -> None:
    pictures = torch.rand(2, 3, 4, 5).to(emulated_npu).to(memory_format=torch.channels_last)
    assert pictures.is_contiguous(memory_format=torch.channels_last)
    convolved = nn.Conv2d(3, 6, 3, device=emulated_npu)(pictures)
    assert convolved.is_contiguous(memory_format=torch.channels_last)


def test_results_of_unknown_size_grow(emulated_npu: torch.device) -> None:
    assert torch.tensor([0, 3, 4], device=emulated_npu).nonzero().tolist() == [[1], [2]]
    out = torch.empty(0, device=emulated_npu)
    torch.add(torch.ones(2, device=emulated_npu), 1, out=out)
    assert out.tolist() == [2, 2]
    assert torch.arange(3, device=emulated_npu).resize_(2).tolist() == [0, 1]


def test_devices_do_not_mix(emulated_npu: torch.device) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, device=emulated_npu) + torch.ones(2)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        nn.Linear(2, 2).to(emulated_npu)(torch.ones(1, 2))
    with pytest.raises(TypeError, match="can't convert npu:0 device type tensor to numpy"):
        torch.ones(2, device=emulated_npu).numpy()
    assert (torch.ones(2, device=emulated_npu) * torch.tensor(2.0)).tolist() == [2, 2]


def test_weights_are_saved_and_loaded(emulated_npu: torch.device) -> None:
    network = nn.Linear(2, 2).to(emulated_npu)
    file = io.BytesIO()
    torch.save(network.state_dict(), file)
    file.seek(0)
    on_cpu = nn.Linear(2, 2)
    on_cpu.load_state_dict(torch.load(file, map_location="cpu"))
    file.seek(0)
    again = nn.Linear(2, 2, device=emulated_npu)
    again.load_state_dict(torch.load(file))  # each tensor where it was
    assert torch.equal(on_cpu.weight, network.weight.cpu())
    assert torch.equal(again.weight, network.weight)
    assert torch.equal(copy.deepcopy(network).weight, network.weight)
    assert network.to(torch.float64).weight.dtype == torch.float64
    assert network.cpu().weight.device == CPU


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_evaluation_needs_no_graph(
    mode: Callable[[], AbstractContextManager[None]], emulated_npu: torch.device
) -> None:
    network = Reader().eval()
    pictures = torch.rand(2, 3, 16, 24)
    with mode():
        expected = network(pictures)
        network.to(emulated_npu)
        assert torch.equal(network(pictures.to(emulated_npu)).cpu(), expected)


def test_torch_takes_it_for_an_accelerator(emulated_npu: torch.device) -> None:
    assert torch.accelerator.current_accelerator() == torch.device(emulated_npu.type)
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_device_index() == 0
    torch.accelerator.synchronize()
    torch.accelerator.empty_cache()
    assert torch.accelerator.max_memory_allocated() == 0
    torch.accelerator.reset_peak_memory_stats()


@pytest.mark.usefixtures("emulated_npu")
def test_the_cpu_is_not_disturbed() -> None:
    assert torch.get_default_device() == CPU
    weights = nn.Parameter(torch.ones(2))
    (weights * 3).sum().backward()
    assert weights.grad is not None
    assert weights.grad.device == CPU
    with torch.random.fork_rng():
        torch.manual_seed(1)

"""Do kernels of our own pay? Each beside what torch does instead, on shapes of the networks.

    python benchmarks/kernels.py --only convolutions,norms,recurrence

Times are microseconds on a GPU, of graphs in which the work stands several times, forward and
backward apart. A kernel is worth having where it is the faster one; where it is not, the limits
at the head of its file should leave the work to torch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.device import choose_device, describe_device, prepare
from trainferry.train.kernels.fold import Padding
from trainferry.train.kernels.lstm import read_by_time
from trainferry.train.kernels.narrow import convolve_narrow
from trainferry.train.kernels.norm import normalise, reference
from trainferry.train.kernels.norm_passes.values import Norm
from trainferry.train.networks.crnn import ForgetBiasLSTM

TIMES = 10  # in a graph
# Channels in and out, pixels along a side, stride: HRNet's, then wider ones.
CONVOLUTIONS = (
    *((24, 24, 56, 1), (40, 40, 28, 1), (24, 24, 56, 2), (24, 40, 56, 2), (40, 40, 28, 2)),
    *((32, 32, 56, 1), (64, 64, 28, 1)),
)
NORMS = ((64, 56), (256, 56), (512, 28), (1024, 14), (2048, 7), (24, 56), (40, 28), (72, 14))
BATCHES = (32, 256)
COLUMNS, CHANNELS, HIDDEN = 25, 512, 256  # of CRNN

Work = Callable[..., Tensor]
Row = tuple[str, Work, Work, list[Tensor]]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", default="convolutions,norms,recurrence")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    arguments = parser.parse_args()
    device = choose_device("cuda")
    prepare(device, "bf16")
    print(describe_device(device), f"torch {torch.__version__}, bf16, microseconds\n")
    rows = {"convolutions": convolutions, "norms": norms, "recurrence": recurrences}
    for name in arguments.only.split(","):
        print(f"| {name} | forward | torch | backward | torch | apart |\n|---|" + 5 * "---:|")
        for label, ours, theirs, given in rows[name](arguments.batches, device):
            times = [time_both(work, given) for work in (ours, theirs)]
            cells = [f"{times[side][way]:.1f}" for way in (0, 1) for side in (0, 1)]
            print(
                f"| {label} | {' | '.join(cells)} | {apart(ours, theirs, given):.0e} |", flush=True
            )
        print()
    return 0


def convolutions(batches: Sequence[int], device: torch.device) -> Iterator[Row]:
    for batch in batches:
        for channels, outputs, side, stride in CONVOLUTIONS:
            pictures = _map(batch, channels, side, device)
            weight = torch.randn(outputs, channels, 3, 3, device=device) / (9 * channels) ** 0.5
            weight = weight.bfloat16().contiguous(memory_format=torch.channels_last)
            # As TensorFlow pads: with stride 2 all of it goes behind.
            before = 1 if stride == 1 else 0
            padding = Padding(before, 1, before, 1)

            def ours(x: Tensor, w: Tensor, s: int = stride, p: Padding = padding) -> Tensor:
                return convolve_narrow(x, w, s, p)

            def theirs(x: Tensor, w: Tensor, s: int = stride) -> Tensor:
                if s == 1:
                    return functional.conv2d(x, w, padding=1)
                return functional.conv2d(functional.pad(x, (0, 1, 0, 1)), w, stride=s)

            label = f"{batch}: {channels} to {outputs}, {side} x {side}, stride {stride}"
            yield label, ours, theirs, [pictures, weight.requires_grad_()]


def norms(batches: Sequence[int], device: torch.device) -> Iterator[Row]:
    for batch in batches:
        for channels, side in NORMS:
            values = torch.randn(4, channels, device=device)
            norm = Norm(
                values[0].abs() + 0.5,
                *(values[1], values[2].clone(), values[3].abs() + 0.5),
                momentum=0.1,
                epsilon=1e-3,
            )

            def ours(x: Tensor, other: Tensor, n: Norm = norm) -> Tensor:
                return normalise(x, n, rectified=True, added=other)

            def theirs(x: Tensor, other: Tensor, n: Norm = norm) -> Tensor:
                return reference(x, n, rectified=True, added=other)

            given = [_map(batch, channels, side, device) for _ in range(2)]
            yield f"{batch}: {channels}, {side} x {side}, added", ours, theirs, given


def recurrences(batches: Sequence[int], device: torch.device) -> Iterator[Row]:
    recurrence = ForgetBiasLSTM(CHANNELS, HIDDEN, 2).to(device)
    for batch in sorted({64, 512, *batches}):
        columns = torch.randn(batch, COLUMNS, CHANNELS, device=device).bfloat16()

        def ours(x: Tensor, *_weights: Tensor) -> Tensor:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, cache_enabled=False):
                return read_by_time(recurrence, x)[0]

        def theirs(x: Tensor, *_weights: Tensor) -> Tensor:
            with torch.autocast(x.device.type, dtype=torch.bfloat16, cache_enabled=False):
                read: Tensor = nn.LSTM.forward(recurrence, x)[0]
                return read

        given = [columns.requires_grad_(), *recurrence.parameters()]
        yield f"{batch}: two layers of {HIDDEN}", ours, theirs, given


def _map(batch: int, channels: int, side: int, device: torch.device) -> Tensor:
    values = torch.randn(batch, channels, side, side, device=device).bfloat16()
    return values.contiguous(memory_format=torch.channels_last).requires_grad_()


def time_both(work: Work, given: list[Tensor]) -> tuple[float, float]:
    """Microseconds forward, and what the way back adds."""
    wish = torch.randn_like(work(*given))

    def both() -> object:
        return torch.autograd.grad(work(*given), given, wish)

    forward = time_graph(lambda: work(*given))
    return forward, time_graph(both) - forward


def time_graph(work: Callable[[], object]) -> float:
    module = torch.get_device_module("cuda")
    side = module.Stream()
    with module.stream(side):
        for _ in range(3):
            work()
    side.synchronize()
    graph = module.CUDAGraph()
    with module.graph(graph, stream=side):
        for _ in range(TIMES):
            work()
    graph.replay()
    began, ended = (module.Event(enable_timing=True) for _ in range(2))
    began.record()
    graph.replay()
    graph.replay()
    ended.record()
    module.synchronize()
    return float(began.elapsed_time(ended)) / 2 / TIMES * 1000


def apart(ours: Work, theirs: Work, given: list[Tensor]) -> float:
    """How far the results are apart, in parts of their size."""
    one, other = (work(*given).detach().double() for work in (ours, theirs))
    return float((one - other).norm() / other.norm())


if __name__ == "__main__":
    sys.exit(main())

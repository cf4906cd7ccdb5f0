"""HRNet: four resolutions side by side, which tell each other what they see.

Wang and others, 2019, https://arxiv.org/abs/1908.07919, in the form of the TensorFlow original:
TensorFlow's SAME padding, and no biases in the head.

Shapes: B pictures, K classes; branch i has `width * 2**i` channels at 1/(4 * 2**i) of the size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.lanes import side_by_side
from trainferry.train.kernels.fan_out import fan_out
from trainferry.train.kernels.spread import add_spread
from trainferry.train.networks.layers import (
    Features,
    SameConvolution,
    apply_norm,
    both,
    build_classifier,
    close_block,
    norm_for_kernels,
    start_scaled,
)

# Modules in each of the three stages, which have two, three and four branches, and the blocks
# of each branch.
MODULES = (1, 4, 3)
BLOCKS = 4
_STEM = 64
_FRONT = 256
_EPSILON = 1e-5


class HRNet(nn.Module):
    """Names what is in a picture, one score per class.

    `head` is the number of channels of the finest branch on its way to the classifier.
    """

    may_widen = True

    def __init__(
        self,
        classes: int,
        width: int = 18,
        head: int = 128,
        modules: Sequence[int] = MODULES,
        blocks: int = BLOCKS,
        norm_decay: float = 0.999,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(_Unit(3, _STEM, 3, 2), _Unit(_STEM, _STEM, 3, 2))
        self.front = nn.Sequential(
            *(_Bottleneck(_STEM if place == 0 else _FRONT, _FRONT) for place in range(blocks))
        )
        self.transition = nn.ModuleList(
            [_Unit(_FRONT, width, 3, 1), _Unit(_FRONT, 2 * width, 3, 2)]
        )
        self.stages = nn.ModuleList(
            _Stage(width, stage + 2, count, blocks) for stage, count in enumerate(modules)
        )
        self.new_branches = nn.ModuleList(
            _Unit(width * 2 ** (stage + 1), width * 2 ** (stage + 2), 3, 2)
            for stage in range(len(modules) - 1)
        )
        self.head = nn.ModuleList(
            _Bottleneck(width * 2**branch, head * 2**branch) for branch in range(4)
        )
        self.head_downs = nn.ModuleList(
            _Unit(head * 2**branch, head * 2 ** (branch + 1), 3, 2) for branch in range(3)
        )
        self.last = _Unit(head * 8, head * 16, 1)
        self.classifier = build_classifier(head * 16, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                start_scaled(module.weight, scale=2.0, fan="out")
            elif isinstance(module, nn.BatchNorm2d):
                module.momentum = 1 - norm_decay

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, B 3 H W with H = W a multiple of 32, to class scores, B K."""
        front = both(self.front(self.stem(images)))
        branches = [unit(one) for unit, one in zip(self.transition, front, strict=True)]
        for number, stage in enumerate(self.stages):
            branches = list(stage(branches))
            if number < len(self.new_branches):
                branches.append(self.new_branches[number](branches[-1]))
        return self.classifier(self._one_map(branches).mean(dim=(2, 3)))

    def _one_map(self, branches: Sequence[Tensor]) -> Tensor:
        wide = [both(widen(one)).first for widen, one in zip(self.head, branches, strict=True)]
        features = wide[0]
        for down, branch in zip(self.head_downs, wide[1:], strict=True):
            features = down(features) + branch
        return self.last(features)


class _Unit(nn.Module):
    """Convolution, normalisation and, unless told otherwise, a rectifier."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, *, rectified: bool = True
    ) -> None:
        super().__init__()
        self.convolution = SameConvolution(inputs, outputs, kernel, stride)
        self.norm = nn.BatchNorm2d(outputs, eps=_EPSILON)
        self.rectified = rectified

    def forward(self, features: Tensor) -> Tensor:
        return apply_norm(self.norm, self.convolution(features), rectified=self.rectified)


def _close(units: nn.Module, features: Tensor, shortcut: Tensor) -> Features:
    """The same at the end of a block, for the next one."""
    open_end = _up_to_last_norm(units, features, shortcut)
    if open_end is None:
        return functional.relu(units(features) + shortcut)
    return close_block(*open_end, shortcut)


def _up_to_last_norm(
    units: nn.Module, features: Tensor, other: Tensor
) -> tuple[nn.Module, Tensor] | None:
    """Return the last norm and what it gets; None where it has to run by itself."""
    last = _last(units)
    if norm_for_kernels(last.norm, other) is None:
        return None
    assert isinstance(units, nn.Sequential)
    for unit in list(units)[:-1]:
        features = unit(features)
    return last.norm, last.convolution(features)


def _last(units: nn.Module) -> _Unit:
    assert isinstance(units, nn.Sequential)
    last = units[-1]
    assert isinstance(last, _Unit)
    return last


class _Bottleneck(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        width = outputs // 4
        self.units = nn.Sequential(
            _Unit(inputs, width, 1),
            _Unit(width, width, 3),
            _Unit(width, outputs, 1, rectified=False),
        )
        projects = inputs != outputs
        self.shortcut = _Unit(inputs, outputs, 1, rectified=False) if projects else nn.Identity()

    def forward(self, features: Features) -> Features:
        first, second = both(features)
        return _close(self.units, first, self.shortcut(second))


class _BasicBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.units = nn.Sequential(_Unit(width, width, 3), _Unit(width, width, 3, rectified=False))

    def forward(self, features: Features) -> Features:
        return _close(self.units, *both(features))


class _Stage(nn.Module):
    def __init__(self, width: int, branches: int, count: int, blocks: int) -> None:
        super().__init__()
        self.modules_in_order = nn.ModuleList(
            _Module(width, branches, blocks) for _ in range(count)
        )

    def forward(self, branches: Sequence[Tensor]) -> Sequence[Tensor]:
        for module in self.modules_in_order:
            branches = module(branches)
        return branches


class _Module(nn.Module):
    """Every branch thinks for itself; then each gets the sum of all, brought to its size."""

    def __init__(self, width: int, count: int, blocks: int) -> None:
        super().__init__()
        widths = [width * 2**branch for branch in range(count)]
        self.branches = nn.ModuleList(
            nn.Sequential(*(_BasicBlock(one) for _ in range(blocks))) for one in widths
        )
        self.ways = nn.ModuleDict(
            {
                f"{start}_{goal}": _way(widths, start, goal)
                for goal in range(count)
                for start in range(count)
                if start != goal
            }
        )

    def forward(self, branches: Sequence[Tensor]) -> list[Tensor]:
        think = [partial(_think, branch) for branch in self.branches]
        maps = side_by_side(think, [[one] for one in branches])
        given = [iter(fan_out(one, len(maps))) for one in maps]
        # The longest ways first: they begin first.
        pairs = sorted(self._pairs(len(maps)), key=lambda pair: pair[0] - pair[1])
        begun = side_by_side(
            [partial(self._begin, *pair, maps[pair[1]]) for pair in pairs],
            [[next(given[start])] for start, _ in pairs],
        )
        made = dict(zip(pairs, begun, strict=True))
        goals = range(len(maps))
        return side_by_side(
            [partial(self._fused, goal) for goal in goals],
            [[next(given[goal]), *_of_goal(made, goal)] for goal in goals],
        )

    def _pairs(self, count: int) -> list[tuple[int, int]]:
        """The start and the goal of every way."""
        return [(start, goal) for goal in range(count) for start in range(count) if start != goal]

    def _begin(self, start: int, goal: int, total: Tensor, features: Tensor) -> Tensor:
        """Go a way down up to its last norm, which also adds; or up to the end, but for its size.

        The total is that of the goal, as it will be.
        """
        units = self.ways[f"{start}_{goal}"]
        open_end = _up_to_last_norm(units, features, total) if start < goal else None
        return units(features) if open_end is None else open_end[1]

    def _fused(self, goal: int, total: Tensor, *made: Tensor) -> Tensor:
        """Add what came from the others, those of finer branches first."""
        starts = [start for start in range(len(made) + 1) if start != goal]
        for start, one in zip(starts, made, strict=True):
            is_last = start == starts[-1]
            if start > goal:
                total = add_spread(total, one, 2 ** (start - goal), rectified=is_last)
            else:
                total = _end(self.ways[f"{start}_{goal}"], one, total, rectified=is_last)
        return total


def _of_goal(made: Mapping[tuple[int, int], Tensor], goal: int) -> list[Tensor]:
    return [made[pair] for pair in sorted(made) if pair[1] == goal]


def _end(units: nn.Module, begun: Tensor, total: Tensor, *, rectified: bool) -> Tensor:
    """Add what a way down has made, by its last norm if that was left out."""
    norm = _last(units).norm
    if norm_for_kernels(norm, total) is not None:
        return apply_norm(norm, begun, total, rectified=rectified)
    total = total + begun
    return functional.relu(total) if rectified else total


def _think(branch: nn.Module, features: Tensor) -> Tensor:
    return both(branch(features)).first


def _way(widths: Sequence[int], start: int, goal: int) -> nn.Module:
    """Down by convolutions that stride, all but the last rectified; up by one, then repeated."""
    if start > goal:
        return _Unit(widths[start], widths[goal], 1, rectified=False)
    units = [_Unit(widths[start], widths[start], 3, 2) for _ in range(goal - start - 1)]
    return nn.Sequential(*units, _Unit(widths[start], widths[goal], 3, 2, rectified=False))

"""The parts of Inception-v3 in order: what each is called, what it is made of, how it shrinks maps.

Names are those of TensorFlow's slim library, oddities included, so that a name in a checkpoint is
the path of a part: Mixed_5c and Mixed_6a do not follow the others, and what is called
Conv2d_1a_1x1 is three pixels wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from trainferry.errors import RecipeError


@dataclass(frozen=True)
class Convolution:
    """A convolution with norm and ReLU; padded as SAME unless it shrinks the map.

    `pooled` ones see the averages of 3x3 pixels.
    """

    name: str
    channels: int
    kernel: tuple[int, int]
    stride: int = 1
    padded: bool = True
    pooled: bool = False


@dataclass(frozen=True)
class Pool:
    """The largest of every second 3x3 pixels."""

    name: str


# The last step of a branch may be several convolutions of the same map.
Step: TypeAlias = Convolution | Pool | tuple[Convolution, ...]
Branch: TypeAlias = tuple[Step, ...]


def _conv(name: str, channels: int) -> Convolution:
    """A padded convolution whose name tells its kernel."""
    height, width = name.rsplit("_", maxsplit=1)[1].split("x")
    return Convolution(name, channels, (int(height), int(width)))


def _shrinking(name: str, channels: int, stride: int = 2) -> Convolution:
    return Convolution(name, channels, (3, 3), stride, padded=False)


def _first(channels: int) -> Convolution:
    return _conv("Conv2d_0a_1x1", channels)


def _pooled(channels: int) -> Branch:
    return (replace(_conv("Conv2d_0b_1x1", channels), pooled=True),)


def _mixed_5(pooled: int, wide: Branch) -> tuple[Branch, ...]:
    narrow = (_first(64), _conv("Conv2d_0b_3x3", 96), _conv("Conv2d_0c_3x3", 96))
    return (_first(64),), wide, narrow, _pooled(pooled)


def _mixed_6(inner: int) -> tuple[Branch, ...]:
    once = (_first(inner), _conv("Conv2d_0b_1x7", inner), _conv("Conv2d_0c_7x1", 192))
    names = ("Conv2d_0b_7x1", "Conv2d_0c_1x7", "Conv2d_0d_7x1")
    twice = (*(_conv(name, inner) for name in names), _conv("Conv2d_0e_1x7", 192))
    return (_first(192),), once, (_first(inner), *twice), _pooled(192)


def _mixed_7(upright: str) -> tuple[Branch, ...]:
    fork = (_conv("Conv2d_0b_1x3", 384), _conv(upright, 384))
    late_fork = (_conv("Conv2d_0c_1x3", 384), _conv("Conv2d_0d_3x1", 384))
    late = (_first(448), _conv("Conv2d_0b_3x3", 384), late_fork)
    return (_first(320),), (_first(384), fork), late, _pooled(192)


_WIDE = (_first(48), _conv("Conv2d_0b_5x5", 64))
_ODDLY_NAMED = (_conv("Conv2d_0b_1x1", 48), _conv("Conv_1_0c_5x5", 64))
_LARGEST = (Pool("MaxPool_1a_3x3"),)

# Endpoint -> a single step, or the branches of a block.
PARTS: dict[str, Convolution | Pool | tuple[Branch, ...]] = {
    "Conv2d_1a_3x3": _shrinking("Conv2d_1a_3x3", 32),
    "Conv2d_2a_3x3": _shrinking("Conv2d_2a_3x3", 32, stride=1),
    "Conv2d_2b_3x3": _conv("Conv2d_2b_3x3", 64),
    "MaxPool_3a_3x3": Pool("MaxPool_3a_3x3"),
    "Conv2d_3b_1x1": _conv("Conv2d_3b_1x1", 80),
    "Conv2d_4a_3x3": _shrinking("Conv2d_4a_3x3", 192, stride=1),
    "MaxPool_5a_3x3": Pool("MaxPool_5a_3x3"),
    "Mixed_5b": _mixed_5(32, _WIDE),
    "Mixed_5c": _mixed_5(64, _ODDLY_NAMED),
    "Mixed_5d": _mixed_5(64, _WIDE),
    "Mixed_6a": (
        (_shrinking("Conv2d_1a_1x1", 384),),
        (_first(64), _conv("Conv2d_0b_3x3", 96), _shrinking("Conv2d_1a_1x1", 96)),
        _LARGEST,
    ),
    "Mixed_6b": _mixed_6(128),
    "Mixed_6c": _mixed_6(160),
    "Mixed_6d": _mixed_6(160),
    "Mixed_6e": _mixed_6(192),
    "Mixed_7a": (
        (_first(192), _shrinking("Conv2d_1a_3x3", 320)),
        (
            *(_first(192), _conv("Conv2d_0b_1x7", 192), _conv("Conv2d_0c_7x1", 192)),
            _shrinking("Conv2d_1a_3x3", 192),
        ),
        _LARGEST,
    ),
    "Mixed_7b": _mixed_7("Conv2d_0b_3x1"),
    "Mixed_7c": _mixed_7("Conv2d_0c_3x1"),
}
ENDPOINTS = tuple(PARTS)

# Every part that shrinks its map does so with windows of three pixels and this stride.
_STRIDES = {"Conv2d_2a_3x3": 1, "Conv2d_4a_3x3": 1} | dict.fromkeys(
    ("Conv2d_1a_3x3", "MaxPool_3a_3x3", "MaxPool_5a_3x3", "Mixed_6a", "Mixed_7a"), 2
)


def endpoints_up_to(endpoint: str) -> tuple[str, ...]:
    """Return the endpoints a picture passes, `endpoint` the last."""
    if endpoint not in ENDPOINTS:
        raise RecipeError(
            f"Inception-v3 has no endpoint `{endpoint}`",
            hint=f"choose one of {', '.join(ENDPOINTS)}",
        )
    return ENDPOINTS[: ENDPOINTS.index(endpoint) + 1]


def map_size(endpoint: str, height: int, width: int) -> tuple[int, int]:
    """Return height and width of the map that a picture of this size has at an endpoint."""
    size = height, width
    for name in endpoints_up_to(endpoint):
        if name in _STRIDES:
            size = (size[0] - 3) // _STRIDES[name] + 1, (size[1] - 3) // _STRIDES[name] + 1
    if min(size) < 1:
        raise RecipeError(
            f"pictures of {height}x{width} pixels are too small for `{endpoint}`",
            hint="choose larger pictures, or an earlier endpoint",
        )
    return size


def convolutions_up_to(endpoint: str) -> Iterator[tuple[str, str]]:
    """Yield the scope in TensorFlow and the path in the network of every convolution."""
    for name in endpoints_up_to(endpoint):
        part = PARTS[name]
        if isinstance(part, Convolution):
            yield name, name
        elif isinstance(part, tuple):
            yield from _convolutions_of(name, part)


def _convolutions_of(name: str, branches: tuple[Branch, ...]) -> Iterator[tuple[str, str]]:
    for number, branch in enumerate(branches):
        scope, path = f"{name}/Branch_{number}", f"{name}.Branch_{number}"
        for step in branch:
            if isinstance(step, Convolution):
                yield f"{scope}/{step.name}", f"{path}.{step.name}"
            elif isinstance(step, tuple):
                for place, each in enumerate(step):
                    yield f"{scope}/{each.name}", f"{path}.fork.Branch_{place}.{each.name}"

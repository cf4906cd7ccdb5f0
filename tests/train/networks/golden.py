"""What the TensorFlow originals compute: weights, input and numbers to compare with."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.tf_checkpoint.mapping import TensorMapping

Array = NDArray[Any]


@dataclass(frozen=True)
class Golden:
    """The facts and arrays of one network."""

    facts: dict[str, Any]
    arrays: dict[str, Array]


def read_golden(shared: Path, name: str) -> Golden:
    facts = json.loads((shared / "golden" / f"{name}.json").read_text())
    with np.load(shared / "golden" / f"{name}.npz") as arrays:
        return Golden(facts, dict(arrays))


def weight_by_rule(name: str, shape: list[int]) -> Array:
    stream = np.random.RandomState(zlib.crc32(name.encode()))  # the frozen stream
    last = name.rsplit("/", maxsplit=1)[-1]
    if last in ("moving_variance", "gamma"):
        return (0.5 + stream.random_sample(shape)).astype(np.float32)
    if last in ("moving_mean", "beta", "bias", "b"):
        return (0.1 * stream.standard_normal(shape)).astype(np.float32)
    gain = 2 if len(shape) == 4 else 1
    scale = math.sqrt(gain / math.prod(shape[:-1]))
    return (stream.standard_normal(shape) * scale).astype(np.float32)


def weights_by_rule(
    golden: Golden,
    mappings: Sequence[TensorMapping],
    rule: Callable[[str, list[int]], Array] = weight_by_rule,
) -> dict[str, Tensor]:
    """The weights of the original under our names."""
    weights: dict[str, Tensor] = {}
    for mapping in mappings:
        value = rule(mapping.tensorflow, golden.facts["variables"][mapping.tensorflow])
        parts = mapping.layout.to_ours(value)
        weights |= {
            ours: torch.from_numpy(one) for ours, one in zip(mapping.ours, parts, strict=True)
        }
    return weights


def check_names(golden: Golden, mappings: Sequence[TensorMapping]) -> None:
    """Every variable of the original is mapped, and those with a gradient are trained."""
    assert sorted(one.tensorflow for one in mappings) == sorted(golden.facts["variables"])
    trained = [one.tensorflow for one in mappings if one.trained]
    assert sorted(trained) == sorted(golden.facts["gradients"])


def pictures(golden: Golden) -> Tensor:
    facts = golden.facts["input"]
    stream = np.random.RandomState(facts["seed"])  # the frozen stream
    values = stream.random_sample(facts["shape"]) * (facts["high"] - facts["low"]) + facts["low"]
    return torch.from_numpy(values.astype(np.float32).transpose(0, 3, 1, 2).copy())


def fingerprint(name: str, gradient: Array) -> tuple[float, float]:
    """Norm, and dot product with a direction that the name decides."""
    flat = gradient.astype(np.float64).ravel()
    seed = zlib.crc32(f"dot {name}".encode())
    direction = np.random.RandomState(seed).standard_normal(flat.size)  # frozen
    return float(np.linalg.norm(flat)), float(flat @ direction) / flat.size**0.5


def difference(ours: Tensor, expected: Array) -> float:
    """The largest difference, as a share of the largest value."""
    return float(np.abs(of(ours) - expected).max() / np.abs(expected).max())


def of(tensor: Tensor | None) -> Array:
    assert tensor is not None
    return tensor.detach().numpy()

"""Our CRNN computes what the TensorFlow original computes."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.networks.crnn import CRNN
from trainferry.train.tasks.ctc import ctc_losses
from trainferry.train.tasks.decode import greedy
from trainferry.train.tf_checkpoint.load import crnn_to_tensorflow
from trainferry.train.tf_checkpoint.names_crnn import crnn_mappings

Array = NDArray[Any]


@dataclass(frozen=True)
class Golden:
    facts: dict[str, Any]
    arrays: dict[str, Array]

    def logits(self, mode: str) -> Array:
        """Batch first, as ours are; the original's are time first."""
        return self.arrays[f"{mode}_logits"].transpose(1, 0, 2)


@pytest.fixture(scope="module")
def golden(shared: Path) -> Golden:
    facts = json.loads((shared / "golden" / "crnn.json").read_text())
    with np.load(shared / "golden" / "crnn.npz") as arrays:
        return Golden(facts, dict(arrays))


@pytest.fixture
def network(golden: Golden) -> CRNN:
    network = CRNN(classes=37, dropout=0.0)
    weights = {}
    for mapping in crnn_mappings("stock"):
        value = weight_by_rule(mapping.tensorflow, golden.facts["variables"][mapping.tensorflow])
        parts = mapping.layout.to_ours(value)
        weights.update(
            {name: torch.from_numpy(part) for name, part in zip(mapping.ours, parts, strict=True)}
        )
    left = network.load_state_dict(weights, strict=False)
    assert left.unexpected_keys == []
    assert all("bias_hh" in name or "num_batches" in name for name in left.missing_keys)
    return network


def test_the_name_map_is_the_list_of_the_originals_variables(golden: Golden) -> None:
    names = [mapping.tensorflow for mapping in crnn_mappings("stock")]
    assert sorted(names) == sorted(golden.facts["variables"])
    trained = [mapping.tensorflow for mapping in crnn_mappings("stock") if mapping.trained]
    assert sorted(trained) == sorted(golden.facts["gradients"])


def test_evaluation_logits_losses_and_reading_are_the_originals(
    golden: Golden, network: CRNN
) -> None:
    network.eval()
    with torch.no_grad():
        logits = network(pictures(golden))
        losses = ctc_losses(logits, *labels(golden))
    assert difference(logits, golden.logits("eval")) <= 1e-4
    assert difference(losses, golden.arrays["eval_losses"]) <= 1e-3
    padded = golden.arrays["eval_greedy"]
    expected = [tuple(int(c) for c in row if c >= 0 and c != 36) for row in padded]
    assert [reading.classes for reading in greedy(logits)] == expected


def test_training_logits_losses_and_gradients_are_the_originals(
    golden: Golden, network: CRNN
) -> None:
    network.train()
    logits = network(pictures(golden))
    losses = ctc_losses(logits, *labels(golden))
    losses.mean().backward()
    assert difference(logits, golden.logits("train")) <= 1e-3
    assert difference(losses, golden.arrays["train_losses"]) <= 1e-3
    assert losses.mean().item() == pytest.approx(golden.facts["train_loss"], rel=1e-3)

    gradients = crnn_to_tensorflow(
        {name: of(weight.grad) for name, weight in network.named_parameters()}, "stock"
    )
    expected: dict[str, tuple[float, float]] = golden.facts["gradients"]
    assert sorted(gradients) == sorted(expected)
    largest = max(norm for norm, _ in expected.values())
    compared = {name: pair for name, pair in expected.items() if pair[0] >= 1e-5 * largest}
    assert len(expected) - len(compared) == 2, "only the two biases before a normalisation are zero"
    for name, (norm, dot) in compared.items():
        ours_norm, ours_dot = fingerprint(name, gradients[name])
        assert abs(ours_norm - norm) <= 0.01 * norm, name
        assert abs(ours_dot - dot) <= 0.01 * norm, name


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


def pictures(golden: Golden) -> Tensor:
    facts = golden.facts["input"]
    stream = np.random.RandomState(facts["seed"])  # the frozen stream
    values = stream.random_sample(facts["shape"]) * (facts["high"] - facts["low"]) + facts["low"]
    return torch.from_numpy(values.astype(np.float32).transpose(0, 3, 1, 2).copy())


def labels(golden: Golden) -> tuple[Tensor, Tensor]:
    words, alphabet = golden.facts["words"], golden.facts["alphabet"]
    padded = torch.full((len(words), 23), 36)
    for row, word in zip(padded, words, strict=True):
        row[: len(word)] = torch.tensor([alphabet.index(character) for character in word])
    return padded, torch.tensor([len(word) for word in words])


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

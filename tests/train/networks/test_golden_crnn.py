"""Our CRNN computes what the TensorFlow original computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.train.networks.golden import (
    Array,
    Golden,
    check_names,
    difference,
    fingerprint,
    of,
    pictures,
    read_golden,
    weights_by_rule,
)
from trainferry.train.networks.crnn import CRNN
from trainferry.train.tasks.ctc import ctc_losses
from trainferry.train.tasks.decode import greedy
from trainferry.train.tf_checkpoint.load import to_tensorflow
from trainferry.train.tf_checkpoint.names_crnn import crnn_mappings


@pytest.fixture(scope="module")
def golden(shared: Path) -> Golden:
    return read_golden(shared, "crnn")


@pytest.fixture
def network(golden: Golden) -> CRNN:
    network = CRNN(classes=37, dropout=0.0)
    weights = weights_by_rule(golden, crnn_mappings("stock"))
    left = network.load_state_dict(weights, strict=False)
    assert left.unexpected_keys == []
    assert all("bias_hh" in name or "num_batches" in name for name in left.missing_keys)
    return network


def test_the_name_map_is_the_list_of_the_originals_variables(golden: Golden) -> None:
    check_names(golden, crnn_mappings("stock"))


def test_evaluation_logits_losses_and_reading_are_the_originals(
    golden: Golden, network: CRNN
) -> None:
    network.eval()
    with torch.no_grad():
        logits = network(pictures(golden))
        losses = ctc_losses(logits, *labels(golden))
    assert difference(logits, time_first(golden, "eval")) <= 1e-4
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
    assert difference(logits, time_first(golden, "train")) <= 1e-3
    assert difference(losses, golden.arrays["train_losses"]) <= 1e-3
    assert losses.mean().item() == pytest.approx(golden.facts["train_loss"], rel=1e-3)

    gradients = to_tensorflow(
        {name: of(weight.grad) for name, weight in network.named_parameters()},
        crnn_mappings("stock"),
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


def time_first(golden: Golden, mode: str) -> Array:
    """Logits batch first, as ours are; the original's are time first."""
    return golden.arrays[f"{mode}_logits"].transpose(1, 0, 2)


def labels(golden: Golden) -> tuple[Tensor, Tensor]:
    words, alphabet = golden.facts["words"], golden.facts["alphabet"]
    padded = torch.full((len(words), 23), 36)
    for row, word in zip(padded, words, strict=True):
        row[: len(word)] = torch.tensor([alphabet.index(character) for character in word])
    return padded, torch.tensor([len(word) for word in words])

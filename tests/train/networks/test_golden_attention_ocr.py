"""Our Attention-OCR computes what the TensorFlow original computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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
    weight_by_rule,
    weights_by_rule,
)
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.tf_checkpoint.names_attention_ocr import attention_ocr_mappings

CLASSES = 134
NULL = 133
SMOOTHING = 0.1
WEIGHT_DECAY = 4e-5
MAPPINGS = attention_ocr_mappings("Mixed_5d", attention=True)


@pytest.fixture(scope="module")
def golden(shared: Path) -> Golden:
    return read_golden(shared, "attention_ocr")


@pytest.fixture
def network(golden: Golden) -> AttentionOCR:
    network = AttentionOCR(CLASSES)
    network.load_state_dict(weights_by_rule(golden, MAPPINGS, weight))
    return network


def test_the_name_map_is_the_list_of_the_originals_variables(golden: Golden) -> None:
    check_names(golden, MAPPINGS)


def test_evaluation_logits_readings_and_losses_are_the_originals(
    golden: Golden, network: AttentionOCR
) -> None:
    network.eval()
    with torch.no_grad():
        logits = network(scaled(golden))
    assert difference(logits, golden.arrays["eval_logits"]) <= 1e-4
    check_readings(logits, golden, "eval")
    losses = sequence_losses(logits, labels(golden))
    assert losses.mean().item() == pytest.approx(golden.facts["eval_sequence_loss"], rel=1e-3)


def test_training_logits_readings_losses_and_gradients_are_the_originals(
    golden: Golden, network: AttentionOCR
) -> None:
    network.train()
    logits = network(scaled(golden), labels(golden))
    loss = sequence_losses(logits, labels(golden)).mean()
    loss.backward()
    assert difference(logits, golden.arrays["train_logits"]) <= 1e-3
    check_readings(logits.detach(), golden, "train")
    assert loss.item() == pytest.approx(golden.facts["train_sequence_loss"], rel=1e-3)
    total = loss.item() + weight_decay(network)
    assert total == pytest.approx(golden.facts["train_total_loss"], rel=1e-3)

    expected: dict[str, tuple[float, float]] = golden.facts["gradients"]
    largest = max(norm for norm, _ in expected.values())
    weights = dict(network.named_parameters())
    compared = {name: pair for name, pair in expected.items() if pair[0] >= 1e-5 * largest}
    far = []
    for mapping in MAPPINGS:
        if mapping.tensorflow not in compared:
            continue
        norm, dot = compared[mapping.tensorflow]
        gradient = mapping.layout.to_tensorflow(*(of(weights[one].grad) for one in mapping.ours))
        ours_norm, ours_dot = fingerprint(mapping.tensorflow, gradient)
        if abs(ours_norm - norm) > 0.05 * norm or abs(ours_dot - dot) > 0.05 * norm:
            far.append(mapping.tensorflow)
    assert len(far) <= 0.03 * len(compared), far


def test_regularisation_is_what_the_originals_total_loss_adds(
    golden: Golden, network: AttentionOCR
) -> None:
    added = golden.facts["eval_total_loss"] - golden.facts["eval_sequence_loss"]
    assert weight_decay(network) == pytest.approx(added, rel=1e-3)


def check_readings(logits: Tensor, golden: Golden, mode: str) -> None:
    """Characters, length and confidence by the original's definitions."""
    scores = torch.log_softmax(logits, 2)
    best, read = (one.numpy() for one in scores.max(2))
    assert np.array_equal(read, golden.arrays[f"{mode}_predicted"])
    lengths = (read != NULL).sum(1)
    assert np.array_equal(lengths, golden.arrays[f"{mode}_length"])
    sums = np.concatenate([best, np.zeros((len(best), 1))], axis=1).cumsum(1)
    confidence = sums[np.arange(len(best)), lengths]
    assert np.allclose(confidence, golden.arrays[f"{mode}_confidence"], rtol=1e-4)
    normalised = np.exp(confidence / (lengths + 1))
    assert np.allclose(normalised, golden.arrays[f"{mode}_normalized_confidence"], rtol=1e-3)


def sequence_losses(logits: Tensor, truth: Tensor) -> Tensor:
    """The original's loss: smoothed labels, summed over all characters, nulls included."""
    scores = torch.log_softmax(logits, 2)
    right = scores.gather(2, truth[:, :, None]).squeeze(2)
    return -((1 - SMOOTHING) * right + SMOOTHING * scores.mean(2)).sum(1)


def weight_decay(network: AttentionOCR) -> float:
    """The kernels of the tower and the last layer with its bias, as the original's."""
    decayed = [
        weight
        for name, weight in network.named_parameters()
        if name.endswith("convolution.weight") or "classifier" in name
    ]
    assert len(decayed) == 28
    return WEIGHT_DECAY * sum(weight.square().sum().item() / 2 for weight in decayed)


def scaled(golden: Golden) -> Tensor:
    return (pictures(golden) - 0.5) * 2.5


def labels(golden: Golden) -> Tensor:
    return torch.from_numpy(golden.arrays["labels"])


def weight(name: str, shape: list[int]) -> Array:
    """By the rule of the reference, which counts `softmax_b` among the biases."""
    value = weight_by_rule(name, shape)
    return 0.1 * value if name.endswith("softmax_b") else value

"""ResNet, DenseNet and HRNet compute what the TensorFlow originals compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.train.networks.golden import (
    Golden,
    check_names,
    difference,
    fingerprint,
    of,
    pictures,
    read_golden,
    weights_by_rule,
)
from trainferry.train.networks.densenet import DenseNet
from trainferry.train.networks.hrnet import HRNet
from trainferry.train.networks.resnet import ResNet
from trainferry.train.tf_checkpoint.mapping import TensorMapping
from trainferry.train.tf_checkpoint.names_densenet import densenet_mappings
from trainferry.train.tf_checkpoint.names_hrnet import hrnet_mappings
from trainferry.train.tf_checkpoint.names_resnet import resnet_mappings


@dataclass(frozen=True)
class Original:
    build: Callable[[], nn.Module]
    mappings: tuple[TensorMapping, ...]


ORIGINALS = {
    "resnet18_v1": Original(lambda: ResNet(1001, 18, 1), resnet_mappings(18, 1)),
    "resnet50_v1": Original(lambda: ResNet(1001, 50, 1), resnet_mappings(50, 1)),
    "resnet50_v2": Original(lambda: ResNet(1001, 50, 2), resnet_mappings(50, 2)),
    "densenet121": Original(lambda: DenseNet(1000, 121), densenet_mappings(121)),
    "hrnet_w18": Original(lambda: HRNet(1001, 18), hrnet_mappings()),
}


@pytest.fixture(params=ORIGINALS, scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def golden(shared: Path, name: str) -> Golden:
    return read_golden(shared, name)


@pytest.fixture
def network(golden: Golden, name: str) -> nn.Module:
    network = ORIGINALS[name].build()
    weights = weights_by_rule(golden, ORIGINALS[name].mappings)
    left = network.load_state_dict(weights, strict=False)
    assert left.unexpected_keys == []
    endings = ("num_batches_tracked", "biased", "local_step")
    assert [key for key in left.missing_keys if not key.endswith(endings)] == []
    return network


def test_the_name_map_is_the_list_of_the_originals_variables(golden: Golden, name: str) -> None:
    check_names(golden, ORIGINALS[name].mappings)


def test_evaluation_logits_are_the_originals(golden: Golden, network: nn.Module) -> None:
    network.eval()
    with torch.no_grad():
        logits = network(pictures(golden))
    assert difference(logits, golden.arrays["eval_logits"]) <= 1e-4


def test_training_logits_loss_gradients_and_statistics_are_the_originals(
    golden: Golden, network: nn.Module, name: str
) -> None:
    network.train()
    logits = network(pictures(golden))
    loss = functional.cross_entropy(logits, torch.tensor(golden.facts["labels"]))
    loss.backward()
    assert difference(logits, golden.arrays["train_logits"]) <= 1e-3
    assert loss.item() == pytest.approx(golden.facts["train_loss"], rel=1e-3)

    expected: dict[str, tuple[float, float]] = golden.facts["gradients"]
    largest = max(norm for norm, _ in expected.values())
    weights = dict(network.named_parameters())
    far, compared = [], 0
    for mapping in ORIGINALS[name].mappings:
        norm, dot = expected.get(mapping.tensorflow, (0.0, 0.0))
        if norm < 1e-5 * largest:
            continue
        compared += 1
        gradient = mapping.layout.to_tensorflow(*(of(weights[one].grad) for one in mapping.ours))
        ours_norm, ours_dot = fingerprint(mapping.tensorflow, gradient)
        if abs(ours_norm - norm) > 0.05 * norm or abs(ours_dot - dot) > 0.05 * norm:
            far.append(mapping.tensorflow)
    assert len(far) <= 0.03 * compared, far

    buffers = dict(network.named_buffers())
    for mapping in ORIGINALS[name].mappings:
        if not mapping.trained:
            norm, dot = golden.facts["moving_after_one_step"][mapping.tensorflow]
            ours_norm, ours_dot = fingerprint(mapping.tensorflow, of(buffers[mapping.ours[0]]))
            assert ours_norm == pytest.approx(norm, rel=1e-3), mapping.tensorflow
            assert ours_dot == pytest.approx(dot, abs=1e-3 * norm), mapping.tensorflow

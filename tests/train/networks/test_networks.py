"""The same four tests for the network of every recipe."""

from __future__ import annotations

import copy
import dataclasses
import string
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from trainferry.train.build import OpenRun, build_network, build_task
from trainferry.train.data.inputs import network_input
from trainferry.train.export import Samples, compare
from trainferry.train.networks.crnn import columns_of
from trainferry.train.onnx_facts import OnnxFacts
from trainferry.train.onnx_graph import build_graph
from trainferry.train.reader import file_reader, run_reader
from trainferry.train.recipe import read_recipe
from trainferry.train.recipe_sections import Recipe

CPU = torch.device("cpu")
HUNDRED = (
    string.printable.strip()[:60]
    + "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
)


@dataclass(frozen=True)
class Case:
    """A recipe and how many numbers its network holds: trained ones, and statistics."""

    recipe: str
    trained: int
    statistics: int


CASES = (
    Case("crnn", 8_721_152, 4_480),
    Case("crnn_cn", 8_753_920, 4_480),
    Case("crnn_small", 613_696, 928),
)


def recipe_of(case: Case) -> Recipe:
    recipe = read_recipe(case.recipe)
    if recipe.task.alphabet_from == "recipe":
        return recipe
    # The characters come with the data; a hundred stand for the thousands.
    task = dataclasses.replace(recipe.task, alphabet=HUNDRED, alphabet_from="recipe")
    return dataclasses.replace(recipe, task=task)


@dataclass(frozen=True)
class Built:
    """A network, with statistics that show if they are mixed up."""

    case: Case
    recipe: Recipe
    network: nn.Module


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.recipe)
def built(request: pytest.FixtureRequest) -> Built:
    recipe = recipe_of(request.param)
    network = build_network(recipe, CPU)
    generator = torch.Generator().manual_seed(0)
    for name, buffer in network.named_buffers():
        if "running" in name:
            buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)
    return Built(request.param, recipe, network)


def random_pictures(recipe: Recipe, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    shape = (count, recipe.picture.height, recipe.picture.width, 3)
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def test_every_column_gets_a_score_for_every_class(built: Built) -> None:
    recipe, network = built.recipe, built.network.eval()
    pictures = torch.from_numpy(random_pictures(recipe, 2))
    with torch.no_grad():
        scores = network(network_input(pictures, recipe.picture))
    classes = len(recipe.task.alphabet) + 1
    assert scores.shape == (2, columns_of(recipe.picture.width), classes)
    assert torch.isfinite(scores).all()


def test_every_weight_learns(built: Built) -> None:
    recipe, network = built.recipe, copy.deepcopy(built.network).train()
    pictures = torch.from_numpy(random_pictures(recipe, 2))
    network(network_input(pictures, recipe.picture)).square().sum().backward()
    idle = [
        name
        for name, weight in network.named_parameters()
        if weight.grad is None or not weight.grad.any()
    ]
    assert idle == []


def test_the_number_of_weights_does_not_drift(built: Built) -> None:
    network = built.network
    trained = sum(weight.numel() for weight in network.parameters() if weight.requires_grad)
    statistics = sum(
        buffer.numel() for name, buffer in network.named_buffers() if "running" in name
    )
    assert (trained, statistics) == (built.case.trained, built.case.statistics)


def test_the_exported_file_gives_the_same_output(built: Built) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    recipe, network = built.recipe, built.network.eval()
    opened = OpenRun(Path("run"), recipe, CPU, network, build_task(recipe), 0)
    model = build_graph(network, recipe.picture)
    onnx.helper.set_model_props(model, _facts(recipe).to_metadata())
    samples = Samples(list(random_pictures(recipe, 6)), "random dots")
    file = file_reader(model.SerializeToString(), "network.onnx")
    found = compare(run_reader(opened), file, samples)
    found.check()
    assert found.samples == 6


def _facts(recipe: Recipe) -> OnnxFacts:
    return OnnxFacts(
        recipe=recipe.name,
        alphabet=recipe.task.alphabet,
        height=recipe.picture.height,
        width=recipe.picture.width,
        filter=recipe.picture.filter,
        scale=recipe.picture.scale,
        case=recipe.task.case,
        merge_repeated=recipe.task.merge_repeated,
        step=0,
        version="test",
        scores={},
    )

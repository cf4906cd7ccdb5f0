"""The same four tests for the network of every recipe."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from trainferry.train.build import OpenRun, build_network, build_task, without_data
from trainferry.train.export.comparison import compare
from trainferry.train.export.onnx.facts import facts_of
from trainferry.train.export.onnx.graph import build_graph
from trainferry.train.export.samples import Samples
from trainferry.train.networks.crnn import columns_of
from trainferry.train.predict.reader import file_reader, run_reader
from trainferry.train.recipe.read import list_recipes, read_recipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import (
    ClassifyRecipe,
    RecogniseRecipe,
    SignPicture,
    SpellRecipe,
)

CPU = torch.device("cpu")
SMALL_ENOUGH = 128  # pixels at which the large networks are tried


@dataclass(frozen=True)
class Case:
    """A recipe and how many numbers its network holds: trained ones, and statistics."""

    recipe: str
    trained: int
    statistics: int
    sets: tuple[str, ...] = ()


NET_SLICE = ("network.attention=false", "network.autoregression=false")

CASES = (
    Case("crnn", 8_721_152, 4_480),
    Case("crnn_cn", 11_684_608, 4_480),
    Case("crnn_small", 613_696, 928),
    Case("resnet50", 25_559_081, 53_120),
    Case("resnet50_v2", 25_551_401, 45_440),
    Case("resnet50_zoo", 25_559_081, 53_120),
    Case("densenet121", 7_978_728, 83_520),
    Case("densenet121", 7_978_856, 83_648, ("network.variant=paper",)),
    Case("hrnet_w18", 21_297_213, 51_216),
    Case("hrnet_w30", 37_710_429, 71_280),
    Case("attention_ocr", 1_851_344, 3_712),
    Case("attention_ocr", 1_899_728, 3_712, ("network.coordinates=true",)),
    Case("attention_ocr", 9_249_574, 3_712, NET_SLICE),
)


def recipe_of(case: Case) -> Recipe:
    sets = list(case.sets)
    if isinstance(read_recipe(case.recipe).task, ClassifyRecipe):
        sets += [f"picture.height={SMALL_ENOUGH}", f"picture.width={SMALL_ENOUGH}"]
    return without_data(read_recipe(case.recipe, sets))[0]


@dataclass(frozen=True)
class Built:
    """A network, with statistics that show if they are mixed up."""

    case: Case
    recipe: Recipe
    network: nn.Module


@pytest.fixture(scope="module", params=CASES, ids=lambda case: " ".join([case.recipe, *case.sets]))
def built(request: pytest.FixtureRequest) -> Built:
    recipe = recipe_of(request.param)
    network = build_network(recipe, CPU)
    _set_statistics(network, build_task(recipe).inputs(torch.from_numpy(pictures(recipe, 2))))
    return Built(request.param, recipe, network)


def pictures(recipe: Recipe, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    views = recipe.picture.views if isinstance(recipe.picture, SignPicture) else 1
    shape = (count, recipe.picture.height, views * recipe.picture.width, 3)
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def test_every_class_gets_a_score(built: Built) -> None:
    recipe, network = built.recipe, built.network.eval()
    with torch.no_grad():
        scores = network(build_task(recipe).inputs(torch.from_numpy(pictures(recipe, 2))))
    assert scores.shape == (2, *_shape_of_scores(recipe))
    assert torch.isfinite(scores).all()


def test_every_weight_learns(built: Built) -> None:
    recipe, network = built.recipe, copy.deepcopy(built.network).train()
    for norm in network.modules():  # some start at zero, and let nothing through at first
        if isinstance(norm, nn.BatchNorm2d):
            nn.init.ones_(norm.weight)
    inputs = build_task(recipe).inputs(torch.from_numpy(pictures(recipe, 2)))
    network(inputs).square().sum().backward()
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


@pytest.mark.slow
def test_the_exported_file_gives_the_same_output(built: Built) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    recipe, network = built.recipe, built.network.eval()
    opened = OpenRun(Path("run"), recipe, CPU, network, build_task(recipe), 0)
    model = build_graph(network, recipe.picture)
    onnx.helper.set_model_props(model, facts_of(recipe, 0).to_metadata())
    samples = Samples(list(pictures(recipe, 6)), "random dots")
    file = file_reader(model.SerializeToString(), "network.onnx")
    found = compare(run_reader(opened), file, samples)
    found.check()
    assert found.samples == 6


def test_no_recipe_is_forgotten() -> None:
    tried = {recipe_of(case).network for case in CASES}
    recipes = [read_recipe(name) for name in list_recipes()]
    known = {type(recipe.network) for recipe in recipes}
    assert {type(network) for network in tried} == known


def _shape_of_scores(recipe: Recipe) -> tuple[int, ...]:
    task = recipe.task
    if isinstance(task, RecogniseRecipe):
        return columns_of(recipe.picture.width), len(task.alphabet) + 1
    if isinstance(task, SpellRecipe):
        return task.max_length, len(task.charset)
    return (len(task.classes) + task.background,)


@torch.no_grad()
def _set_statistics(network: nn.Module, inputs: torch.Tensor) -> None:
    """Make statistics that fit, so that deep networks do not overflow, and that all differ."""
    decays = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    network.train()
    for _ in range(3):
        network(inputs)
    generator = torch.Generator().manual_seed(0)
    for module in decays:
        for buffer in (module.running_mean, module.running_var):
            assert buffer is not None
            buffer.mul_(0.9 + 0.2 * torch.rand(buffer.shape, generator=generator))
    network.eval()

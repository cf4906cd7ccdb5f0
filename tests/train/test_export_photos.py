"""Exported networks that name photographs: any size, with all that is needed inside."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.train.photo_run import (
    CLASSES,
    SCORES,
    make_photo_run,
    photo,
    settled_network,
    tiny_photo_recipe,
    write_photo_records,
    write_photos,
)
from trainferry.errors import ExportError
from trainferry.train.build import OpenRun, build_task, open_run
from trainferry.train.export.comparison import compare
from trainferry.train.export.export import export_compared, export_run
from trainferry.train.export.onnx.facts import facts_of, parse_metadata
from trainferry.train.export.onnx.graph import build_graph
from trainferry.train.export.onnx.photo_facts import PhotoFacts
from trainferry.train.export.onnx.photos import build_photos
from trainferry.train.export.samples import Samples, made_photographs, made_samples
from trainferry.train.predict.reader import Logits, Pictures, file_reader, open_reader, run_reader
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import PhotoPicture

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def photo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_run(tmp_path_factory.mktemp("run") / "photos")


def opened(folder: Path) -> OpenRun:
    return open_run(folder, device=CPU)


def unsaved(recipe: Recipe) -> OpenRun:
    return OpenRun(Path("run"), recipe, CPU, settled_network(recipe), build_task(recipe), 0)


def photos_of(run: OpenRun, count: int = 5) -> Samples:
    reader = run_reader(run)
    return Samples([reader.prepare(photo(number)) for number in range(count)], "dots")


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("resnet50", ()),
        (
            "resnet50",
            ("network.size=50", "picture.height=48", "picture.evaluation=squash"),
        ),
        ("resnet50", ("picture.deviation=[58.4,57.1,57.4]", "picture.filter=antialias")),
        ("resnet50_v2", ()),
        ("resnet50_zoo", ()),
        ("densenet121", ()),
        ("densenet121", ("network.variant=paper",)),
    ],
    ids=["18", "50, wide", "deviation", "v2", "zoo", "densenet", "densenet of the paper"],
)
def test_every_network_can_be_exported(name: str, sets: tuple[str, ...]) -> None:
    run = unsaved(tiny_photo_recipe(name, *sets))
    model = build_graph(run.network, run.recipe.picture)
    onnx.checker.check_model(model, full_check=True)
    onnx.helper.set_model_props(model, facts_of(run.recipe, 0).to_metadata())
    file = file_reader(model.SerializeToString(), "net.onnx")
    compared = compare(run_reader(run), file, photos_of(run))
    compared.check()
    assert compared.relative_difference < 2e-5
    assert compared.largest_logit > 0


def test_file_is_kept_when_it_agrees(photo_run: Path, tmp_path: Path) -> None:
    exported = export_run(opened(photo_run), tmp_path / "net.onnx")
    assert exported.comparison.samples == 16
    assert exported.comparison.read_differently == 0
    assert (tmp_path / "net.onnx").stat().st_size == exported.file_bytes
    summary = exported.summary()
    assert "4 classes and background" in summary
    assert "logits, float32, batch x 5" in summary
    assert "patches of colour made up for this" in summary
    assert "named differently   0" in summary


def test_norms_and_paddings_are_part_of_other_nodes() -> None:
    nodes = count_nodes("resnet50")
    assert nodes["Conv"] == 21
    assert not nodes.keys() & {"BatchNormalization", "Pad"}


def test_norms_behind_no_convolution_stay() -> None:
    nodes = count_nodes("resnet50_v2")
    assert nodes["BatchNormalization"] == 17
    assert nodes["Conv"] == 53


def test_layers_keep_their_names() -> None:
    recipe = tiny_photo_recipe("resnet50")
    model = build_graph(settled_network(recipe), recipe.picture)
    names = [node.name for node in model.graph.node]
    assert "stages.1.0.convolutions.0" in names
    assert "stages.1.0.projection" in names
    assert names[-1] == "classifier"
    assert {"classifier.weight", "stem.bias"} <= {c.name for c in model.graph.initializer}


def test_output_of_every_batch_has_its_size(photo_run: Path, tmp_path: Path) -> None:
    export_compared(opened(photo_run), tmp_path / "net.onnx", photos_of(opened(photo_run)))
    reader = open_reader(tmp_path / "net.onnx")
    for size in (1, 2, 17):
        assert reader.logits(np.zeros((size, 64, 64, 3), np.uint8)).shape == (size, 5)


def test_file_tells_how_it_wants_to_be_used(photo_run: Path, tmp_path: Path) -> None:
    export_compared(opened(photo_run), tmp_path / "net.onnx", photos_of(opened(photo_run)))
    model = onnx.load(tmp_path / "net.onnx")
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["task"] == "classify"
    assert json.loads(facts["classes"]) == ["background", *CLASSES]
    assert json.loads(facts["background"]) is True
    assert (facts["picture_evaluation"], facts["picture_evaluation_size"]) == ("short_side", "72")
    assert (facts["picture_height"], facts["picture_width"]) == ("64", "64")
    assert (facts["picture_order"], facts["picture_filter"]) == ("rgb", "legacy")
    assert json.loads(facts["picture_mean"]) == [123.68, 116.78, 103.94]
    assert json.loads(facts["picture_deviation"]) == [1.0, 1.0, 1.0]
    assert "EXIF" in facts["picture_decoding_is"]
    assert "72 / the short side" in facts["picture_evaluation_is"]
    assert "rint" in facts["picture_rounding_is"]
    assert (facts["recipe"], facts["step"]) == ("resnet50", "7")
    assert json.loads(facts["scores"]) == SCORES
    assert "Do not normalise" in model.doc_string
    assert model.opset_import[0].version == 15


@pytest.mark.parametrize("background", [True, False])
def test_facts_come_back_as_they_were_written(background: bool) -> None:
    recipe = tiny_photo_recipe("densenet121", f"task.background={str(background).lower()}")
    facts = facts_of(recipe, 12, {"top1": 0.75})
    assert isinstance(facts, PhotoFacts)
    found = parse_metadata(facts.to_metadata(), "net.onnx")
    assert isinstance(found, PhotoFacts)
    assert found.names == (("background",) if background else ()) + CLASSES
    assert dataclasses.replace(found, picture=facts.picture) == facts
    for number in range(3):
        assert (found.prepare(photo(number)) == facts.prepare(photo(number))).all()


def test_file_for_another_task_is_refused() -> None:
    with pytest.raises(ExportError, match="for the task 'detect', which is not known"):
        parse_metadata({"task": "detect"}, "net.onnx")
    with pytest.raises(ExportError, match="does not say how it wants its pictures"):
        parse_metadata({"task": "classify"}, "net.onnx")
    facts = facts_of(tiny_photo_recipe("resnet50"), 0).to_metadata()
    with pytest.raises(ExportError, match="'cubic' is none of legacy, antialias"):
        parse_metadata({**facts, "picture_filter": "cubic"}, "net.onnx")


def test_samples_come_from_records_with_their_classes(photo_run: Path, tmp_path: Path) -> None:
    data = write_photo_records(tmp_path / "data", 9)
    exported = export_run(opened(photo_run), tmp_path / "net.onnx", data=data)
    compared = exported.comparison
    assert (compared.samples, compared.unreadable) == (8, 1)
    assert compared.right is not None
    assert compared.origin == f"the val records of {data}"
    assert f"right by both       {compared.right} of 8" in exported.summary()


def test_user_may_give_pictures(photo_run: Path, tmp_path: Path) -> None:
    folder = write_photos(tmp_path / "photos", 3)
    (folder / "bad.jpg").write_bytes(b"nothing")
    exported = export_run(opened(photo_run), tmp_path / "net.onnx", pictures=[folder])
    assert (exported.comparison.samples, exported.comparison.unreadable) == (3, 1)


def test_class_named_differently_is_refused_however_small_the_difference(photo_run: Path) -> None:
    reader = run_reader(opened(photo_run))

    def answers(best: int) -> object:
        def logits(pictures: Pictures) -> Logits:
            values = np.ones((len(pictures), 5), np.float32)
            values[:, best] += 1e-6
            return values

        return logits

    one, other = (dataclasses.replace(reader, logits=answers(best)) for best in (1, 2))  # type: ignore[arg-type]  # a function of this test
    compared = compare(one, other, photos_of(opened(photo_run)))
    with pytest.raises(ExportError, match="5 of 5 classes are named differently"):
        compared.check()


def test_made_up_photographs_differ_and_are_no_noise() -> None:
    pictures = list(made_photographs(4))
    assert len({picture.shape for picture in pictures}) == 4
    for picture in pictures:
        steps = np.abs(np.diff(picture.astype(int), axis=1)).mean()
        assert picture.std() > 10
        assert steps < 5


def test_network_that_has_learnt_nothing_can_be_exported() -> None:
    recipe = tiny_photo_recipe("resnet50")
    run = unsaved(recipe)
    for name, buffer in run.network.named_buffers():
        if "running" in name:
            buffer.fill_(0.0 if "mean" in name else 1.0)
    model = build_graph(run.network, recipe.picture)
    onnx.helper.set_model_props(model, facts_of(recipe, 0).to_metadata())
    file = file_reader(model.SerializeToString(), "net.onnx")
    compare(run_reader(run), file, made_samples(run)).check()


class Odd(nn.Module):
    """One layer, then whatever the test wants."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.convolution = nn.Conv2d(3, 4, 3, bias=True)
        self.pointwise = nn.Conv2d(4, 4, 1, bias=False)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, images: Tensor) -> Tensor:
        features = self.convolution(images)
        if self.kind == "gelu":
            features = functional.gelu(features)
        elif self.kind == "shared":
            features = self.norm(features) + features
        elif self.kind == "twice":
            features = self.norm(functional.relu(self.norm(features)))
        elif self.kind == "in place":
            before = functional.max_pool2d(features, 3, 1, padding=1)
            features = functional.relu_(features) + features + before
        elif self.kind == "mirrored":
            features = functional.pad(features, (1, 1, 1, 1), mode="reflect")
        elif self.kind == "padded":
            features = functional.pad(features, (0, 1, 2, 3), value=0.5)
        elif self.kind == "padded for two":
            padded = functional.pad(features, (0, 1, 0, 1))
            features = self.pointwise(padded) + padded
        elif self.kind == "uneven":
            features = functional.interpolate(features, size=(9, 9))
        return features.mean(dim=(2, 3))


@pytest.mark.parametrize(
    ("kind", "operation"),
    [("gelu", "gelu"), ("mirrored", "pad"), ("uneven", "upsample")],
)
def test_operation_that_cannot_be_written_is_named(kind: str, operation: str) -> None:
    with pytest.raises(ExportError, match=f"operation `{operation}"):
        build_photos(Odd(kind).eval(), PhotoPicture(height=8, width=8))


def test_network_that_still_learns_is_refused() -> None:
    with pytest.raises(ExportError, match="still learns"):
        build_photos(Odd("twice").train(), PhotoPicture(height=8, width=8))


@pytest.mark.parametrize("kind", ["shared", "twice", "padded", "padded for two", "in place"])
def test_values_that_are_used_twice_are_kept(kind: str) -> None:
    import onnxruntime

    network = Odd(kind).eval()
    generator = torch.Generator().manual_seed(0)
    for buffer in (network.norm.running_mean, network.norm.running_var):
        assert buffer is not None
        buffer.copy_(torch.rand(buffer.shape, generator=generator) + 0.5)
    picture = PhotoPicture(height=8, width=8, mean=(0.0, 0.0, 0.0))
    model = build_photos(network, picture)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    pictures = photo(1, 8, 8)[None]
    with torch.no_grad():
        expected = network(torch.from_numpy(pictures).permute(0, 3, 1, 2).float()).numpy()
    found = session.run(None, {"pictures": pictures})[0]
    assert np.abs(found - expected).max() / np.abs(expected).max() < 1e-5


@pytest.mark.slow
def test_network_of_the_original_size_agrees_too() -> None:
    recipe = tiny_photo_recipe("hrnet_w18", "network.width=18", "network.head=128")
    run = unsaved(recipe)
    model = build_graph(run.network, recipe.picture)
    nodes = {node.op_type for node in model.graph.node}
    assert nodes == {
        *("Cast", "Transpose", "Sub", "Conv", "Relu", "Add", "Resize", "ReduceMean", "Gemm")
    }
    onnx.helper.set_model_props(model, facts_of(recipe, 0).to_metadata())
    file = file_reader(model.SerializeToString(), "net.onnx")
    compare(run_reader(run), file, photos_of(run, 2)).check()


def count_nodes(name: str) -> Counter[str]:
    recipe = tiny_photo_recipe(name)
    model = build_graph(settled_network(recipe), recipe.picture)
    return Counter(node.op_type for node in model.graph.node)

"""Exported networks that read signs: all characters, any batch, with all that is needed inside."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from tests.train.sign_data import LONGEST, SIDE, draw_sign, make_sign_data, small_charset
from tests.train.sign_run import (
    SCORES,
    VIEWS,
    open_signs_run,
    settled_signs,
    tiny_sign_recipe,
    write_signs,
)
from trainferry.errors import ExportError
from trainferry.train import signs
from trainferry.train.build import OpenRun
from trainferry.train.export.comparison import compare
from trainferry.train.export.export import export_compared, export_run
from trainferry.train.export.onnx.facts import facts_of, parse_metadata
from trainferry.train.export.onnx.graph import build_graph
from trainferry.train.export.onnx.photos import build_photos
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.export.samples import Samples, made_samples
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.predict.reader import (
    Attention,
    Logits,
    Pictures,
    Reader,
    file_reader,
    open_reader,
    run_reader,
)
from trainferry.train.recipe.networks import AttentionOCRRecipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import PhotoPicture, SignPicture

CLASSES = small_charset().classes


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return open_signs_run(tmp_path_factory.mktemp("run") / "signs")


@pytest.fixture(scope="module")
def file(run: OpenRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "net.onnx"
    export_compared(run, path, drawn_signs())
    return path


def drawn_signs(count: int = 5, views: int = VIEWS) -> Samples:
    pictures = [draw_sign("abc12"[:number], views, SIDE, views, number) for number in range(count)]
    return Samples(pictures, "drawn")


def unsaved(recipe: Recipe) -> OpenRun:
    task = signs.build_task(recipe, "exact")
    return OpenRun(Path("run"), recipe, torch.device("cpu"), settled_signs(recipe), task, 0)


@pytest.mark.parametrize(
    "sizes",
    [
        AttentionOCRRecipe(endpoint="MaxPool_5a_3x3", hidden=16, coordinates=True),
        AttentionOCRRecipe(endpoint="Conv2d_4a_3x3", hidden=16, autoregression=False),
        AttentionOCRRecipe(endpoint="Conv2d_2b_3x3", hidden=16, attention=False),
        AttentionOCRRecipe(
            endpoint="Conv2d_2b_3x3", hidden=16, attention=False, autoregression=False
        ),
    ],
    ids=["coordinates", "no autoregression", "windows", "windows, no autoregression"],
)
def test_every_kind_of_decoder_can_be_exported(sizes: AttentionOCRRecipe) -> None:
    run = unsaved(tiny_sign_recipe(sizes))
    model = build_graph(run.network, run.recipe.picture)
    onnx.checker.check_model(model, full_check=True)
    onnx.helper.set_model_props(model, facts_of(run.recipe, 0).to_metadata())
    compared = compare(
        run_reader(run), file_reader(model.SerializeToString(), "net.onnx"), drawn_signs()
    )
    compared.check()
    assert compared.relative_difference < 2e-5
    assert compared.largest_logit > 1
    assert compared.attention_difference is not None
    assert compared.attention_difference < 1e-5


def test_file_is_kept_when_it_agrees(run: OpenRun, tmp_path: Path) -> None:
    exported = export_run(run, tmp_path / "net.onnx")
    assert (exported.comparison.samples, exported.comparison.read_differently) == (8, 0)
    assert (tmp_path / "net.onnx").stat().st_size == exported.file_bytes
    summary = exported.summary()
    assert "14 characters and null, 2 views" in summary
    assert f"pictures, uint8, batch x {SIDE} x {2 * SIDE} x 3" in summary
    assert f"logits, float32, batch x {LONGEST} x {CLASSES}" in summary
    assert f"attention, float32, batch x {LONGEST} x 2 x rows x columns" in summary
    assert "signs rendered for this" in summary
    assert "read differently    0" in summary
    assert "attention by" in summary


def test_every_step_reads_on_after_the_one_before(run: OpenRun, file: Path) -> None:
    pictures = np.stack(drawn_signs().pictures)
    logits = open_reader(file).logits(pictures)
    network = run.network
    assert isinstance(network, AttentionOCR)
    told = torch.from_numpy(logits.argmax(2))
    with torch.no_grad():
        images = run.task.inputs(torch.from_numpy(pictures))
        right = network(images, told).numpy()
        wrong = network(images, (told + 1) % CLASSES).numpy()
    assert np.abs(right - logits).max() < 1e-4
    assert np.abs(wrong - logits).max() > 0.1


def test_batch_may_have_any_size(file: Path) -> None:
    reader = open_reader(file)
    assert reader.look is not None
    pictures = np.stack(drawn_signs(7).pictures)
    logits, shares = reader.look(pictures)
    assert logits.shape == (7, LONGEST, CLASSES)
    assert shares.shape == (7, LONGEST, VIEWS, 2, 2)
    assert np.allclose(shares.sum((2, 3, 4)), 1, atol=1e-5)
    for number in range(7):
        alone = reader.logits(pictures[number : number + 1])
        assert np.abs(alone - logits[number]).max() < 1e-4


def test_texts_differ_so_that_the_comparison_means_something(run: OpenRun) -> None:
    logits = run_reader(run).logits(np.stack(drawn_signs(5).pictures))
    assert len({tuple(codes) for codes in logits.argmax(2).tolist()}) > 1


def test_graph_holds_each_weight_once_and_no_loop(file: Path) -> None:
    model = onnx.load(file)
    kinds = {node.op_type for node in model.graph.node}
    assert not kinds & {"Shape", "If", "Loop", "Scan", "Expand", "ConstantOfShape"}
    names = [constant.name for constant in model.graph.initializer]
    assert len(names) == len(set(names))
    contents = [c.raw_data for c in model.graph.initializer if len(c.raw_data) > 1000]
    assert len(contents) == len(set(contents))
    assert sum(node.op_type == "ArgMax" for node in model.graph.node) == LONGEST - 1
    assert model.opset_import[0].version == 15


def test_layers_keep_their_names(file: Path) -> None:
    model = onnx.load(file)
    names = {node.name for node in model.graph.node}
    assert {"tower.Conv2d_1a_3x3.convolution", "decoder.key"} <= names
    constants = {constant.name for constant in model.graph.initializer}
    assert {"decoder.key.weight", "decoder.score", "decoder.query.weight"} <= constants


def test_file_tells_how_it_wants_to_be_used(file: Path) -> None:
    model = onnx.load(file)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    charset = json.loads(facts["charset"])
    assert facts["task"] == "spell"
    assert (len(charset), charset[int(facts["null"])]) == (CLASSES, "")
    assert charset[13] == "\u2019'"
    assert (facts["views"], facts["view_height"], facts["view_width"]) == ("2", "35", "35")
    assert (facts["picture_height"], facts["picture_width"]) == ("35", "70")
    assert (facts["picture_order"], facts["length"]) == ("rgb", str(LONGEST))
    assert json.loads(facts["picture_mean"]) == [127.5] * 3
    assert json.loads(facts["scores"]) == SCORES
    assert "noise" in facts["picture_layout_is"]
    assert "first null" in facts["decoding"]
    assert "geometric mean" in facts["confidence"]
    assert "Do not normalise" in model.doc_string


def test_facts_come_back_as_they_were_written() -> None:
    facts = facts_of(tiny_sign_recipe(), 12, {"loss": 0.75})
    assert isinstance(facts, SignFacts)
    found = parse_metadata(facts.to_metadata(), "net.onnx")
    assert found == facts
    with pytest.raises(ExportError, match="2 nulls"):
        parse_metadata({**facts.to_metadata(), "charset": '["a", "", ""]'}, "net.onnx")


def test_normalisation_is_inside(tmp_path: Path) -> None:
    picture = SignPicture(1, SIDE, SIDE, mean=(10.0, 20.0, 30.0), deviation=(50.0, 60.0, 70.0))
    sizes = AttentionOCRRecipe(endpoint="MaxPool_3a_3x3", hidden=8)
    run = open_signs_run(tmp_path / "run", tiny_sign_recipe(sizes, picture))
    exported = export_compared(run, tmp_path / "net.onnx", drawn_signs(3, views=1))
    assert exported.comparison.relative_difference < 2e-5


def test_samples_come_from_records_with_their_texts(run: OpenRun, tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data", views=VIEWS)
    exported = export_run(run, tmp_path / "net.onnx", data=data)
    assert exported.comparison.samples == 6
    assert exported.comparison.right is not None
    assert "read right by both" in exported.summary()


def test_user_may_give_pictures(run: OpenRun, tmp_path: Path) -> None:
    folder = write_signs(tmp_path / "signs", 3)
    (folder / "bad.png").write_bytes(b"nothing")
    exported = export_run(run, tmp_path / "net.onnx", pictures=[folder])
    assert (exported.comparison.samples, exported.comparison.unreadable) == (3, 1)


def test_made_up_signs_fit_any_number_of_views(run: OpenRun) -> None:
    samples = made_samples(run)
    assert {picture.shape for picture in samples.pictures} == {(SIDE, 2 * SIDE, 3)}
    assert samples.labels == []  # the charset has no capitals


def spelling(run: OpenRun, codes: tuple[int, ...], undecided: tuple[int, int, int]) -> Reader:
    """Reads the same codes from every sign; at one place two of them are as good."""
    place, *both = undecided

    def logits(pictures: Pictures) -> Logits:
        values = np.zeros((len(pictures), LONGEST, CLASSES), np.float32)
        values[:, np.arange(LONGEST), codes] = 1
        values[:, place, both] = 1
        values[:, place, codes[place]] += 1e-6
        return values

    return dataclasses.replace(run_reader(run), logits=logits, look=None)


def test_what_follows_on_a_close_decision_behind_the_text_is_not_compared(run: OpenRun) -> None:
    null = CLASSES - 1
    one = spelling(run, (1, 2, null, 3, 4, 5), (3, 3, 6))
    other = spelling(run, (1, 2, null, 6, 7, 8), (3, 3, 6))
    compared = compare(one, other, drawn_signs())
    compared.check()
    assert (compared.parted, compared.read_differently) == (5, 0)
    assert compared.largest_difference < 1e-5


def test_close_decision_inside_the_text_is_a_difference(run: OpenRun) -> None:
    null = CLASSES - 1
    one = spelling(run, (1, 2, 4, null, null, null), (1, 2, 3))
    other = spelling(run, (1, 3, 5, null, null, null), (1, 2, 3))
    with pytest.raises(ExportError, match="5 of 5 texts are read differently"):
        compare(one, other, drawn_signs()).check()


def test_attention_that_differs_is_refused(run: OpenRun) -> None:
    reader = run_reader(run)

    def look(pictures: Pictures) -> tuple[Logits, Attention]:
        assert reader.look is not None
        logits, shares = reader.look(pictures)
        return logits, shares[..., ::-1]

    with pytest.raises(ExportError, match="attention by"):
        compare(reader, dataclasses.replace(reader, look=look), drawn_signs()).check()


def test_network_that_still_learns_is_refused(run: OpenRun) -> None:
    network = settled_signs(run.recipe).train()
    with pytest.raises(ExportError, match="still learns"):
        build_graph(network, run.recipe.picture)


class TakesBatchApart(nn.Module):
    """Does what cannot be done to a batch of unknown size."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, images: Tensor) -> Tensor:
        values = images.mean(dim=(2, 3))
        if self.kind == "select":
            return values + values[0]
        if self.kind == "chunk":
            return values.chunk(2, 0)[0]
        if self.kind == "argmax":
            return values + values.argmax()
        return torch.stack([values, values])


@pytest.mark.parametrize("kind", ["select", "chunk", "argmax", "stack"])
def test_operation_that_depends_on_the_batch_is_refused(kind: str) -> None:
    with pytest.raises(ExportError, match=f"operation `{kind}`"):
        build_photos(TakesBatchApart(kind).eval(), PhotoPicture(height=4, width=4))


@pytest.mark.slow
def test_network_of_the_original_size_agrees_too() -> None:
    network = AttentionOCR(134).eval()
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if name.startswith("decoder") and value.dim() > 1:
                value.mul_(3)
    model = build_graph(network, SignPicture())
    onnx.checker.check_model(model, full_check=True)
    assert len(model.graph.node) < 1200
    assert [output.name for output in model.graph.output] == ["logits", "attention"]
    pictures = draw_sign("Rue", 4, 150, 3)[None]
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    logits, shares = session.run(None, {"pictures": pictures})
    with torch.no_grad():
        images = (torch.from_numpy(pictures).permute(0, 3, 1, 2).float() - 127.5) / 102
        expected, looked = network.look(images)
    assert np.abs(logits - expected.numpy()).max() < 1e-4 * expected.abs().max()
    assert np.abs(shares - looked.numpy()).max() < 1e-5

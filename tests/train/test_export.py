"""Exported files: they say what the network says, and everything needed to use them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

from tests.train.run_folder import SCORES, make_run
from tests.train.word_data import draw_word, make_word_data, word_record
from trainferry.errors import DataError, ExportError, UsageError
from trainferry.train.build import OpenRun, open_run
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.alphabet import LATIN36
from trainferry.train.export.comparison import compare
from trainferry.train.export.export import export_compared, export_run
from trainferry.train.export.onnx.facts import facts_of, parse_metadata
from trainferry.train.export.onnx.graph import build_graph
from trainferry.train.export.samples import (
    Samples,
    made_samples,
    samples_of_data,
    samples_of_pictures,
)
from trainferry.train.predict.reader import Logits, Pictures, open_reader, run_reader
from trainferry.train.recipe.tasks import PictureRecipe

CPU = torch.device("cpu")


def opened(folder: Path) -> OpenRun:
    return open_run(folder, device=CPU)


def random_samples(width: int = 100, count: int = 9) -> Samples:
    dice = np.random.default_rng(3)
    return Samples(list(dice.integers(0, 256, (count, 32, width, 3), np.uint8)), "random dots")


def test_file_says_what_the_network_says(tiny_run: Path, tmp_path: Path) -> None:
    exported = export_compared(
        opened(tiny_run), tmp_path / "tiny.onnx", made_samples(opened(tiny_run))
    )
    assert exported.comparison.samples == 64
    assert exported.comparison.largest_difference < 1e-5
    assert exported.comparison.read_differently == 0
    assert (tmp_path / "tiny.onnx").stat().st_size == exported.file_bytes


def test_words_that_the_network_cannot_spell_are_not_counted_as_read_wrong(tmp_path: Path) -> None:
    chinese = opened(make_run(tmp_path / "run", "task.alphabet=渡口码头"))
    exported = export_compared(chinese, tmp_path / "net.onnx", made_samples(chinese))
    assert exported.comparison.right is None
    assert "letters that its alphabet has not" in exported.summary()
    assert "read right by both" not in exported.summary()


@pytest.mark.parametrize(
    "sets",
    [
        ("network.layers=1", "picture.scale=half"),
        ("network.layers=3", "picture.order=bgr", "picture.filter=bilinear"),
        ("picture.width=60", "network.channels=[3,5,7,9,11,13,15]", "network.hidden=6"),
        ("task.alphabet=的一是不了abc", "task.case=keep", "picture.width=280"),
    ],
    ids=["one layer, half scale", "three layers, bgr", "odd sizes", "long chinese lines"],
)
def test_every_kind_of_recipe_can_be_exported(tmp_path: Path, sets: tuple[str, ...]) -> None:
    run = opened(make_run(tmp_path / "run", *sets))
    samples = random_samples(run.recipe.picture.width)
    compared = export_compared(run, tmp_path / "net.onnx", samples).comparison
    assert compared.largest_difference < 1e-5
    assert compared.read_differently == 0


@pytest.mark.slow
def test_network_of_the_original_size_agrees_too(tmp_path: Path) -> None:
    sizes = ("network.channels=[64,128,256,256,512,512,512]", "network.hidden=256")
    run = opened(make_run(tmp_path / "run", *sizes))
    compared = export_compared(run, tmp_path / "net.onnx", random_samples()).comparison
    assert compared.largest_difference < 1e-4


def test_each_layer_is_one_lstm_node(tiny_run: Path, tmp_path: Path) -> None:
    nodes = export_compared(opened(tiny_run), tmp_path / "tiny.onnx", random_samples()).nodes
    assert nodes["LSTM"] == 2
    assert nodes["Conv"] == 7
    assert sum(nodes.values()) < 40


def test_file_tells_how_it_wants_to_be_used(tiny_run: Path, tmp_path: Path) -> None:
    export_compared(opened(tiny_run), tmp_path / "tiny.onnx", random_samples())
    model = onnx.load(tmp_path / "tiny.onnx")
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert facts["alphabet"] == LATIN36
    assert facts["blank"] == "36"
    assert (facts["picture_height"], facts["picture_width"]) == ("32", "100")
    assert (facts["picture_order"], facts["picture_filter"]) == ("rgb", "antialias")
    assert facts["picture_scale_inside_the_graph"] == "x / 127.5 - 1"
    assert facts["case"] == "lower"
    assert "merged" in facts["decoding"]
    assert (facts["recipe"], facts["step"]) == ("crnn_small", "7")
    assert json.loads(facts["scores"]) == SCORES
    assert "Do not normalise" in model.doc_string
    assert model.opset_import[0].version == 15


def test_file_from_before_there_were_photographs_reads_words(tiny_run: Path) -> None:
    facts = facts_of(opened(tiny_run).recipe, 7)
    metadata = facts.to_metadata()
    assert metadata.pop("task") == "recognise"
    assert parse_metadata(metadata, "old.onnx") == facts


def test_batch_may_have_any_size(tiny_run: Path, tmp_path: Path) -> None:
    export_compared(opened(tiny_run), tmp_path / "tiny.onnx", random_samples())
    session = onnxruntime.InferenceSession(
        tmp_path / "tiny.onnx", providers=["CPUExecutionProvider"]
    )
    for size in (1, 2, 17):
        pictures = np.zeros((size, 32, 100, 3), np.uint8)
        assert session.run(None, {"pictures": pictures})[0].shape == (size, 25, 37)


def test_forget_bias_is_in_the_file(tmp_path: Path) -> None:
    run = opened(make_run(tmp_path / "run"))
    model = onnx.load_from_string(_content(run, tmp_path))
    biases = next(c for c in model.graph.initializer if c.name == "lstm0.B")
    recurrent = onnx.numpy_helper.to_array(biases)[0, 4 * 8 :]
    assert recurrent.tolist() == [0.0] * 16 + [1.0] * 8 + [0.0] * 8


def test_file_that_differs_is_not_left_behind(
    tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def corrupt(network: nn.Module, picture: PictureRecipe) -> onnx.ModelProto:
        model = build_graph(network, picture)
        weight = next(c for c in model.graph.initializer if c.name == "conv3.weight")
        values = onnx.numpy_helper.to_array(weight) + np.float32(0.01)
        weight.CopyFrom(onnx.numpy_helper.from_array(values, weight.name))
        return model

    monkeypatch.setattr("trainferry.train.export.export.build_graph", corrupt)
    target = tmp_path / "tiny.onnx"
    with pytest.raises(ExportError, match="the exported file and the network differ"):
        export_compared(opened(tiny_run), target, random_samples())
    assert list(tmp_path.iterdir()) == []


def test_text_read_differently_is_refused_however_small_the_difference(tiny_run: Path) -> None:
    reader = run_reader(opened(tiny_run))

    def tie_broken_otherwise(pictures: Pictures) -> Logits:
        logits = np.zeros((len(pictures), 25, 37), np.float32)
        logits[:, 0, 5] = 1e-6
        return logits

    def tie(pictures: Pictures) -> Logits:
        return np.zeros((len(pictures), 25, 37), np.float32)

    one = dataclasses.replace(reader, logits=tie)
    other = dataclasses.replace(reader, logits=tie_broken_otherwise)
    compared = compare(one, other, random_samples())
    assert compared.largest_difference < 1e-4
    with pytest.raises(ExportError, match="9 of 9 texts are read differently"):
        compared.check()


def test_network_full_of_nan_is_not_exported(tmp_path: Path) -> None:
    run = opened(make_run(tmp_path / "run"))
    run.network.get_parameter("classifier.weight").data.fill_(float("nan"))
    with pytest.raises(
        ExportError, match="logits by up to nan of the largest, probabilities by up to nan"
    ):
        export_compared(run, tmp_path / "net.onnx", random_samples())


def test_samples_come_from_records_with_their_texts(tiny_run: Path, tmp_path: Path) -> None:
    samples = samples_of_data(opened(tiny_run), make_word_data(tmp_path), "val")
    assert len(samples.pictures) == len(samples.labels) == 12
    exported = export_run(opened(tiny_run), tmp_path / "t.onnx", data=tmp_path)
    assert exported.comparison.right is not None
    assert "12 samples: the val records" in exported.summary()


def test_unreadable_samples_are_counted(tiny_run: Path, tmp_path: Path) -> None:
    records = [word_record("a1"), word_record("b2", b"no picture"), word_record("c3")]
    write_records(tmp_path / "val_1.tfrecords", records)
    samples = samples_of_data(opened(tiny_run), tmp_path, "val")
    assert (len(samples.pictures), samples.unreadable) == (2, 1)


def test_pictures_for_a_bgr_network_are_compared_in_the_right_order(tmp_path: Path) -> None:
    run = opened(make_run(tmp_path / "run", "picture.order=bgr"))
    red = np.zeros((32, 100, 3), np.uint8)
    red[..., 0] = 255
    write_records(tmp_path / "val_1.tfrecords", [word_record("a", encode_jpeg(red, 95))])
    samples = samples_of_data(run, tmp_path, "val")
    assert samples.pictures[0][0, 0, 0] > 200
    export_compared(run, tmp_path / "net.onnx", samples)
    logits = open_reader(tmp_path / "net.onnx").logits(red[None])
    assert np.abs(logits - run_reader(run).logits(red[None])).max() < 1e-5


def test_user_may_give_pictures(tiny_run: Path, tmp_path: Path) -> None:
    (tmp_path / "good.png").write_bytes(draw_word("word"))
    (tmp_path / "bad.png").write_bytes(b"nothing")
    paths = [tmp_path / "good.png", tmp_path / "bad.png", tmp_path / "absent.png"]
    samples = samples_of_pictures(opened(tiny_run), paths)
    assert (len(samples.pictures), samples.unreadable) == (1, 2)
    with pytest.raises(DataError, match="no picture to compare on"):
        export_compared(opened(tiny_run), tmp_path / "t.onnx", Samples([], "nowhere"))


def test_name_must_say_what_the_file_is(tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"does not end in \.onnx"):
        export_compared(opened(tiny_run), tmp_path / "net.pb", random_samples())


def _content(run: OpenRun, folder: Path) -> bytes:
    export_compared(run, folder / "net.onnx", random_samples())
    return (folder / "net.onnx").read_bytes()

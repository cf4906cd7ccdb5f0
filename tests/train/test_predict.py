"""Reading pictures: a run and its exported file agree, and one bad picture stops nothing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.run_folder import make_run
from tests.train.word_data import draw_word
from trainferry.errors import CheckpointError, DataError, DeviceError, ExportError, UsageError
from trainferry.train.build import open_run
from trainferry.train.export.export import export_compared
from trainferry.train.export.samples import Samples
from trainferry.train.predict.answers import WordAnswer, choose_decoding
from trainferry.train.predict.predict import Prediction, find_pictures, predict
from trainferry.train.predict.reader import Logits, Pictures, Reader, open_reader
from trainferry.train.tasks.decode import Lexicon

WORDS = ("cat", "dog7", "2026", "hello")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for number, word in enumerate(WORDS):
        (folder / f"word{number * 5}.png").write_bytes(draw_word(word))
    return folder


def ask_all(
    reader: Reader, paths: list[Path], width: int | None = None, lexicon: Lexicon | None = None
) -> list[Prediction]:
    return list(predict(reader, paths, choose_decoding(reader, width, lexicon)))


def read_all(
    reader: Reader, paths: list[Path], width: int | None = None, lexicon: Lexicon | None = None
) -> list[WordAnswer]:
    answers = [each.answer for each in ask_all(reader, paths, width, lexicon)]
    return [answer for answer in answers if isinstance(answer, WordAnswer)]


def sure_reader(reader: Reader, word: str) -> Reader:
    """Reads the same word from every picture, with a score of 0.9 for each character."""

    def logits(pictures: Pictures) -> Logits:
        probabilities = np.full((len(pictures), 25, 37), 0.1 / 36)
        probabilities[:, :, 36] = 0.9
        for place, number in enumerate(reader.alphabet.encode(word)):
            probabilities[:, 2 * place, 36] = 0.1 / 36
            probabilities[:, 2 * place, number] = 0.9
        return np.log(probabilities).astype(np.float32)

    return dataclasses.replace(reader, logits=logits)


def test_text_confidence_and_scores_of_every_character(tiny_run: Path, pictures: Path) -> None:
    reader = sure_reader(open_reader(tiny_run, device="cpu"), "ab")
    found = ask_all(reader, find_pictures([pictures]))[0]
    first = found.answer
    assert isinstance(first, WordAnswer)
    assert first.text == "ab"
    assert first.character_scores == pytest.approx((0.9, 0.9), abs=1e-3)
    assert first.confidence == pytest.approx(0.81, abs=1e-3)
    assert found.picture is not None
    assert first.to_json()["characters"][0]["character"] == "a"


def test_exported_file_reads_as_the_run_does(
    tiny_run: Path, pictures: Path, tmp_path: Path
) -> None:
    run = open_run(tiny_run, device=torch.device("cpu"))
    prepared = [open_reader(tiny_run, device="cpu").load(path)[1] for path in pictures.iterdir()]
    export_compared(run, tmp_path / "net.onnx", Samples(prepared, "the pictures"))
    paths = find_pictures([pictures])
    from_run = read_all(open_reader(tiny_run, device="cpu"), paths)
    from_file = read_all(open_reader(tmp_path / "net.onnx"), paths)
    assert [each.text for each in from_run] == [each.text for each in from_file]
    assert any(each.text for each in from_run)
    for one, other in zip(from_run, from_file, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)


def test_one_bad_picture_stops_nothing(tiny_run: Path, pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "text.png").write_bytes(b"this is text")
    paths = [pictures / "word0.png", tmp_path / "text.png", tmp_path / "absent.png"]
    found = ask_all(open_reader(tiny_run, device="cpu"), paths)
    assert [each.problem is None for each in found] == [True, False, False]
    assert "no picture" in str(found[1].problem)
    assert found[1].to_json().keys() == {"picture", "problem"}


def test_many_pictures_are_read_in_their_order(tiny_run: Path, pictures: Path) -> None:
    reader = open_reader(tiny_run, device="cpu")
    paths = find_pictures([pictures]) * 20
    assert [each.path for each in ask_all(reader, paths)] == paths
    found = read_all(reader, paths)
    assert [each.text for each in found] == [each.text for each in found[:4]] * 20


def test_lexicon_allows_only_its_words(tiny_run: Path, pictures: Path) -> None:
    reader = sure_reader(open_reader(tiny_run, device="cpu"), "hallo")
    lexicon = Lexicon(["hello", "help", "car"], reader.alphabet)
    found = read_all(reader, [pictures / "word0.png"], lexicon=lexicon)
    assert found[0].text == "hello"


def test_beam_finds_the_word_too(tiny_run: Path, pictures: Path) -> None:
    reader = sure_reader(open_reader(tiny_run, device="cpu"), "cab")
    assert read_all(reader, [pictures / "word0.png"], width=10)[0].text == "cab"
    with pytest.raises(UsageError, match="holds nothing"):
        choose_decoding(reader, 0, None)


def test_folders_are_searched_in_natural_order(pictures: Path, tmp_path: Path) -> None:
    names = [path.name for path in find_pictures([pictures])]
    assert names == ["word0.png", "word5.png", "word10.png", "word15.png"]
    with pytest.raises(DataError, match="there is no picture in"):
        find_pictures([tmp_path])


def test_an_address_is_no_picture() -> None:
    with pytest.raises(DataError, match="is an address"):
        find_pictures([Path("https://example.com/word.jpg")])


def test_chosen_checkpoint_is_read(tmp_path: Path) -> None:
    folder = make_run(make_run(tmp_path / "run", step=3), step=5)
    assert open_reader(folder, device="cpu", checkpoint="3").name.startswith("step 3 ")
    assert open_reader(folder, device="cpu", checkpoint="last").name.startswith("step 5 ")


def test_file_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"junk")
    with pytest.raises(ExportError, match="no ONNX file that onnxruntime can run"):
        open_reader(tmp_path / "junk.onnx")
    with pytest.raises(CheckpointError, match="cannot read"):
        open_reader(tmp_path / "absent.onnx")
    with pytest.raises(DeviceError, match="on the CPU"):
        open_reader(tmp_path / "junk.onnx", device="npu")


def test_onnx_file_of_another_program_is_refused(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "other", value[:1], value[1:]
    )
    opset = [helper.make_opsetid("", 15)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "other.onnx")
    with pytest.raises(ExportError, match="does not say how it wants its pictures"):
        open_reader(tmp_path / "other.onnx")

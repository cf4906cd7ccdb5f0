"""Naming photographs: a run and its exported file agree, and classes come with probabilities."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.photo_run import CLASSES, make_photo_run, write_photos
from trainferry.errors import UsageError
from trainferry.train.build import open_run
from trainferry.train.data.photos.crop import prepare_evaluation
from trainferry.train.export.export import export_compared
from trainferry.train.export.samples import Samples
from trainferry.train.predict.answers import PhotoAnswer, choose_classes, choose_decoding
from trainferry.train.predict.predict import find_pictures, predict
from trainferry.train.predict.reader import Logits, Pictures, Reader, open_reader


@pytest.fixture(scope="module")
def photo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_run(tmp_path_factory.mktemp("run") / "photos")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_photos(tmp_path_factory.mktemp("photos"), 4)


def name_all(reader: Reader, paths: list[Path], count: int = 5) -> list[PhotoAnswer]:
    answers = [each.answer for each in predict(reader, paths, choose_classes(reader, count))]
    return [answer for answer in answers if isinstance(answer, PhotoAnswer)]


def sure_reader(reader: Reader, shares: tuple[float, ...]) -> Reader:
    """Gives the same probabilities to every picture."""

    def logits(pictures: Pictures) -> Logits:
        return np.tile(np.log(np.array(shares, np.float32)), (len(pictures), 1))

    return dataclasses.replace(reader, logits=logits)


def test_classes_come_with_probabilities_best_first(photo_run: Path, photos: Path) -> None:
    reader = sure_reader(open_reader(photo_run, device="cpu"), (0.05, 0.1, 0.2, 0.6, 0.05))
    first = name_all(reader, find_pictures([photos]), 3)[0]
    assert [guess.name for guess in first.guesses] == ["Fisch", "dog, hound", "cat"]
    assert [guess.probability for guess in first.guesses] == pytest.approx([0.6, 0.2, 0.1])
    assert first.text == "Fisch"
    assert first.confidence == pytest.approx(0.6)
    assert first.to_json()["classes"][1] == {"class": "dog, hound", "probability": 0.2}


def test_background_is_named_and_has_its_share(photo_run: Path, photos: Path) -> None:
    reader = sure_reader(open_reader(photo_run, device="cpu"), (0.8, 0.05, 0.05, 0.05, 0.05))
    answer = name_all(reader, find_pictures([photos]), 10)[0]
    assert (answer.text, len(answer.guesses)) == ("background", len(CLASSES) + 1)
    assert sum(guess.probability for guess in answer.guesses) == pytest.approx(1)


def test_exported_file_names_as_the_run_does(photo_run: Path, photos: Path, tmp_path: Path) -> None:
    paths = find_pictures([photos])
    run = open_reader(photo_run, device="cpu")
    prepared = [run.load(path)[1] for path in paths]
    opened = open_run(photo_run, device=torch.device("cpu"))
    export_compared(opened, tmp_path / "net.onnx", Samples(prepared, "the pictures"))
    from_run, from_file = name_all(run, paths), name_all(open_reader(tmp_path / "net.onnx"), paths)
    assert len({answer.confidence for answer in from_run}) > 1
    for one, other in zip(from_run, from_file, strict=True):
        assert [guess.name for guess in one.guesses] == [guess.name for guess in other.guesses]
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)


def test_pictures_are_prepared_as_for_an_evaluation_and_rounded(
    photo_run: Path, photos: Path
) -> None:
    reader = open_reader(photo_run, device="cpu")
    picture, prepared = reader.load(photos / "photo2.png")
    assert picture.shape == (90, 120, 3)
    assert prepared.dtype == np.uint8
    exact = prepare_evaluation(picture, reader.photos.picture)
    assert np.abs(prepared - exact).max() <= 0.5


def test_words_and_photographs_are_not_mixed_up(photo_run: Path, tiny_run: Path) -> None:
    photos, words = (open_reader(run, device="cpu") for run in (photo_run, tiny_run))
    with pytest.raises(UsageError, match="names photographs and reads no words"):
        choose_decoding(photos)
    with pytest.raises(UsageError, match="reads words and names no photographs"):
        choose_classes(words)
    with pytest.raises(UsageError, match="best 0 classes are none"):
        choose_classes(photos, 0)

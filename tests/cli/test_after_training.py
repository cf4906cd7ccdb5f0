"""The commands for a trained run: export, predict, benchmark."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from tests.train.photo_run import CLASSES, make_photo_run, write_photo_records, write_photos
from tests.train.run_folder import TINY_NETWORK, make_run
from tests.train.word_data import draw_word, make_word_data
from trainferry.cli import benchmark, export, predict
from trainferry.errors import CheckpointError, UsageError


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("run") / "tiny")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for word in ("one", "two", "three"):
        (folder / f"{word}.png").write_bytes(draw_word(word))
    return folder


@pytest.fixture(scope="module")
def photo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_run(tmp_path_factory.mktemp("run") / "photos")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_photos(tmp_path_factory.mktemp("photos"), 3)


def call(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for command in (benchmark, export, predict):
        command.add_parser(subparsers)
    parsed = parser.parse_args([str(each) for each in arguments])
    return int(parsed.run(parsed))


def test_export_then_predict_with_the_file(
    tiny_run: Path, pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tiny.onnx"
    assert call("export", tiny_run, "--to", file, "--pictures", pictures) == 0
    shown = capsys.readouterr()
    assert "of the largest" in shown.out
    assert shown.err.startswith("device: cpu")

    assert call("predict", tiny_run, pictures, "--device", "cpu") == 0
    from_run = capsys.readouterr().out
    assert call("predict", file, pictures) == 0
    assert _texts(capsys.readouterr().out) == _texts(from_run)


def test_export_compares_on_records(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make_word_data(tmp_path / "data", train=0)
    assert call("export", tiny_run, "--to", tmp_path / "t.onnx", "--data", data, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["comparison"]["samples"] == 12
    assert told["comparison"]["largest_difference"] < 1e-4
    assert told["opset"] == 15
    assert told["metadata"]["picture_order"] == "rgb"


def test_export_takes_records_or_pictures_not_both(tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two ways"):
        call("export", tiny_run, "--to", "t.onnx", "--data", tmp_path, "--pictures", tmp_path)


def test_pipe_gets_tab_separated_lines(
    tiny_run: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("predict", tiny_run, pictures, "--device", "cpu")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        path, text, confidence, scores = line.split("\t")
        assert Path(path).is_file()
        assert 0 <= float(confidence) <= 1
        assert len(scores.split()) == len(text)


def test_terminal_gets_a_table(
    tiny_run: Path,
    pictures: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    call("predict", tiny_run, pictures, "--device", "cpu")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["picture", "text", "confidence", "characters"]
    assert "\t" not in "".join(lines)


def test_unreadable_pictures_are_told_and_counted(
    tiny_run: Path, pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"nothing")
    assert call("predict", tiny_run, bad, pictures, "--device", "cpu", "--json") == 1
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert told["failed"] == 1
    assert len(told["predictions"]) == 4
    assert "problem" in told["predictions"][0]
    assert "1 of 4 pictures could not be read" in shown.err


def test_grid_shows_what_was_read(
    tiny_run: Path, pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one\ntwo\nthree\nnaïve\n", encoding="utf-8")
    options: Sequence[object] = ("--lexicon", words, "--grid", tmp_path / "g.png")
    assert call("predict", tiny_run, pictures, "--device", "cpu", *options) == 0
    shown = capsys.readouterr()
    assert set(_texts(shown.out)) <= {"one", "two", "three"}
    assert "naïve" in shown.err
    with Image.open(tmp_path / "g.png") as page:
        assert page.width > 600


def test_photographs_are_exported_and_named(
    photo_run: Path, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, data = tmp_path / "net.onnx", write_photo_records(tmp_path / "data", 5)
    assert call("export", photo_run, "--to", file, "--data", data, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["comparison"]["samples"], told["comparison"]["unreadable"]) == (4, 1)
    assert told["metadata"]["task"] == "classify"

    assert call("predict", photo_run, photos, "--device", "cpu") == 0
    from_run = capsys.readouterr().out
    assert call("predict", file, photos) == 0
    assert _texts(capsys.readouterr().out) == _texts(from_run)
    for line in from_run.splitlines():
        path, name, confidence = line.split("\t")
        assert Path(path).is_file()
        assert name in ("background", *CLASSES)
        assert 0 <= float(confidence) <= 1


def test_more_classes_are_shown_when_asked_for(
    photo_run: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("predict", photo_run, photos, "--device", "cpu", "--top", 3)
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("\t")) for line in lines] == [7, 7, 7]
    call("predict", photo_run, photos, "--device", "cpu", "--json")
    told = json.loads(capsys.readouterr().out)["predictions"][0]
    assert told["class"] == told["classes"][0]["class"]
    assert len(told["classes"]) == 5


def test_terminal_gets_the_best_five_classes(
    photo_run: Path,
    photos: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    call("predict", photo_run, photos, "--device", "cpu")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["picture", "class", "confidence"]
    assert len(lines) == 1 + 3 * 5
    assert str(photos / "photo0.png") in lines[1]
    assert lines[2].startswith(" ")


def test_grid_of_photographs_has_taller_cards(
    photo_run: Path, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "g.png"
    assert call("predict", photo_run, photos, "--device", "cpu", "--grid", grid) == 0
    assert "3 pictures with the answers" in capsys.readouterr().err
    with Image.open(grid) as page:
        assert page.height > 400


def test_options_of_words_are_not_for_photographs(
    photo_run: Path, photos: Path, tiny_run: Path, pictures: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="--beam is for words"):
        call("predict", photo_run, photos, "--device", "cpu", "--beam", 5)
    with pytest.raises(UsageError, match="--lexicon is for words"):
        call("predict", photo_run, photos, "--device", "cpu", "--lexicon", tmp_path / "w.txt")
    with pytest.raises(UsageError, match="--top is for classes"):
        call("predict", tiny_run, pictures, "--device", "cpu", "--top", 3)


def test_predict_tells_photographs_that_exif_would_turn(
    photo_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    for name, facts in (("phone.jpg", exif.tobytes()), ("camera.jpg", b"")):
        Image.new("RGB", (120, 90), "teal").save(tmp_path / name, exif=facts)
    assert call("predict", photo_run, tmp_path, "--device", "cpu") == 0
    assert "1 of 2 pictures is stored rotated, to be shown upright by" in capsys.readouterr().err
    assert call("predict", photo_run, tmp_path / "camera.jpg", "--device", "cpu") == 0
    assert "rotated" not in capsys.readouterr().err


def test_folder_that_is_no_run_is_said_to_be_none(tmp_path: Path, pictures: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        call("predict", tmp_path, pictures, "--device", "cpu")


def test_benchmark_tells_speed_and_memory(capsys: pytest.CaptureFixture[str]) -> None:
    sets = [part for each in TINY_NETWORK for part in ("--set", each)]
    options = ("--batch", 2, "--steps", 1, "--device", "cpu", *sets)
    assert call("benchmark", "crnn_small", *options) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("device: cpu")
    assert "images/s" in shown.out
    assert call("benchmark", "crnn_small", *options, "--precision", "bf16", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["batch"], told["steps"], told["precision"]) == (2, 1, "bf16")


def _texts(output: str) -> list[str]:
    return [line.split("\t")[1] for line in output.splitlines()]

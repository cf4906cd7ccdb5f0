"""Reading signs: strips, single views, several pictures of one sign, from a run or its file."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.sign_data import LONGEST, SIDE, draw_sign, small_charset
from tests.train.sign_run import VIEWS, open_signs_run, write_signs, write_view
from trainferry.cli import predict as command
from trainferry.cli.parser import Parser
from trainferry.errors import PictureError, UsageError
from trainferry.train.build import OpenRun
from trainferry.train.data.pictures import encode_png
from trainferry.train.export.export import export_compared
from trainferry.train.export.samples import Samples
from trainferry.train.predict.answers import (
    WordAnswer,
    choose_classes,
    choose_decoding,
    choose_spelling,
    plain_decoding,
)
from trainferry.train.predict.predict import find_pictures, predict
from trainferry.train.predict.reader import Logits, Pictures, Reader, open_reader, run_reader

CHARSET = small_charset()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return open_signs_run(tmp_path_factory.mktemp("run") / "signs")


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_signs(tmp_path_factory.mktemp("signs"))


@pytest.fixture(scope="module")
def file(run: OpenRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "net.onnx"
    export_compared(run, path, Samples([draw_sign("a", VIEWS, SIDE, VIEWS)], "drawn"))
    return path


def spelling(reader: Reader, text: str, share: float = 0.9) -> Reader:
    """Reads the same text from every sign, each character with the same probability."""

    def logits(pictures: Pictures) -> Logits:
        other = (1 - share) / (CHARSET.classes - 1)
        values = np.full((len(pictures), LONGEST, CHARSET.classes), other, np.float32)
        values[:, np.arange(LONGEST), CHARSET.padded(text, LONGEST)] = share
        return np.log(values)

    return dataclasses.replace(reader, logits=logits)


def read_all(reader: Reader, paths: list[Path]) -> list[WordAnswer]:
    answers = [each.answer for each in predict(reader, paths, choose_spelling(reader))]
    return [answer for answer in answers if isinstance(answer, WordAnswer)]


def call(*arguments: object) -> int:
    parser = Parser()
    command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["predict", *(str(each) for each in arguments)])
    return int(parsed.run(parsed))


def test_text_confidence_and_scores_of_every_character(run: OpenRun, signs: Path) -> None:
    reader = spelling(run_reader(run), "d\u2019e 1")
    answer = read_all(reader, find_pictures([signs]))[0]
    assert answer.text == "d'e 1"  # the last character of a code is the one it reads as
    assert answer.character_scores == pytest.approx([0.9] * 5)
    assert answer.confidence == pytest.approx(0.9)
    assert answer.to_json()["characters"][3] == {"character": " ", "score": 0.9}


def test_exported_file_reads_as_the_run_does(run: OpenRun, file: Path, signs: Path) -> None:
    paths = find_pictures([signs])
    from_run, from_file = (read_all(each, paths) for each in (run_reader(run), open_reader(file)))
    assert [answer.text for answer in from_run] == [answer.text for answer in from_file]
    assert any(answer.text for answer in from_run)
    for one, other in zip(from_run, from_file, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)


def test_strip_of_all_views_is_taken_as_it_is(file: Path, signs: Path) -> None:
    picture, prepared = open_reader(file).load(signs / "sign1.png")
    assert (picture == prepared).all()


def test_any_other_picture_is_one_view_and_the_rest_is_noise(file: Path, tmp_path: Path) -> None:
    reader = open_reader(file)
    grey = np.full((30, 60, 3), 100, np.uint8)
    (tmp_path / "view.png").write_bytes(encode_png(grey))
    picture, prepared = reader.load(tmp_path / "view.png")
    assert picture.shape == (30, 60, 3)
    assert prepared.shape == (SIDE, VIEWS * SIDE, 3)
    covered = (prepared == 100).all(2)
    assert covered[8:26, :SIDE].all()  # half as high as wide, in the middle
    assert covered.sum() < 19 * SIDE
    assert prepared[:, SIDE:].std() > 60
    assert (reader.load(tmp_path / "view.png")[1] == prepared).all()


def test_several_pictures_of_a_sign_are_joined_with_plus(file: Path, tmp_path: Path) -> None:
    reader = open_reader(file)
    one, other = (write_view(tmp_path / f"{side}.png", side, side) for side in (40, 50))
    both = Path(f"{one}+{other}")
    (prediction,) = predict(reader, [both], choose_spelling(reader))
    assert prediction.views == 2
    assert prediction.to_json()["picture"] == str(both)
    prepared = reader.load(both)[1]
    assert (prepared[:, :SIDE] == reader.load(one)[1][:, :SIDE]).all()
    assert (prepared[:, SIDE:] == reader.load(other)[1][:, :SIDE]).all()


def test_file_with_a_plus_in_its_name_is_one_picture(file: Path, tmp_path: Path) -> None:
    path = write_view(tmp_path / "a+b.png")
    assert open_reader(file).files_of(path) == [path]


def test_too_many_views_or_a_bad_one_stop_nothing(file: Path, tmp_path: Path) -> None:
    reader = open_reader(file)
    view = write_view(tmp_path / "view.png")
    (tmp_path / "bad.png").write_bytes(b"nothing")
    given = [Path(f"{view}+{view}+{view}"), Path(f"{view}+{tmp_path / 'bad.png'}"), view]
    found = list(predict(reader, given, choose_spelling(reader)))
    assert "3 views of one sign, and the network sees 2" in (found[0].problem or "")
    assert found[1].answer is None
    assert found[2].views == 1
    with pytest.raises(PictureError, match="cannot read `gone"):
        reader.load(Path("gone.png+too.png"))


def test_words_signs_and_photographs_are_not_mixed_up(file: Path, tiny_run: Path) -> None:
    reads_signs, reads_words = open_reader(file), open_reader(tiny_run, device="cpu")
    with pytest.raises(UsageError, match="reads signs and reads no words"):
        choose_decoding(reads_signs)
    with pytest.raises(UsageError, match="reads signs and names no photographs"):
        choose_classes(reads_signs)
    with pytest.raises(UsageError, match="reads words and reads no signs"):
        choose_spelling(reads_words)
    assert plain_decoding(reads_signs)(np.zeros((1, LONGEST, CHARSET.classes), np.float32))


def test_command_tells_texts_and_missing_views(
    file: Path, signs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = write_view(tmp_path / "view.png")
    assert call(file, signs, view, "--json") == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)["predictions"]
    assert [each["views"] for each in told] == [2, 2, 2, 2, 1]
    assert all(len(each["characters"]) == len(each["text"]) for each in told)
    assert "1 of 5 signs has fewer than 2 views; noise stands for the others" in shown.err
    assert call(file, signs) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 4
    assert "fewer" not in shown.err


def test_command_draws_where_the_network_looked(
    run: OpenRun, file: Path, signs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, same = tmp_path / "looks.png", tmp_path / "same.png"
    assert call(file, signs / "sign0.png", "--attention", target) == 0
    assert f"{target}: where the network looked" in capsys.readouterr().err
    assert call(run.folder, signs / "sign0.png", "--attention", same, "--device", "cpu") == 0
    with Image.open(target) as of_file, Image.open(same) as of_run:
        assert of_file.format == "PNG"
        difference = np.abs(np.array(of_file, np.int16) - np.array(of_run, np.int16))
        assert difference.max() <= 2
    folder = tmp_path / "looks"
    assert call(file, signs, "--attention", folder, "--grid", tmp_path / "grid.png") == 0
    assert [path.name for path in sorted(folder.iterdir())] == [
        f"{number + 1:04d}_sign{number}.png" for number in range(4)
    ]


def test_command_refuses_what_makes_no_sense(file: Path, signs: Path, tiny_run: Path) -> None:
    for options, message in (
        (["--top", "3"], "--top is for classes, and this network reads signs"),
        (["--beam", "3"], "--beam is for words, and this network reads signs"),
        (["--attention", "looks.jpg"], "is no PNG"),
        (["--attention", "looks.png"], "4 pictures do not fit"),
    ):
        with pytest.raises(UsageError, match=message):
            call(file, signs, *options)
    with pytest.raises(UsageError, match="reads words and reads no signs"):
        call(tiny_run, signs, "--attention", "looks", "--device", "cpu")


def test_command_draws_over_no_picture_that_it_reads(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    left, right = (write_view(tmp_path / f"{side}.png") for side in ("left", "right"))
    before = right.read_bytes()
    for option in ("--attention", "--grid"):
        with pytest.raises(UsageError, match=f"is a picture to read, and {option} would"):
            call(file, f"{left}+{right}", option, "right.png")
    assert right.read_bytes() == before

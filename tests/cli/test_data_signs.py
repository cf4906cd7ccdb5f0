"""The commands `data signs` and `data fsns`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.train.sign_data import make_sign_data
from trainferry.cli.data_signs import add_fsns, add_signs
from trainferry.cli.main import main
from trainferry.cli.parser import Parser
from trainferry.train.data.pictures import encode_png
from trainferry.train.data.signs.views import noise

pytest.importorskip("cv2")


def run(*arguments: str) -> int:
    parser = Parser(prog="trainferry data")
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    add_signs(commands)
    add_fsns(commands)
    parsed = parser.parse_args(arguments)
    code: int = parsed.run(parsed)
    return code


def test_signs_are_rendered_with_a_page_to_look_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "sheet.png"
    arguments = ("signs", "--count", "2", "--to", str(tmp_path), "--check-sheet", str(sheet))
    assert run(*arguments, "--processes", "1", "--json") == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert facts["count"] == 2
    assert facts["files"] == [str(tmp_path / "tfrecords" / "train_1.tfrecords")]
    assert "check sheet" in err
    assert sheet.is_file()
    assert (tmp_path / "charset_size=134.txt").is_file()


def test_views_are_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.png").write_bytes(encode_png(noise(150, 600, np.random.default_rng(0)) // 4))
    (tmp_path / "gt.tsv").write_text("a.png\tRue de la Gare\n", encoding="utf-8")
    out_folder = str(tmp_path / "out")
    assert run("fsns", str(tmp_path), "--to", out_folder, "--split", "val") == 0
    assert "wrote 1 sign to 1 record file" in capsys.readouterr().out


@pytest.mark.parametrize("named_as_fsns", [True, False])
@pytest.mark.parametrize("split", ["val", ""])
def test_signs_come_back_as_pictures_that_can_be_packed_again(
    tmp_path: Path, named_as_fsns: bool, split: str
) -> None:
    (tmp_path / "a.png").write_bytes(encode_png(noise(150, 600, np.random.default_rng(0)) // 4))
    (tmp_path / "gt.tsv").write_text("a.png\tRue de la Gare\n", encoding="utf-8")
    packed, back = tmp_path / "packed", tmp_path / "back"
    assert run("fsns", str(tmp_path), "--to", str(packed), "--split", "val") == 0
    (file,) = packed.rglob("val_1.tfrecords")
    record = file.read_bytes()
    if named_as_fsns:
        (packed / "validation").mkdir()
        file.rename(packed / "validation" / "validation-00000-of-00001")
    words = ("data", "unpack", str(packed), "--to", str(back))
    assert main([*words, *(("--split", split) if split else ())]) == 0
    assert run("fsns", str(back), "--to", str(tmp_path / "again"), "--split", "val") == 0
    (again,) = (tmp_path / "again").rglob("val_1.tfrecords")
    assert again.read_bytes() == record


def test_a_split_that_signs_do_not_have_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        run("signs", "--count", "1", "--to", str(tmp_path), "--split", "valid")
    assert caught.value.code == 2


def test_signs_are_checked_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make_sign_data(tmp_path / "signs", views=2)
    command = ["data", "check", str(data), "--recipe", "attention_ocr", "--processes", "1"]
    command += ["--set", "picture.views=2", "--set", "picture.height=35"]
    command += ["--set", "picture.width=35", "--set", "task.max_length=2"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "kept" in shown
    assert "too_long" in shown


def test_signs_are_known_by_their_charset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make_sign_data(tmp_path / "signs", views=2)
    size = ["--set", "picture.views=2", "--set", "picture.height=35", "--set", "picture.width=35"]
    assert main(["data", "check", str(data), "--processes", "1", *size]) == 0
    assert "kept" in capsys.readouterr().out


def test_signs_without_their_charset_are_not_taken_for_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make_sign_data(tmp_path / "signs", views=2)
    (charset,) = data.glob("charset*.txt")
    charset.unlink()
    for source in (data, data / "tfrecords" / "train_1.tfrecords"):
        assert main(["data", "check", str(source), "--processes", "1"]) == 1
        shown = capsys.readouterr()
        assert "no charset*.txt in" in shown.err
        assert "alphabet" not in shown.out


def test_splits_that_come_into_one_list_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = make_sign_data(tmp_path / "signs", views=2)
    unpack = ["data", "unpack", str(data), "--to"]
    assert main([*unpack, str(tmp_path / "all")]) == 0
    assert "note: train, val go into one list; `--split train`" in capsys.readouterr().err
    assert main([*unpack, str(tmp_path / "val"), "--split", "val"]) == 0
    assert "note" not in capsys.readouterr().err

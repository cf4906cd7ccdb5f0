"""The commands `trainferry data` for photographs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.photo_data import draw_photo, make_photo_data
from trainferry.cli import data
from trainferry.cli.parser import Parser
from trainferry.errors import DataError, UsageError


def make_tree(root: Path, *names: str, each: int = 3) -> Path:
    for number, name in enumerate(names):
        (root / name).mkdir(parents=True)
        for one in range(each):
            (root / name / f"{one}.jpg").write_bytes(draw_photo(number, len(names), 32, one))
    return root


def test_a_tree_is_packed_checked_and_unpacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make_tree(tmp_path / "source", "cat", "dog", each=5)
    out = tmp_path / "out"
    options = ("--validation", "0.2", "--processes", "1", "--json")
    assert _run("folder", source, "--to", out, *options) == 0
    assert json.loads(capsys.readouterr().out)["written"] == {"train": 8, "validation": 2}

    assert _run("check", out, "--recipe", "resnet50", "--processes", "1") == 0
    shown = capsys.readouterr().out
    assert "kept 8 of 8 records (100.0%)" in shown
    assert "classes: 2; 4 pictures each" in shown
    assert _run("check", out, "--recipe", "resnet50", "--split", "val", "--labels-only") == 0
    assert "kept 2 of 2" in capsys.readouterr().out

    assert _run("unpack", out, "--to", tmp_path / "back") == 0
    assert "wrote 10 pictures of 2 classes" in capsys.readouterr().out
    for path in source.glob("*/*"):
        place = Path(path.parent.name) / path.name
        split = "train" if (tmp_path / "back" / "train" / place).exists() else "val"
        assert (tmp_path / "back" / split / place).read_bytes() == path.read_bytes()


def test_photographs_are_packed_smaller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = make_tree(tmp_path / "source", "cat", "dog")
    options = ("--short-side", "16", "--processes", "1", "--json")
    assert _run("folder", source, "--to", tmp_path / "out", *options) == 0
    assert json.loads(capsys.readouterr().out)["rewritten"] == {"JPEG made smaller": 6}
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "gt.tsv").write_text("a.jpg\ta\n")
    with pytest.raises(UsageError, match="--short-side are for class folders"):
        _run("folder", tmp_path / "words", "--to", tmp_path / "out", *options)


def test_large_photographs_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large = make_photo_data(tmp_path / "large", train=4, val=0, size=1024)
    assert _run("check", large, "--processes", "1") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("large: half of the photographs")
    assert _run("check", large, "--processes", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["short_side"] == 1024
    usual = make_photo_data(tmp_path / "usual", train=4, val=0)
    assert _run("check", usual, "--processes", "1") == 0
    assert "large:" not in capsys.readouterr().out


def test_photographs_are_checked_without_torch(tmp_path: Path) -> None:
    folder = make_photo_data(tmp_path)
    program = (
        "import sys\nfrom trainferry.cli.main import main\n"
        f"code = main(['data', 'check', {str(folder)!r}, '--processes', '1'])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_one_split_or_file_is_unpacked_without_a_folder_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_photo_data(tmp_path / "data")
    assert _run("unpack", folder, "--split", "val", "--to", tmp_path / "one", "--json") == 0
    assert json.loads(capsys.readouterr().out)["written"] == 9
    assert (tmp_path / "one" / "disc_0").is_dir()
    file = folder / "train-00000-of-00002"
    assert _run("unpack", file, "--to", tmp_path / "two", "--json") == 0
    assert json.loads(capsys.readouterr().out)["written"] == 12


def test_imagenet_folders_are_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_tree(tmp_path / "source" / "train", "n01440764", "n01443537")
    make_tree(tmp_path / "source" / "validation", "n01440764", "n01443537", each=1)
    names = tmp_path / "names.txt"
    names.write_text("n01440764 tench\nn01443537 goldfish\nn01484850 great white shark\n")
    options = ("--classes", names, "--shards-train", "2", "--processes", "1")
    assert _run("imagenet", tmp_path / "source", "--to", tmp_path / "out", *options) == 0
    shown = capsys.readouterr().out
    assert "wrote 6 train and 2 validation photographs to 3 record files" in shown
    assert "labels 1 to 3: the sorted wnids of names.txt" in shown
    assert (tmp_path / "out" / "train-00001-of-00002").is_file()
    assert _run("check", tmp_path / "out", "--recipe", "resnet50", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["classes"][2] == {"label": 3, "name": "great white shark", "pictures": 0}


def test_a_check_of_one_file_finds_the_classes_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_photo_data(tmp_path)
    file = folder / "validation-00000-of-00001"
    assert _run("check", file, "--recipe", "resnet50", "--labels-only", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [one["pictures"] for one in facts["classes"]] == [3, 3, 3]
    assert facts["classes"][1]["name"] == "square 1"


def test_a_folder_with_neither_words_nor_classes_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(draw_photo(0, 3))
    with pytest.raises(DataError, match="neither a label file nor class folders"):
        _run("folder", tmp_path, "--to", tmp_path / "out")
    with pytest.raises(DataError, match="is no folder"):
        _run("folder", tmp_path / "gone", "--to", tmp_path / "out")


def test_folders_with_lists_are_words_and_no_classes(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "train", "val")
    (tree / "train" / "gt.tsv").write_text("0.jpg\tword\n")
    with pytest.raises(DataError, match=r"holds words: it has a gt\.tsv"):
        _run("folder", tree, "--to", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_only_list_of_a_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(draw_photo(0, 3))
    (tmp_path / "labels.csv").write_text("a.jpg,word\n")
    with pytest.raises(DataError, match=r"the first is .a\.jpg,word"):
        _run("folder", tmp_path, "--to", tmp_path / "out")


def test_pictures_in_place_of_records_are_told(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "cat", "dog")
    for recipe in ("resnet50", "crnn_small"):
        with pytest.raises(DataError) as told:
            _run("check", tree, "--recipe", recipe)
        assert f"trainferry data folder {tree} --to FOLDER" in told.value.hint


def test_options_of_the_other_kind_are_refused(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "cat", "dog")
    with pytest.raises(UsageError, match="--layout is for words"):
        _run("folder", tree, "--to", tmp_path / "out", "--layout", "raw")
    (tree / "gt.tsv").write_text("cat/0.jpg\tword\n")
    with pytest.raises(UsageError, match="for class folders"):
        _run("folder", tree, "--to", tmp_path / "out", "--short-side", "99")
    with pytest.raises(SystemExit):
        _run("folder", tree, "--to", tmp_path / "out", "--validation", "1.5")


def _run(*arguments: str | Path) -> int:
    parser = Parser()
    data.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["data", *map(str, arguments)])
    code = parsed.run(parsed)
    assert isinstance(code, int)
    return code

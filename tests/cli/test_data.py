"""The command `trainferry data`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.train.data.lmdb_files import word_entries, write_lmdb
from tests.train.data.samples import picture, write_words
from trainferry.cli import data
from trainferry.cli.parser import Parser
from trainferry.errors import DataError
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import write_records
from trainferry.train.data.words.alphabet import Alphabet, read_alphabet, write_alphabet


def test_a_folder_is_packed_checked_and_unpacked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pictures"
    source.mkdir()
    (source / "a.jpg").write_bytes(encode_jpeg(picture(), 80))
    (source / "gt.tsv").write_text("a.jpg\tFerry\nb.jpg\tgone\n")

    assert _run("folder", source, "--to", tmp_path / "records", "--json") == 0
    packed = json.loads(capsys.readouterr().out)
    assert (packed["written"], packed["skipped"]) == (1, 1)

    assert _run("unpack", tmp_path / "records", "--to", tmp_path / "back") == 0
    assert "wrote 1 picture and" in capsys.readouterr().out
    assert (tmp_path / "back" / "a.jpg").read_bytes() == (source / "a.jpg").read_bytes()


def test_another_label_file_is_read_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pictures"
    source.mkdir()
    (source / "a.jpg").write_bytes(encode_jpeg(picture(), 80))
    (source / "gt.txt").write_text('a.jpg, "Ferry"\nno words\n')

    assert _run("folder", source, "--to", tmp_path / "found", "--json") == 0
    shown = capsys.readouterr()
    assert 'reading gt.txt as lines of ICDAR: `file, "text"`' in shown.err
    facts = json.loads(shown.out)
    assert (facts["written"], facts["read_as"]) == (1, "quoted")
    assert facts["examples"] == [["gt.txt:2", 'line that is not `file, "text"`: no words']]

    assert _run("folder", source, "--labels", source / "gt.txt", "--to", tmp_path / "asked") == 0
    with pytest.raises(DataError, match=r"no `gt.txt` here") as caught:
        _run("folder", source, "--labels", "gt.txt", "--to", tmp_path / "out")
    assert caught.value.hint == f"pass --labels {source / 'gt.txt'}"


def test_lmdb_files_are_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word = (encode_jpeg(picture(), 80), "Ferry")
    write_lmdb(tmp_path / "sets" / "a", word_entries([word]))
    write_lmdb(tmp_path / "sets" / "b", word_entries([word, word]), {b"more": b"x"})
    assert _run("lmdb", tmp_path / "sets", "--to", tmp_path / "out", "--json") == 0
    shown = capsys.readouterr()
    assert "reading 3 words from 2 LMDB files" in shown.err
    assert "2  sets/b, in 6 entries where 5 should be" in shown.err
    facts = json.loads(shown.out)
    assert facts["written"] == 3
    assert [source["samples"] for source in facts["sources"]] == [1, 2]

    assert _run("lmdb", *sorted((tmp_path / "sets").iterdir()), "--to", tmp_path / "two") == 0
    assert "wrote 3 words to 2 record files" in capsys.readouterr().out
    assert _run("check", tmp_path / "two", "--processes", "1") == 0


@pytest.mark.parametrize("kind", ["words", "signs"])
def test_a_sheet_that_cannot_be_written_is_told_before_anything_is_rendered(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    sheet = tmp_path / "file" / "sheet.png"
    with pytest.raises(DataError, match="cannot write"):
        _run(kind, "--count", "2", "--to", tmp_path / "out", "--check-sheet", sheet)
    assert not (tmp_path / "out").exists()


def test_check_tells_what_a_recipe_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_words(tmp_path / "train_1.tfrecords", ["Ferry", "two words", "x" * 30])
    assert _run("check", tmp_path, "--recipe", "crnn", "--processes", "1") == 0
    shown = capsys.readouterr().out
    assert "kept 1 of 3" in shown
    assert "two words" in shown

    assert _run("check", tmp_path, "--labels-only", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["dropped"]["unknown_character"] == facts["dropped"]["too_long"] == 1


def test_check_of_nothing_usable_is_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_words(tmp_path / "train_1.tfrecords", ["!!!"])
    assert _run("check", tmp_path) == 1
    assert "kept 0 of 1" in capsys.readouterr().out


def test_synth90k_is_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.jpg").write_bytes(encode_jpeg(picture(), 80))
    (tree / "lexicon.txt").write_text("ferry\n")
    (tree / "annotation_val.txt").write_text("./a.jpg 0\n")
    assert _run("synth90k", tree, "--to", tmp_path / "out", "--split", "val", "--json") == 0
    assert json.loads(capsys.readouterr().out)["written"] == 1


def test_words_are_rendered_with_a_page_to_look_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cv2")
    page = tmp_path / "page.png"
    options = ("--count", "4", "--processes", "1", "--check-sheet", page, "--json")
    assert _run("words", "--to", tmp_path / "out", *options) == 0
    assert json.loads(capsys.readouterr().out)["count"] == 4
    assert page.is_file()


def test_the_characters_of_the_labels_become_the_alphabet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_words(tmp_path / "train_1.tfrecords", ["Ferry", "中文"])
    assert _run("alphabet", tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["characters"] == "Fery中文"
    assert read_alphabet(tmp_path).characters == "Fery中文"
    assert _run("alphabet", tmp_path) == 0


def test_another_alphabet_is_not_overwritten(tmp_path: Path) -> None:
    write_words(tmp_path / "train_1.tfrecords", ["ab"])
    write_alphabet(Alphabet("cab"), tmp_path)
    with pytest.raises(DataError, match="another alphabet"):
        _run("alphabet", tmp_path)
    assert read_alphabet(tmp_path).characters == "cab"


def test_the_alphabet_of_class_numbers_is_left_alone(tmp_path: Path) -> None:
    write_alphabet(Alphabet("cab"), tmp_path)
    raw = build_example({"images": picture(0, 32, 100).tobytes(), "labels": [1, 2]})
    write_records(tmp_path / "records" / "train_1.tfrecords", [raw])
    with pytest.raises(DataError, match="class numbers"):
        _run("alphabet", tmp_path / "records")
    assert not (tmp_path / "records" / "char_dict").exists()


def test_one_file_is_checked_by_the_alphabet_of_its_folder(tmp_path: Path) -> None:
    path = write_words(tmp_path / "tfrecords" / "train_1.tfrecords", ["中文"])
    _run("alphabet", tmp_path)
    assert _run("check", path, "--recipe", "crnn_cn", "--processes", "1") == 0


def test_a_missing_split_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no `test"):
        _run("check", tmp_path, "--split", "test")


@pytest.mark.parametrize(
    "arguments", [(), ("words",), ("folder", "x"), ("lmdb", "--to", "x"), ("nothing",)]
)
def test_wrong_usage_exits_with_two(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        _run(*arguments)
    assert caught.value.code == 2


def _run(*arguments: str | Path) -> int:
    parser = Parser()
    data.add_parser(parser.add_subparsers(required=True))
    parsed = parser.parse_args(["data", *map(str, arguments)])
    return int(parsed.run(parsed))

"""Label files of other programs: which one is meant, how it reads, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.train.data.samples import open_words, picture
from trainferry.errors import DataError
from trainferry.train.data.pack import Problem
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import find_records
from trainferry.train.data.words.folder import FolderOptions, pack_folder
from trainferry.train.data.words.label_lines import read_list
from trainferry.train.data.words.labels import find_labels, open_labels, read_labels

PADDLE = "train/a.jpg\t简单可依赖\ntrain/b.jpg\ttwo words\n"
ICDAR = '\ufeffa.jpg, "Genaxis Theatre"\r\nb.jpg, "100,000"\r\nc.jpg, "say \\"yes\\" \\\\o/"\r\n'
JSON_LINES = '{"filename": "a.jpg", "text": "GRAND"}\n{"img_path": "b.jpg", "text": "a\\tb"}\n'
DOCUMENT = {
    "metainfo": {"dataset_type": "TextRecogDataset", "task_name": "textrecog"},
    "data_list": [
        {"instances": [{"text": "GRAND"}], "img_path": "a.jpg"},
        {"instances": [{"text": "one"}, {"text": "two"}], "img_path": "b.jpg"},
        {"instances": [{"text": "HOTEL"}]},
        {"instances": [{"text": 7}], "img_path": "d.jpg"},
        "nothing",
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "kind", "words"),
    [
        (
            "rec_gt_train.txt",
            PADDLE,
            "tab",
            [("train/a.jpg", "简单可依赖"), ("train/b.jpg", "two words")],
        ),
        (
            "Challenge2_Test_Task3_GT.txt",
            ICDAR,
            "quoted",
            [("a.jpg", "Genaxis Theatre"), ("b.jpg", "100,000"), ("c.jpg", 'say "yes" \\o/')],
        ),
        ("label.jsonl", JSON_LINES, "jsonl", [("a.jpg", "GRAND"), ("b.jpg", "a\tb")]),
    ],
)
def test_a_label_file_is_known_by_its_lines(
    tmp_path: Path, name: str, content: str, kind: str, words: list[tuple[str, str]]
) -> None:
    (tmp_path / name).write_bytes(content.encode())
    found = find_labels(tmp_path)
    assert found is not None
    assert (found.path.name, found.kind) == (name, kind)
    assert name in found.describe()
    assert read_labels(found)[0] == words


def test_several_pictures_of_one_text_are_a_word_each(tmp_path: Path) -> None:
    lines = [
        '["a.jpg", "b.jpg"]\tsame',
        "[c].jpg\tother",
        '["d.jpg", 4]\tlist',
        '["\\ud800"]\thalf',
    ]
    words = _read(tmp_path, "\n".join(lines))
    assert words == [
        ("a.jpg", "same"),
        ("b.jpg", "same"),
        ("[c].jpg", "other"),
        ('["d.jpg", 4]', "list"),
        ('["\\ud800"]', "half"),
    ]


def test_annotations_of_mmocr_1_are_one_document(tmp_path: Path) -> None:
    (tmp_path / "textrecog_train.json").write_text(json.dumps(DOCUMENT, indent=4))
    found = find_labels(tmp_path)
    assert found is not None
    assert found.kind == "mmocr"
    words = read_labels(found)[0]
    assert words[0] == ("a.jpg", "GRAND")
    assert [word.line for word in words[1:] if isinstance(word, Problem)] == [
        f"textrecog_train.json, entry {number}" for number in (2, 3, 4, 5)
    ]


def test_lines_of_no_form_are_listed_with_their_numbers(tmp_path: Path) -> None:
    words = _read(tmp_path, "a.jpg\tone\n\nno tab here\nb.jpg\ttwo\tthree\nc.jpg\t\n")
    assert words == [
        ("a.jpg", "one"),
        Problem("labels.txt:3", "line that is not `file<TAB>text`: no tab here"),
        Problem("labels.txt:4", "line that is not `file<TAB>text`: b.jpg\ttwo\tthree"),
        Problem("c.jpg", "empty text"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"filename": "a.jpg"}',
        '{"filename": "a.jpg", "img_path": "b.jpg", "text": "x"}',
        '{"filename": ["a.jpg"], "text": "x"}',
        '{"filename": "a.jpg", "text": 12}',
        '{"filename": "a.jpg", "text": "\\ud800"}',
        '{"filename": "a.jpg", "text": "x"',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_json_that_is_no_file_and_text_is_listed(tmp_path: Path, line: str) -> None:
    words = _read(tmp_path, f'{{"filename": "a.jpg", "text": "good"}}\n{line}\n')
    assert words[0] == ("a.jpg", "good")
    assert isinstance(words[1], Problem)
    assert words[1].line == "labels.txt:2"


def test_a_gt_tsv_comes_before_all_others(tmp_path: Path) -> None:
    (tmp_path / "gt.tsv").write_text("a.jpg\tone\ttab\n")
    (tmp_path / "gt.txt").write_text("a.jpg\tother\n")
    found = find_labels(tmp_path)
    assert found is not None
    assert read_labels(found)[0] == [("a.jpg", "one\ttab")]


def test_which_of_two_label_files_is_meant_is_not_guessed(tmp_path: Path) -> None:
    for name in ("rec_gt_train.txt", "rec_gt_test.txt"):
        (tmp_path / name).write_text(PADDLE)
    with pytest.raises(DataError, match=r"`rec_gt_test\.txt`, `rec_gt_train\.txt`") as caught:
        find_labels(tmp_path)
    assert f"--labels {tmp_path}" in caught.value.hint


def test_a_file_of_two_forms_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"of several forms: 1 `file<TAB>text`.*, 1 `file, "):
        _read(tmp_path, 'a.jpg\tone\nb.jpg, "two"\n')


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README.txt", "These are words.\nSee a.jpg\tfor one.\nMore of it.\nAnd more.\n"),
        ("characters.txt", "a\nb\n\t\nc\n"),
        ("counts.tsv", "a\t100\nb\t20\n"),
        ("annotation_train.txt", "./1/a_one_7.jpg 7\n./1/b_two_8.jpg 8\n"),
        ("Label.txt", 'a.jpg\t[{"transcription": "MASA", "points": [[1, 2]]}]\n'),
        ("classes.txt", "cat/1.jpg\tcat\ncat/2.jpg\tcat\ndog/1.jpg\tdog\n"),
        ("coco.json", '{"images": [], "annotations": []}'),
        ("empty.txt", ""),
        ("labels.log", PADDLE),
        (".hidden.txt", PADDLE),
    ],
)
def test_what_names_no_words_is_no_label_file(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert find_labels(tmp_path) is None


def test_pictures_in_several_folders_with_many_texts_are_words(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text("1/a.jpg\tone\n1/b.jpg\ttwo\n2/a.jpg\tone\n")
    assert find_labels(tmp_path) is not None


@pytest.mark.parametrize(
    ("content", "what", "hint"),
    [
        (b"a.jpg hello\n", "the first is 'a.jpg hello'", "file<TAB>text"),
        (b"\n\n", "is empty", "file<TAB>text"),
        (b'a.jpg\t[{"transcription": "x"}]\n', "boxes of whole pages", "rec_gt.txt"),
    ],
)
def test_a_file_that_was_asked_for_and_cannot_be_read_is_an_error(
    tmp_path: Path, content: bytes, what: str, hint: str
) -> None:
    (tmp_path / "labels.txt").write_bytes(content)
    with pytest.raises(DataError, match=what) as caught:
        open_labels(tmp_path / "labels.txt")
    assert hint in caught.value.hint


def test_a_label_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_bytes("a.jpg\tok\nb.jpg\t简单\n".encode("gbk"))
    with pytest.raises(DataError, match=r"line 2 of .* is not UTF-8"):
        read_labels(open_labels(tmp_path / "labels.txt"))


@pytest.mark.parametrize("name", ["gt.tsv", "gt.txt"])
def test_a_label_file_in_utf16_is_refused_with_the_command_that_turns_it(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes("a.jpg\t中文\n".encode("utf-16"))
    with pytest.raises(DataError, match="is UTF-16") as told:
        read_labels(open_labels(tmp_path / name))
    assert f"iconv -f UTF-16 -t UTF-8 {tmp_path / name}" in told.value.hint


def test_a_label_file_in_utf16_is_found_among_the_pictures(tmp_path: Path) -> None:
    content = "图像/a.jpg\t中文\n图像/b.jpg\t码头\n"
    (tmp_path / "rec_gt_train.txt").write_bytes(content.encode("utf-16"))
    with pytest.raises(DataError, match="is UTF-16"):
        find_labels(tmp_path)


def test_lines_may_end_as_those_of_old_macs(tmp_path: Path) -> None:
    assert _read(tmp_path, "a.jpg\tone\rb.jpg\ttwo\r") == [("a.jpg", "one"), ("b.jpg", "two")]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("sub\\a.jpg\tx\n", "write / instead of"),
        ("../other/a.jpg\tx\n", "no links out of it"),
        ("A.JPG\tx\n", "`A.JPG` is called `a.jpg` here"),
    ],
)
def test_paths_that_are_not_found_are_explained(tmp_path: Path, line: str, hint: str) -> None:
    source = _pictures(tmp_path / "source")
    (source / "gt.tsv").write_text(line)
    with pytest.raises(DataError) as told:
        pack_folder(source, tmp_path / "out", FolderOptions())
    assert hint in told.value.hint


def test_a_link_out_of_the_source_is_called_one(tmp_path: Path) -> None:
    source = _pictures(tmp_path / "source")
    (source / "link.jpg").symlink_to(_pictures(tmp_path / "far") / "a.jpg")
    (source / "gt.tsv").write_text("a.jpg\tx\nlink.jpg\tx\n")
    report = pack_folder(source, tmp_path / "out", FolderOptions())
    assert report.skipped == [("link.jpg", "path outside the folder: a link that leads out of it")]


def test_the_form_of_a_long_file_is_told_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("".join(f"pictures/{number}.jpg\tword\n" for number in range(60_000)))
    assert path.stat().st_size > 1 << 20
    assert len(read_labels(open_labels(path))[0]) == 60_000


@pytest.mark.parametrize("name", ["../secret.jpg", "{root}/secret.jpg", "link/secret.jpg"])
def test_no_path_leads_out_of_the_source(tmp_path: Path, name: str) -> None:
    source = _pictures(tmp_path / "pictures")
    (tmp_path / "secret.jpg").write_bytes((source / "a.jpg").read_bytes())
    (source / "link").symlink_to(tmp_path)
    listed = json.dumps([name.format(root=tmp_path), "a.jpg"])
    (tmp_path / "labels.txt").write_text(f"{listed}\tgood\n")
    options = FolderOptions(labels=open_labels(tmp_path / "labels.txt"))
    report = pack_folder(source, tmp_path / "out", options)
    assert report.written == 1
    assert report.reasons() == {"path outside the folder": 1}


def test_paths_start_from_the_source_wherever_the_label_file_lies(tmp_path: Path) -> None:
    _pictures(tmp_path / "train_data" / "rec" / "train")
    labels = tmp_path / "train_data" / "rec" / "rec_gt_train.txt"
    labels.write_text("train_data/rec/train/a.jpg\tFerry\n")
    pack_folder(tmp_path, tmp_path / "out", FolderOptions(labels=open_labels(labels)))
    assert open_words(find_records(tmp_path / "out", "train")).text(0) == "ferry"


@pytest.mark.parametrize(
    ("source", "line"), [("train_data/rec", "rec/train/a.jpg"), ("train_data/rec", "a.jpg")]
)
def test_paths_that_start_elsewhere_are_told_from_where(
    tmp_path: Path, source: str, line: str
) -> None:
    _pictures(tmp_path / "train_data" / "rec" / "train")
    labels = tmp_path / source / "rec_gt_train.txt"
    labels.write_text(f"{line}\tFerry\n")
    with pytest.raises(DataError, match="not one word") as caught:
        pack_folder(tmp_path / source, tmp_path / "out", FolderOptions(labels=open_labels(labels)))
    root = tmp_path / "train_data" if "/" in line else tmp_path / "train_data" / "rec" / "train"
    assert f"the paths start from `{root}`" in caught.value.hint
    assert f"--labels {labels}" in caught.value.hint


def _read(folder: Path, content: str) -> list[tuple[str, str] | Problem]:
    (folder / "labels.txt").write_text(content)
    return read_labels(open_labels(folder / "labels.txt"))[0]


def _pictures(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(encode_jpeg(picture(1), 80))
    return folder


def test_advice_on_another_encoding_names_any_path(tmp_path: Path) -> None:
    folder = tmp_path / "{set} 1"
    folder.mkdir()
    (folder / "gt.tsv").write_bytes("a.jpg\t街".encode("gb18030"))
    with pytest.raises(DataError, match="is not UTF-8") as caught:
        read_list(folder / "gt.tsv")
    assert f"iconv -f GB18030 -t UTF-8 '{folder}/gt.tsv' > gt_utf8.tsv" in caught.value.hint

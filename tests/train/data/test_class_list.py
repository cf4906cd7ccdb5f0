"""Photographs whose classes a list tells, as competitions hand them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.photo_data import draw_photo
from trainferry.cli.main import main
from trainferry.errors import DataError
from trainferry.train.data.photos.class_list import read_class_list
from trainferry.train.data.photos.folder import PhotoFolderOptions, pack_photo_folder
from trainferry.train.data.photos.records import PhotoRecords, find_photo_records


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    root = tmp_path / "pictures"
    (root / "more").mkdir(parents=True)
    for number, name in enumerate(("1.jpg", "2.jpg", "10.JPG", "more/3.jpg")):
        (root / name).write_bytes(draw_photo(number % 2, 2, 24, number))
    return root


def listed(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "image,label\n1.jpg,dog\n10.JPG,cat\nmore/3.jpg,dog\n2.jpg,cat\n",
        "id,breed,age\r\n1,dog,3\r\n10,cat,\r\n\r\nmore/3,dog,1\r\n2,cat,1\r\n",
        "\ufeff1.jpg\tdog\n10.JPG\tcat\n./more/3.jpg\tdog\n2.jpg\tcat\n",
        '"1.jpg", "dog"\n"10.JPG", "cat"\n"more/../more/3.jpg", "dog"\n"2.jpg", "cat"\n',
    ],
    ids=["a header", "no endings", "tabs", "quoted"],
)
def test_lists_of_several_forms_say_the_same(tmp_path: Path, pictures: Path, text: str) -> None:
    tree = read_class_list(pictures, listed(tmp_path, text))
    assert list(tree.pictures.items()) == [
        ("cat", ["2.jpg", "10.JPG"]),
        ("dog", ["1.jpg", "more/3.jpg"]),
    ]
    assert tree.notes() == []


def test_classes_and_pictures_are_packed_as_from_folders(tmp_path: Path, pictures: Path) -> None:
    path = listed(tmp_path, 'name,class\n1.jpg,"été, fin"\n2.jpg,10\n10.JPG,9\nmore/3.jpg,10\n')
    options = PhotoFolderOptions(class_list=path)
    report = pack_photo_folder(pictures, tmp_path / "out", options)
    assert report.written == {"train": 4}
    records = PhotoRecords(find_photo_records(tmp_path / "out", "train"))
    found = {(sample.folder, sample.label) for sample in map(records.sample, range(4))}
    assert found == {("9", 1), ("10", 2), ("été, fin", 3)}


def test_pictures_that_are_not_there_are_told(tmp_path: Path, pictures: Path) -> None:
    path = listed(tmp_path, "none.jpg,a\n1.jpg,a\n../outside.jpg,b\n2.jpg,b\n")
    (tmp_path / "outside.jpg").write_bytes((pictures / "1.jpg").read_bytes())
    tree = read_class_list(pictures, path)
    assert tree.pictures == {"a": ["1.jpg"], "b": ["2.jpg"]}
    assert tree.notes() == [
        "left out 2 lines of `list.csv` whose picture is not there, such as `none.jpg`"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1.jpg,a\n1,b\n", r"gives `1` two classes: `a` and `b`"),
        ("1.jpg,a\n2.jpg\n", r"line 2 of .* has no class: '2\.jpg'"),
        ("1.jpg,a\n2.jpg, \n", r"line 2 of .* has no class"),
        (
            "x,y\nfar/1.jpg,a\n",
            r"no line of .* names a picture below .*; the first is `far/1\.jpg`",
        ),
        ("", r"no line of .* names a picture"),
        ('1.jpg,"a\n' + 20_000 * "2.jpg,b\n", r"is no list with commas or tabs: field larger"),
        ("1.jpg,北京\n".encode("gb18030"), r"line 1 of .* is not UTF-8"),
    ],
)
def test_what_a_list_cannot_say_is_an_error(
    tmp_path: Path, pictures: Path, text: str | bytes, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        read_class_list(pictures, listed(tmp_path, text))


def test_the_command_takes_a_list_of_words_or_of_classes(
    tmp_path: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(listed(tmp_path, "1.jpg,a\n2.jpg,b\n10.JPG,a\nmore/3.jpg,b\n"))
    command = ["data", "folder", str(pictures), "--to", str(tmp_path / "out")]
    assert main([*command, "--classes-from", path, "--labels", path]) == 2
    assert main([*command, "--classes-from", path, "--validation", "0.5"]) == 0
    assert "wrote 2 train and 2 validation photographs" in capsys.readouterr().out
    assert main([*command, "--classes-from", str(tmp_path / "none.csv")]) == 1
    assert "--classes-from takes a file with picture and class" in capsys.readouterr().err

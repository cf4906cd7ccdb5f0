"""FSNS records: real ones and our own, and what is wrong with others."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from trainferry.errors import DataError, PictureError, RecordError
from trainferry.train.data.example import build_example, parse_example
from trainferry.train.data.pictures import Picture, encode_jpeg, encode_png
from trainferry.train.data.signs.charset import NULL_NAME, Charset, fsns_charset, read_charset
from trainferry.train.data.signs.example import build_sign
from trainferry.train.data.signs.records import SignRecords, find_signs
from trainferry.train.data.signs.views import noise
from trainferry.train.data.tfrecord import write_records

CHARSET = fsns_charset()


def picture(views: int = 4, side: int = 150) -> Picture:
    return noise(side, views * side, np.random.default_rng(views))


def records(folder: Path, *examples: bytes) -> Path:
    path = folder / "train_1.tfrecords"
    write_records(path, examples)
    return path


def test_a_sign_comes_back_with_its_text_codes_and_views(tmp_path: Path) -> None:
    shown = picture()
    path = records(tmp_path, build_sign(encode_png(shown), "Rue de l'Aurore", CHARSET, 3))
    signs = SignRecords([path], CHARSET)
    sample = signs.sample(0)
    assert (sample.picture == shown).all()
    assert sample.text == signs.text(0) == "Rue de l\u2018Aurore"
    assert sample.present == 3
    assert sample.codes.shape == (37,)
    assert CHARSET.decode(sample.codes) == sample.text
    assert sample.name == "train_1.tfrecords:0"
    assert signs.width == 600


def test_all_features_of_fsns_are_written() -> None:
    example = parse_example(build_sign(encode_jpeg(picture(), 90), "Rue é", CHARSET, 2))
    assert example["image/format"] == [b"JPEG"]
    assert example["image/width"] == [600]
    assert example["image/orig_width"] == [300]
    assert example["image/height"] == [150]
    assert example["image/text"] == ["Rue é".encode()]
    assert example["image/unpadded_class"] == [49, 11, 5, 0, 3]
    assert example["image/class"] == [49, 11, 5, 0, 3, *[133] * 32]


def test_codes_are_made_from_the_text_where_there_are_none(tmp_path: Path) -> None:
    example = build_example({"image/encoded": encode_png(picture()), "image/text": "Rue"})
    sample = SignRecords([records(tmp_path, example)], CHARSET).sample(0)
    assert sample.codes[:4].tolist() == [49, 11, 5, 133]
    assert sample.present == 4


def test_the_text_is_read_from_the_codes_where_there_is_none(tmp_path: Path) -> None:
    example = build_example(
        {"image/encoded": encode_png(picture()), "image/class": CHARSET.padded("Rue")}
    )
    assert SignRecords([records(tmp_path, example)], CHARSET).text(0) == "Rue"


def test_five_views_are_refused_with_both_sizes(tmp_path: Path) -> None:
    path = records(tmp_path, build_sign(encode_png(picture(5)), "Rue", CHARSET, 4))
    with pytest.raises(RecordError, match=r"750 x 150, 5 views; 4 views .* are 600 x 150"):
        SignRecords([path], CHARSET)
    assert SignRecords([path], CHARSET, views=5).sample(0).picture.shape == (150, 750, 3)


def test_records_of_another_charset_are_refused(tmp_path: Path) -> None:
    path = records(tmp_path, build_sign(encode_png(picture()), "Rue", CHARSET, 4))
    letters = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    other = Charset((*enumerate(letters), (len(letters), NULL_NAME)))
    with pytest.raises(RecordError, match="do not say what its texts say"):
        SignRecords([path], other)


def test_records_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = records(tmp_path, build_example({"images": b"", "labels": 1}))
    with pytest.raises(RecordError, match=r"does not hold signs.*`images`, `labels`"):
        SignRecords([path], CHARSET)


def test_a_batch_leaves_out_what_cannot_be_read(tmp_path: Path) -> None:
    shown = encode_png(picture())
    good = build_sign(shown, "Rue", CHARSET, 4)
    path = records(
        tmp_path,
        good,
        build_sign(shown[:2000], "Place", CHARSET, 4),
        build_sign(encode_png(picture(5)), "Quai", CHARSET, 4),
        build_example({"image/encoded": shown, "image/class": [999], "image/text": "x"}),
        build_example({"image/encoded": shown, "image/class": [1] * 38}),
        build_example({"image/encoded": shown, "image/text": b"\xff"}),
        build_example({"image/encoded": shown, "image/text": "ž"}),
        build_example({"image/encoded": shown}),
        build_sign(shown, "Cours", CHARSET, 4),
    )
    signs = SignRecords([path], CHARSET)
    pictures = np.full((9, 150, 600, 3), 7, np.uint8)
    codes = np.full((9, 37), 5, np.int64)
    texts = signs.fill(pictures, codes, range(9))
    assert texts == ["Rue", *[None] * 7, "Cours"]
    assert (pictures[0] == signs.sample(0).picture).all()
    assert (pictures[1:8] == 7).all()
    assert (codes[1:8] == 5).all()
    assert CHARSET.decode(codes[8]) == "Cours"
    with pytest.raises(PictureError):
        signs.sample(1)
    for number in range(2, 8):
        with pytest.raises(RecordError) as caught:
            signs.sample(number)
        assert caught.value.hint


def test_signs_go_to_other_processes(tmp_path: Path) -> None:
    path = records(tmp_path, build_sign(encode_png(picture()), "Rue", CHARSET, 4))
    again = pickle.loads(pickle.dumps(SignRecords([path], CHARSET, length=20)))
    assert again.sample(0).codes.shape == (20,)


def test_files_are_found_in_our_layout_and_in_that_of_fsns(tmp_path: Path) -> None:
    ours = tmp_path / "ours" / "tfrecords" / "train_1.tfrecords"
    theirs = tmp_path / "theirs" / "validation" / "validation-00003-of-00064"
    flat = tmp_path / "flat" / "test-00000-of-00001"
    for path in (ours, theirs, flat):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        path.with_name(path.name + ".index").write_bytes(b"")
    assert find_signs(tmp_path / "ours", "train") == [ours]
    assert find_signs(tmp_path / "theirs", "val") == [theirs]
    assert find_signs(tmp_path / "flat", "test") == [flat]
    with pytest.raises(DataError):
        find_signs(tmp_path / "flat", "train")


def test_the_real_records_decode_to_their_texts(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "fsns_testdata"
    path = Path(shutil.copy(folder / "fsns-00000-of-00001", tmp_path))
    path.chmod(0o644)
    charset = read_charset(folder)
    signs = SignRecords([path], charset)
    assert [signs.text(number) for number in range(len(signs))] == [
        "Rue Perreyon",
        "Rue de la Taillée",
        "Impasse des Colverts",
        "Avenue de Saunier",
        "Rue des Fabriques",
    ]
    for number in range(len(signs)):
        sample = signs.sample(number)
        assert charset.decode(sample.codes) == sample.text
        assert sample.picture.shape == (150, 600, 3)
        assert sample.present == 4


@pytest.mark.parametrize(
    ("shape", "hint"),
    [
        ((150, 750), "picture.views=5, picture.height=150 and picture.width=150"),
        ((100, 600), "picture.views=6, picture.height=100 and picture.width=100"),
        ((100, 650), "as many views of that size, or make"),
    ],
)
def test_the_views_that_a_picture_may_have_are_told(
    tmp_path: Path, shape: tuple[int, int], hint: str
) -> None:
    encoded = encode_png(np.zeros((*shape, 3), np.uint8))
    write_records(tmp_path / "train_1.tfrecords", [build_sign(encoded, "Rue", fsns_charset(), 1)])
    with pytest.raises(RecordError) as caught:
        SignRecords([tmp_path / "train_1.tfrecords"], fsns_charset())
    assert hint in caught.value.hint
    assert (", 5 views;" in str(caught.value)) == (shape == (150, 750))
    assert ", 4 views;" not in str(caught.value)

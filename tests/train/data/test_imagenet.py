"""The folders of ImageNet, in all their usual shapes, into records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.train.data.samples import picture, saved
from trainferry.errors import DataError, UsageError
from trainferry.train.data.example import parse_example
from trainferry.train.data.photos.imagenet import ImagenetOptions, pack_imagenet
from trainferry.train.data.photos.imagenet_classes import read_class_file
from trainferry.train.data.photos.records import PhotoRecords, find_photo_records, read_classes
from trainferry.train.data.photos.report import PhotoReport
from trainferry.train.data.pictures import decode_picture, encode_jpeg

WNIDS = ("n01440764", "n01443537", "n02105855")
NAMES = "n01440764 tench, Tinca tinca\nn02105855 Shetland sheepdog\nn01443537 goldfish\n"


def make_tree(root: Path, each: int = 3) -> Path:
    for place, wnid in enumerate(WNIDS):
        (root / "train" / wnid).mkdir(parents=True)
        (root / "val" / wnid).mkdir(parents=True)
        for number in range(each):
            data = encode_jpeg(picture(10 * place + number, 40, 50), 90)
            (root / "train" / wnid / f"{wnid}_{number}.JPEG").write_bytes(data)
        (root / "val" / wnid / f"val_{place}.JPEG").write_bytes(encode_jpeg(picture(place), 90))
    return root


def flatten_validation(source: Path) -> Path:
    for path in sorted((source / "val").glob("*/*.JPEG")):
        path.rename(source / "val" / path.name)
        path.parent.rmdir()
    return source


def pack(source: Path, to: Path, **options: object) -> PhotoReport:
    return pack_imagenet(source, to, ImagenetOptions(**options))  # type: ignore[arg-type]  # by name


def open_split(folder: Path, split: str) -> PhotoRecords:
    return PhotoRecords(find_photo_records(folder, split))


def labels_by_name(folder: Path, split: str) -> dict[str, int]:
    records = open_split(folder, split)
    samples = [records.sample(number) for number in range(len(records))]
    return {sample.name: sample.label for sample in samples}


def test_every_picture_comes_back_with_its_label_and_name(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    (tmp_path / "names.txt").write_text(NAMES)
    report = pack(source, tmp_path / "out", classes=tmp_path / "names.txt")
    assert report.written == {"train": 9, "validation": 3}
    assert "labels 1 to 3: the sorted wnids of names.txt" in report.summary()
    records = open_split(tmp_path / "out", "train")
    assert read_classes(tmp_path / "out", records) == (
        "tench, Tinca tinca",
        "goldfish",
        "Shetland sheepdog",
    )
    samples = [records.sample(number) for number in range(9)]
    for sample in samples:
        wnid = WNIDS[sample.label - 1]
        assert sample.folder == wnid
        assert sample.encoded == (source / "train" / wnid / sample.name).read_bytes()
    assert len({sample.name for sample in samples}) == 9
    assert [sample.name for sample in samples] != sorted(sample.name for sample in samples)


def test_records_have_the_features_of_the_originals(tmp_path: Path) -> None:
    pack(make_tree(tmp_path / "source"), tmp_path / "out", shards_train=2, shards_validation=1)
    assert [path.name for path in find_photo_records(tmp_path / "out", "train")] == [
        "train-00000-of-00002",
        "train-00001-of-00002",
    ]
    (path,) = find_photo_records(tmp_path / "out", "validation")
    assert path.name == "validation-00000-of-00001"
    example = parse_example(PhotoRecords([path]).records[0])
    label = example["image/class/label"][0]
    assert isinstance(label, int)
    assert set(example) == {
        *("image/height", "image/width", "image/colorspace", "image/channels", "image/format"),
        *("image/class/label", "image/class/synset", "image/class/text", "image/filename"),
        *(f"image/object/bbox/{side}" for side in ("xmin", "xmax", "ymin", "ymax", "label")),
        "image/encoded",
    }
    assert example["image/class/synset"] == [WNIDS[label - 1].encode()]
    assert (example["image/height"], example["image/width"]) == ([32], [80])
    assert (example["image/colorspace"], example["image/channels"]) == ([b"RGB"], [3])
    assert example["image/format"] == [b"JPEG"]
    assert example["image/object/bbox/xmin"] == []


def test_odd_pictures_are_written_again_and_bad_ones_listed(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    place, image = source / "train" / WNIDS[0], Image.fromarray(picture())
    (place / "cmyk.JPEG").write_bytes(saved(image.convert("CMYK"), "JPEG", quality=95))
    (place / "png.JPEG").write_bytes(saved(image, "PNG"))
    (place / "grey.JPEG").write_bytes(saved(image.convert("L"), "JPEG"))
    (place / "torn.JPEG").write_bytes(encode_jpeg(picture(), 90)[:300])
    (place / "empty.JPEG").write_bytes(b"")
    report = pack(source, tmp_path / "out", shards_train=1)

    assert report.written["train"] == 12
    shown = report.summary()
    assert "written again as RGB JPEG: 1 CMYK JPEG, 1 PNG" in shown
    assert "skipped 2; all are listed in *.skipped.tsv" in shown
    listed = (tmp_path / "out" / "train-00000-of-00001.skipped.tsv").read_text()
    assert f"{WNIDS[0]}/torn.JPEG\tunreadable picture" in listed
    assert f"{WNIDS[0]}/empty.JPEG\tunreadable picture" in listed
    again = (tmp_path / "out" / "train-00000-of-00001.rewritten.tsv").read_text()
    assert set(again.splitlines()) == {
        f"{WNIDS[0]}/cmyk.JPEG\tCMYK JPEG",
        f"{WNIDS[0]}/png.JPEG\tPNG",
    }
    records = open_split(tmp_path / "out", "train")
    samples = {one.name: one for one in map(records.sample, range(len(records)))}
    assert samples["grey.JPEG"].encoded == (place / "grey.JPEG").read_bytes()
    for name in ("cmyk.JPEG", "png.JPEG"):
        encoded = samples[name].encoded
        with Image.open(place / name) as before:
            wanted = np.asarray(before.convert("RGB"), np.int16)
        assert bytes(encoded[:2]) == b"\xff\xd8"
        assert np.abs(decode_picture(encoded) - wanted).max() < 6

    kept = pack(source, tmp_path / "out", shards_train=1)
    assert (kept.kept_files, kept.skipped, kept.rewritten) == (2, report.skipped, report.rewritten)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    pack(source, tmp_path / "out", shards_train=3)
    first, second, _ = find_photo_records(tmp_path / "out", "train")
    before, kept = first.read_bytes(), second.stat().st_mtime_ns
    first.unlink()
    report = pack(source, tmp_path / "out", shards_train=3)
    assert report.kept_files == 3
    assert first.read_bytes() == before
    assert second.stat().st_mtime_ns == kept


def test_a_split_begun_with_other_options_is_refused(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    pack(source, tmp_path / "out", shards_train=3)
    with pytest.raises(DataError, match="already holds `train` records of other data or options"):
        pack(source, tmp_path / "out", shards_train=2)
    (source / "train" / WNIDS[0] / "new.JPEG").write_bytes(encode_jpeg(picture(), 90))
    with pytest.raises(DataError, match="already holds `train`"):
        pack(source, tmp_path / "out", shards_train=3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("imagenet_2012_validation_synset_labels.txt", "n01440764\nn01443537\nn02105855\n"),
        ("val.txt", "val_2.JPEG 2\nval_0.JPEG 0\nval_1.JPEG 1\n"),
        ("val.txt", "val_2.JPEG n02105855\nval_0.JPEG n01440764\nval_1.JPEG n01443537\n"),
        (
            "LOC_val_solution.csv",
            "ImageId,PredictionString\nval_2,n02105855 1 2 3 4 \nval_0,n01440764 1 2 3 4 \n"
            "val_1,n01443537 1 2 3 4 n01443537 5 6 7 8 \n",
        ),
        (
            "labels.tsv",
            "val_2.JPEG\tn02105855\nval_0.JPEG\tn01440764\nval_1.JPEG\tn01443537\tgoldfish\n",
        ),
    ],
)
def test_flat_validation_pictures_find_their_list(tmp_path: Path, name: str, text: str) -> None:
    source = flatten_validation(make_tree(tmp_path / "source"))
    (source / "val" / name).write_text(text)
    pack(source, tmp_path / "out")
    wanted = {f"val_{number}.JPEG": number + 1 for number in range(3)}
    assert labels_by_name(tmp_path / "out", "val") == wanted


def test_numbers_of_the_devkit_are_no_labels(tmp_path: Path) -> None:
    source = flatten_validation(make_tree(tmp_path / "source"))
    truth = source / "ILSVRC2012_validation_ground_truth.txt"
    truth.write_text("2\n3\n1\n")
    with pytest.raises(DataError, match="numbers of the devkit"):
        pack(source, tmp_path / "out")
    devkit = "n02105855 1 Shetland_sheepdog\nn01440764 2 tench\nn01443537 3 goldfish\n"
    (source / "map_clsloc.txt").write_text(devkit)
    pack(source, tmp_path / "out")
    wanted = {f"val_{number}.JPEG": number + 1 for number in range(3)}
    assert labels_by_name(tmp_path / "out", "val") == wanted


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("n01440764\n", "1 lines for 3 pictures"),
        ("val_0 1\nval_1 2\nval_2 3\n", "says no class in 'val_0 1'"),
        ("val_0.JPEG 1\nval_1.JPEG 7\n", "counts up to 7, but only 3 classes"),
        ("other_0.JPEG n01440764\n", "names none of the pictures"),
        ("n01440764\nn01443537\nn09999999\n", "not in the training set: n09999999"),
    ],
)
def test_a_list_that_does_not_fit_is_told(tmp_path: Path, text: str, error: str) -> None:
    source = flatten_validation(make_tree(tmp_path / "source"))
    (tmp_path / "list.txt").write_text(text)
    with pytest.raises(DataError, match=error):
        pack(source, tmp_path / "out", validation_labels=tmp_path / "list.txt")


def test_flat_validation_pictures_without_a_list_are_told(tmp_path: Path) -> None:
    source = flatten_validation(make_tree(tmp_path / "source"))
    with pytest.raises(DataError, match="no list of their classes"):
        pack(source, tmp_path / "out")


def make_flat(folder: Path, lines: str) -> Path:
    (folder / "images").mkdir(parents=True)
    for number in range(3):
        (folder / "images" / f"{number}.JPEG").write_bytes(encode_jpeg(picture(number), 90))
    (folder / "labels.tsv").write_text(lines)
    return folder


def test_a_list_of_some_classes_keeps_their_usual_labels(tmp_path: Path) -> None:
    header = "file\twnid\tclass_name\tilsvrc_index\n"
    lines = "0.JPEG\tn01440764\ttench\t0\n1.JPEG\tn01496331\telectric ray\t5\n"
    report = pack(make_flat(tmp_path / "source", header + lines), tmp_path / "out")
    assert labels_by_name(tmp_path / "out", "train") == {"0.JPEG": 1, "1.JPEG": 6}
    records = open_split(tmp_path / "out", "train")
    names = read_classes(tmp_path / "out", records)
    assert names == ("tench", "class 2", "class 3", "class 4", "class 5", "electric ray")
    assert "left out 1 picture that labels.tsv does not name" in report.summary()


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("../secret.JPEG\tn01440764\ttench\t0\n", "lies outside"),
        ("0.JPEG\tdog\tdog\t0\n", "is not file, wnid"),
        ("0.JPEG\tn01440764\ta\t0\n1.JPEG\tn01440764\ta\t1\n", "two indices"),
        ("0.JPEG\tn01440764\ta\t0\n1.JPEG\tn01440765\tb\t0\n", "one index to two classes"),
    ],
)
def test_a_wrong_line_is_told(tmp_path: Path, lines: str, error: str) -> None:
    with pytest.raises(DataError, match=error):
        pack(make_flat(tmp_path / "source", lines), tmp_path / "out")


def test_an_index_that_contradicts_the_classes_is_told(tmp_path: Path) -> None:
    source = make_flat(tmp_path / "source", "0.JPEG\tn01443537\tgoldfish\t0\n")
    (tmp_path / "names.txt").write_text(NAMES)
    with pytest.raises(DataError, match="number 1 of the sorted wnids"):
        pack(source, tmp_path / "out", classes=tmp_path / "names.txt")


def test_boxes_come_from_xml_files_or_their_csv(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    name = f"{WNIDS[1]}_0"
    boxes = tmp_path / "boxes" / WNIDS[1]
    boxes.mkdir(parents=True)
    thing = "<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>10</ymin><xmax>25</xmax>"
    thing += "<ymax>40</ymax></bndbox></object>"
    (boxes / f"{name}.xml").write_text(
        "<annotation><size><width>50</width><height>40</height></size>"
        + thing.format(WNIDS[1], 5)
        + thing.format(WNIDS[0], 0)
        + "</annotation>"
    )
    (tmp_path / "boxes.csv").write_text(f"{name}.JPEG,0.1,0.25,0.5,1.0\n")
    for number, place in enumerate((tmp_path / "boxes", tmp_path / "boxes.csv")):
        out = tmp_path / f"out{number}"
        assert "1 box in" in pack(source, out, boxes=place).summary()
        records = open_split(out, "train")
        found = {one.name: one.boxes for one in map(records.sample, range(len(records)))}
        assert np.allclose(found[f"{name}.JPEG"], [(0.25, 0.1, 1.0, 0.5)])
        assert sum(map(len, found.values())) == 1


@pytest.mark.parametrize("text", ["<annotation/>", "no xml", "<a><size><width>x"])
def test_an_xml_file_without_boxes_is_told(tmp_path: Path, text: str) -> None:
    source = make_tree(tmp_path / "source")
    boxes = tmp_path / "boxes"
    boxes.mkdir()
    (boxes / f"{WNIDS[1]}_0.xml").write_text(text)
    with pytest.raises(DataError, match="holds no boxes"):
        pack(source, tmp_path / "out", boxes=boxes)
    (tmp_path / "boxes.csv").write_text("file,1,2\n")
    with pytest.raises(DataError, match=r"line 1 of .* is no box"):
        pack(source, tmp_path / "out", boxes=tmp_path / "boxes.csv")


def test_class_files_of_every_kind_are_read(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("n02119789 1 kit_fox\nn02100735 2 English_setter\n")
    devkit = read_class_file(path)
    assert devkit.names == {"n02119789": "kit fox", "n02100735": "English setter"}
    assert devkit.numbers == {1: "n02119789", 2: "n02100735"}
    path.write_text("n00004475\torganism, being\n")
    assert read_class_file(path).names == {"n00004475": "organism, being"}
    path.write_text("n01440764\nn01443537\n")
    assert read_class_file(path).names == {"n01440764": "n01440764", "n01443537": "n01443537"}
    path.write_text("n01440764 a\nn01440764 b\n")
    with pytest.raises(DataError, match="twice"):
        read_class_file(path)
    with pytest.raises(DataError, match="cannot read"):
        read_class_file(tmp_path / "gone")


def test_wnids_that_the_classes_lack_are_told(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    (tmp_path / "names.txt").write_text("n01440764 tench\n")
    with pytest.raises(DataError, match="2 wnids are not in the file of classes: n01443537"):
        pack(source, tmp_path / "out", classes=tmp_path / "names.txt")


def test_folders_without_wnids_are_for_another_command(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    (source / "train" / WNIDS[0]).rename(source / "train" / "fish")
    with pytest.raises(DataError, match="not named by a wnid") as caught:
        pack(source, tmp_path / "out")
    assert "data folder" in caught.value.hint


def test_a_folder_of_another_shape_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither `train` nor `val` folders"):
        pack(tmp_path, tmp_path / "out")


def test_more_shards_than_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--shards-train 50, but there are 9 pictures"):
        pack(make_tree(tmp_path / "source"), tmp_path / "out", shards_train=50)


def test_nothing_readable_leaves_no_record_file(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    for path in (source / "train").glob("*/*"):
        path.write_bytes(b"no picture")
    with pytest.raises(DataError, match="not one `train` picture"):
        pack(source, tmp_path / "out")
    assert not list((tmp_path / "out").glob("train-*-of-*[0-9]"))


def test_two_processes_write_what_one_does(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "source")
    for processes in (1, 2):
        pack(source, tmp_path / f"out{processes}", shards_train=2, processes=processes)
    for path in find_photo_records(tmp_path / "out1", ""):
        assert path.read_bytes() == (tmp_path / "out2" / path.name).read_bytes()


def test_real_samples_come_back_whole(shared: Path, tmp_path: Path) -> None:
    source = shared / "data" / "imagenet_samples"
    report = pack(source, tmp_path / "out")
    assert report.written == {"train": 400}
    assert not report.skipped
    rows = [line.split("\t") for line in (source / "labels.tsv").read_text().splitlines()[1:]]
    records = open_split(tmp_path / "out", "train")
    found = {one.name: one for one in map(records.sample, range(len(records)))}
    names = json.loads((tmp_path / "out" / "classes.json").read_text())["classes"]
    for file, wnid, name, index in rows:
        sample = found.pop(file)
        assert (sample.label, sample.folder, sample.text) == (int(index) + 1, wnid, name)
        assert names[int(index)] == {"name": name, "folder": wnid}
        assert sample.encoded == (source / "images" / file).read_bytes()
    assert not found

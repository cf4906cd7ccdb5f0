"""Photographs that travel as JPEGs become what readers would have made of them.

The decoder of a GPU is tried on a GPU; here the readers' own stands in its place.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.train.photo_data import draw_photo, make_photo_data
from trainferry.devices.device import find_accelerators
from trainferry.devices.jpeg import check_decoder, decode_jpegs
from trainferry.errors import DataError, DeviceError, PictureError, RecipeError
from trainferry.train import build, photos
from trainferry.train.build import build_run
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Unpack, training_batches
from trainferry.train.data.example import build_example, parse_example
from trainferry.train.data.photos.encoded import unpack
from trainferry.train.data.photos.source import PhotoSource
from trainferry.train.data.pictures import decode_picture
from trainferry.train.data.tfrecord import RecordFile, write_records
from trainferry.train.photos import complete, training_source
from trainferry.train.recipe.read import read_recipe
from trainferry.train.step import train_step

CPU = torch.device("cpu")
SETS = ("picture.height=24", "picture.width=20", "picture.evaluation_size=28")
NAMES = ('task.classes=["one", "two"]',)
ALL = np.arange(12)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photo_data(tmp_path_factory.mktemp("photos"), classes=3, train=12, val=3)


@pytest.mark.parametrize("filter", ["legacy", "antialias"])
def test_packed_batches_become_those_of_readers(data: Path, filter: str) -> None:
    source = read_training(data, f"picture.filter={filter}")
    expected = source.training_batch(ALL, ALL + 50, seed=3)
    packed = replace(source, packed=True).training_batch(ALL, ALL + 50, seed=3)
    assert packed.images.ndim == 1
    assert packed.images.nbytes < expected.images.nbytes * 4
    assert_alike(unpacker(source)(packed), expected)


def test_pictures_of_other_kinds_travel_as_their_pixels(data: Path, tmp_path: Path) -> None:
    kinds = {1: encoded("PNG"), 4: encoded("JPEG", "CMYK"), 6: encoded("JPEG", "L")}
    source = read_training(change(data, tmp_path, kinds))
    expected = source.training_batch(ALL, ALL, seed=0)
    packed = replace(source, packed=True).training_batch(ALL, ALL, seed=0)
    assert packed.cuts is not None
    assert [row for row in range(12) if not packed.cuts[row, 2]] == [1, 4]
    made = unpacker(source)(packed)
    assert_alike(made, expected)
    assert torch.equal(made.images[[1, 4]], expected.images[[1, 4]])


def test_what_no_device_decodes_is_counted_and_another_takes_its_place(
    data: Path, tmp_path: Path
) -> None:
    source = read_training(change(data, tmp_path, {2: broken(), 3: broken(), 5: b"no picture"}))
    packed = replace(source, packed=True).training_batch(ALL, ALL, seed=0)
    assert int(packed.skipped) == 1  # the reader saw that this is no JPEG
    made = unpacker(source)(packed)
    assert int(made.skipped) == 3
    assert made.positions.tolist() == [0, 1, 0, 1, 4, 6, *range(6, 12)]
    assert torch.equal(made.images[[2, 3]], made.images[[0, 1]])
    assert torch.equal(made.labels[[2, 3]], made.labels[[0, 1]])


def test_what_the_device_alone_refuses_is_decoded_as_readers_do(data: Path, tmp_path: Path) -> None:
    grey = encoded("JPEG", "L")
    source = read_training(change(data, tmp_path, {1: grey, 7: broken(), 8: grey}))
    expected = source.training_batch(ALL, ALL, seed=0)
    packed = replace(source, packed=True).training_batch(ALL, ALL, seed=0)

    def decode_colours(encoded: Sequence[Tensor]) -> list[Tensor]:
        if any(one.numpy().tobytes() == grey for one in encoded):
            raise PictureError("grey is refused", hint="")
        return decode(encoded)

    made = unpack(packed, source.picture, CPU, decode_colours)
    assert int(made.skipped) == 1
    good = [row for row in range(12) if row != 7]
    assert int((made.images[good].int() - expected.images[good].int()).abs().max()) <= 1


def test_a_batch_without_any_picture_is_an_error(data: Path, tmp_path: Path) -> None:
    source = read_training(change(data, tmp_path, dict.fromkeys(range(12), broken())))
    packed = replace(source, packed=True).training_batch(ALL[:3], ALL[:3], seed=0)
    with pytest.raises(DataError, match="none of the 3 pictures of a batch can be decoded"):
        unpacker(source)(packed)


@pytest.mark.parametrize("workers", [0, 2])
def test_training_batches_are_unpacked_on_their_way(data: Path, workers: int) -> None:
    source = read_training(data)

    def read(source: PhotoSource, unpack: Unpack | None) -> list[Batch]:
        batches = training_batches(
            source, batch=5, seed=1, start=2, workers=workers, pinned=False, unpack=unpack
        )
        return list(islice(batches, 4))

    plain = read(source, None)
    packed = read(replace(source, packed=True), unpacker(source))
    for made, expected in zip(packed, plain, strict=True):
        assert_alike(made, expected)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_trains_alike_whoever_decodes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(build, "check_decoder", lambda _: None)
    monkeypatch.setattr(photos, "decode_jpegs", lambda encoded, **_: decode(encoded))

    def train(jpeg: str) -> list[float]:
        sets = (f"data.jpeg={jpeg}", f"data.workers={workers}", "loop.batch=4")
        small = ("network.size=18", "network.width=4", "picture.height=64", "picture.width=64")
        recipe = read_recipe("resnet50", [*sets, *small, "picture.evaluation_size=64"])
        run = build_run(recipe, data, tmp_path / jpeg, CPU, say=lambda _: None)
        run.network.train()
        batches = islice(run.training_batches(), 4)
        return [float(train_step(run, batch).loss) for batch in batches]

    assert train("device") == pytest.approx(train("readers"), rel=2e-3)


def test_a_device_without_a_decoder_is_told_before_anything_is_read(tmp_path: Path) -> None:
    recipe = read_recipe("resnet50", ["data.jpeg=device", "task.classes_from=recipe", *NAMES])
    with pytest.raises(DeviceError, match="`cpu` has no decoder for JPEGs") as caught:
        build_run(recipe, tmp_path, tmp_path / "run", CPU, say=lambda _: None)
    assert "data.jpeg" in caught.value.hint


@pytest.mark.parametrize(
    ("recipe", "sets", "said"),
    [
        ("crnn", (), "data.jpeg `device` is for photographs"),
        ("resnet50", ("picture.values=floats",), "picture.values must be `bytes`"),
    ],
)
def test_recipes_that_leave_nothing_to_decode_are_refused(
    recipe: str, sets: Sequence[str], said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        read_recipe(recipe, ["data.jpeg=device", *sets])


@pytest.mark.cuda
def test_a_gpu_decodes_and_cuts_as_readers_do(data: Path) -> None:
    device = gpu()
    source = read_training(data)
    expected = source.training_batch(ALL, ALL, seed=3)
    packed = replace(source, packed=True).training_batch(ALL, ALL, seed=3)
    decode = partial(decode_jpegs, device=device)
    made = unpack(packed, source.picture, device, decode)
    apart = (made.images.cpu().int() - expected.images.int()).abs().float()
    # Decoders may round a block and spread its colours in their own ways: libjpeg without
    # interpolation, which a device may leave out, is 3.3 levels off on these pictures.
    assert float(apart.mean()) < 5
    assert torch.equal(made.labels, expected.labels)


def gpu() -> torch.device:
    found = [device for device in find_accelerators() if device.type == "cuda"]
    if not found:
        pytest.skip("needs an NVIDIA GPU")
    pytest.importorskip("torchvision", reason="needs torchvision, which decodes JPEGs on a GPU")
    check_decoder(found[0])
    return found[0]


def read_training(data: Path, *sets: str) -> PhotoSource:
    recipe = complete(read_recipe("resnet50", [*SETS, *sets]), data)
    return training_source(recipe, data, 0, lambda _: None)


def unpacker(source: PhotoSource) -> Unpack:
    return partial(unpack, picture=source.picture, device=CPU, decode=decode)


def decode(encoded: Sequence[Tensor]) -> list[Tensor]:
    """Decode all or none, as a device does."""
    pictures = [decode_picture(one.numpy().tobytes()) for one in encoded]
    return [torch.from_numpy(one.copy()).permute(2, 0, 1).contiguous() for one in pictures]


def assert_alike(made: Batch, expected: Batch) -> None:
    """Readers and devices round at other places: a level may lie between them."""
    assert made.cuts is None
    assert made.images.shape == expected.images.shape
    assert int((made.images.int() - expected.images.int()).abs().max()) <= 1
    for name in ("labels", "lengths", "valid", "positions", "skipped"):
        assert torch.equal(getattr(made, name), getattr(expected, name))


def change(data: Path, folder: Path, pictures: dict[int, bytes]) -> Path:
    """Copy the training records with other pictures in some."""
    records = [
        bytes(file[number])
        for file in map(RecordFile, sorted(data.glob("train-*-of-*[0-9]")))
        for number in range(len(file))
    ]
    for number, picture in pictures.items():
        features = parse_example(records[number])
        features["image/encoded"] = [picture]
        records[number] = build_example(features)
    write_records(folder / "train-00000-of-00001", records)
    return folder


def encoded(kind: str, mode: str = "RGB") -> bytes:
    image = Image.open(io.BytesIO(draw_photo(1, 3))).convert(mode)
    target = io.BytesIO()
    image.save(target, kind)
    return target.getvalue()


def broken() -> bytes:
    """A JPEG whose header and end are as they should be, with nothing that can be read between."""
    whole = encoded("JPEG")
    scan = whole.index(b"\xff\xda") + 14
    data = whole[:scan] + b"\xff\xc4\x00\x03" + whole[-2:]
    with pytest.raises(PictureError):
        decode_picture(data)
    return data

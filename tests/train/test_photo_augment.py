"""Variation of photographs: what Pillow does, in the strength asked for, alike on every device."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor

from trainferry.train.data.normalise import normalised, planes_of
from trainferry.train.data.photos.augment import STRONGEST, Mixture, draw_mixture, vary_photos
from trainferry.train.data.photos.operations import CHANGES, MOVES, Change, move_pictures
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

MEAN = PhotoPicture().mean
EVERYTHING = PhotoAugment(operations=2, magnitude=20.0, erasing=0.5)
MOVE = {move.__name__: move for move in MOVES}
CHANGE = {change.__name__: change for change in CHANGES}
EVERY = (*MOVE, *CHANGE)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def photos() -> Tensor:
    """Pictures with soft shapes, edges and all values: B 3 H W, whole numbers."""
    dice = np.random.default_rng(3)
    rough = torch.from_numpy(dice.integers(0, 256, (20, 3, 6, 8)).astype(np.float32))
    smooth = torch.nn.functional.interpolate(rough, (36, 48), mode="bicubic")
    smooth[:, :, 10:20, 5:9] = rough[:, :, :1, :1]
    return smooth.round().clamp(0, 255)


def varied(images: Tensor, recipe: PhotoAugment, seed: int = 1) -> Tensor:
    torch.manual_seed(seed)
    return vary_photos(images, recipe, MEAN)


def operated(name: str, images: Tensor, strength: float, device: torch.device = CPU) -> Tensor:
    strengths, fill = torch.full((len(images),), strength), torch.tensor(MEAN).view(3, 1, 1)
    if name in MOVE:
        maps = MOVE[name](strengths)
        return move_pictures(*(each.to(device) for each in (images, maps, fill)))
    return CHANGE[name](images.to(device), strengths.view(-1, 1, 1, 1).to(device))


def by_pillow(name: str, picture: Image.Image, strength: float) -> Image.Image:
    enhancers = {
        "brightness": ImageEnhance.Brightness,
        "colour": ImageEnhance.Color,
        "contrast": ImageEnhance.Contrast,
        "sharpness": ImageEnhance.Sharpness,
    }
    if name in enhancers:
        return enhancers[name](picture).enhance(1 + 0.9 * strength)
    if name == "posterize":
        return ImageOps.posterize(picture, 8 - round(4 * abs(strength)))
    if name == "solarize":
        return ImageOps.solarize(picture, 255 * (1 - abs(strength)))  # type: ignore[arg-type]  # compares, so any number will do
    return ImageOps.equalize(picture) if name == "equalize" else ImageOps.autocontrast(picture)


@pytest.mark.parametrize("strength", [-1.0, -0.4, 0.3, 1.0])
@pytest.mark.parametrize("name", [name for name in CHANGE if name != "identity"])
def test_operations_do_to_bytes_what_pillow_does(
    name: str, strength: float, photos: Tensor
) -> None:
    ours = operated(name, photos, strength)
    for picture, changed in zip(photos, ours, strict=True):
        bytes_of = Image.fromarray(picture.permute(1, 2, 0).byte().numpy())
        expected = np.asarray(by_pillow(name, bytes_of, strength), np.float32)
        # Pillow rounds what it computes to whole numbers, some of it twice.
        assert np.abs(changed.permute(1, 2, 0).numpy() - expected).max() <= 2


@pytest.mark.parametrize("name", EVERY)
def test_every_operation_keeps_shape_and_range(name: str, photos: Tensor) -> None:
    for strength in (-1.0, 0.0, 0.5, 1.0):
        result = operated(name, photos, strength)
        assert result.shape == photos.shape
        assert result.dtype == torch.float32
        assert result.min() >= 0
        assert result.max() <= 255


@pytest.mark.parametrize("name", [n for n in EVERY if n not in ("autocontrast", "equalize")])
def test_without_strength_nothing_changes(name: str, photos: Tensor) -> None:
    result = operated(name, photos, 0.0)
    if name == "solarize":  # the limit is 255 itself
        result = torch.where(photos == 255, photos, result)
    torch.testing.assert_close(result, photos, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", ["autocontrast", "equalize", "contrast"])
def test_a_picture_of_one_colour_survives(name: str) -> None:
    plain = torch.full((2, 3, 8, 8), 77.0)
    torch.testing.assert_close(operated(name, plain, 1.0), plain)


def test_a_turned_picture_keeps_its_middle_and_shows_the_fill_in_its_corners() -> None:
    white = torch.full((1, 3, 41, 41), 255.0)
    white[:, :, 20, 20] = 0
    turned = operated("rotate", white, 1.0)
    assert float(turned[0, 0, 20, 20]) == pytest.approx(0, abs=1e-2)
    torch.testing.assert_close(turned[0, :, 0, 0], torch.tensor(MEAN))


def test_a_shifted_picture_moves_by_the_share_of_its_side() -> None:
    columns = torch.arange(331.0).expand(1, 3, 331, 331) / 331 * 255
    moved = operated("translate_x", columns, 0.5)
    torch.testing.assert_close(moved[..., 75:], columns[..., :-75], rtol=0, atol=1e-2)


def test_nothing_asked_for_changes_nothing(photos: Tensor) -> None:
    assert torch.equal(varied(photos, PhotoAugment()), photos)


def test_operations_are_dealt_out_evenly(photos: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: dict[int, list[int]] = {}

    def counting(place: int) -> Change:
        def change(images: Tensor, strength: Tensor) -> Tensor:
            counts.setdefault(place, []).append(len(images))
            assert set(strength.abs().flatten().tolist()) == {0.5}
            return images + place + 1

        return change

    module = "trainferry.train.data.photos.augment"
    monkeypatch.setattr(f"{module}.MOVES", ())
    monkeypatch.setattr(f"{module}.CHANGES", tuple(counting(place) for place in range(14)))
    recipe = PhotoAugment(operations=1, magnitude=STRONGEST / 2)
    seen = [varied(photos, recipe, seed) - photos for seed in range(60)]
    assert {size for sizes in counts.values() for size in sizes} == {1, 2}
    for change in seen:
        assert (change == change[:, :1, :1, :1]).all(), "pictures go back to their places whole"
    assert len({float(change[0, 0, 0, 0]) for change in seen}) == 14


def test_moved_pictures_go_back_to_their_places(photos: Tensor) -> None:
    result = varied(photos, PhotoAugment(operations=1, magnitude=3.0))
    distances = (result[:, None] - photos[None]).abs().mean(dim=(2, 3, 4))
    assert distances.argmin(1).tolist() == list(range(len(photos)))


def test_operations_work_on_fewer_pictures_than_there_are_operations(photos: Tensor) -> None:
    for count in (1, 2, 13, 14, 15):
        assert varied(photos[:count], EVERYTHING).shape == photos[:count].shape


def test_pictures_vary_each_in_its_own_way(photos: Tensor) -> None:
    same = photos[:1].repeat(20, 1, 1, 1)
    result = varied(same, PhotoAugment(operations=3, magnitude=25.0))
    assert len({round(picture.sum().item()) for picture in result}) > 12


def test_the_same_seed_gives_the_same_pictures(photos: Tensor) -> None:
    assert torch.equal(varied(photos, EVERYTHING, 1), varied(photos, EVERYTHING, 1))
    assert not torch.equal(varied(photos, EVERYTHING, 1), varied(photos, EVERYTHING, 2))


def test_every_device_varies_alike(photos: Tensor, emulated_npu: torch.device) -> None:
    there = varied(photos.to(emulated_npu), EVERYTHING)
    assert there.device == emulated_npu
    torch.testing.assert_close(there.cpu(), varied(photos, EVERYTHING), rtol=0, atol=1e-2)


@pytest.mark.parametrize("name", EVERY)
def test_every_operation_runs_on_the_device(
    name: str, photos: Tensor, emulated_npu: torch.device
) -> None:
    there = operated(name, photos, 0.7, emulated_npu)
    torch.testing.assert_close(there.cpu(), operated(name, photos, 0.7))


def test_as_many_pictures_are_erased_as_asked_for(photos: Tensor) -> None:
    many = photos[:1].repeat(400, 1, 1, 1) / 2  # no value is that of the fill
    result = varied(many, PhotoAugment(erasing=0.25))
    changed = (result != many).any(1)
    areas = changed.float().mean(dim=(1, 2))
    assert 0.15 < float((areas > 0).float().mean()) < 0.35
    erased = areas[areas > 0]
    assert float(erased.min()) > 0.01
    assert float(erased.max()) < 0.36
    torch.testing.assert_close(result.permute(0, 2, 3, 1)[changed][0], torch.tensor(MEAN))
    for mask in changed[areas > 0]:
        height, width = int(mask.any(1).sum()), int(mask.any(0).sum())
        assert int(mask.sum()) == height * width, "what is erased is a rectangle"


def test_equalize_takes_values_between_bytes(photos: Tensor) -> None:
    torch.testing.assert_close(
        operated("equalize", photos + 0.2, 1.0), operated("equalize", photos, 1.0)
    )


def test_no_mixture_unless_asked_for() -> None:
    assert draw_mixture(PhotoAugment(), 8, 8) is None


def test_mixup_lays_each_picture_over_the_one_before_it(photos: Tensor) -> None:
    mixed = Mixture(0.75).pictures(photos)
    torch.testing.assert_close(mixed[3], 0.75 * photos[3] + 0.25 * photos[2])
    torch.testing.assert_close(mixed[0], 0.75 * photos[0] + 0.25 * photos[-1])


def test_cutmix_puts_the_picture_before_into_a_box(photos: Tensor) -> None:
    mixed = Mixture(0.9, (2, 3, 10, 21)).pictures(photos)
    assert torch.equal(mixed[5, :, 2:10, 3:21], photos[4, :, 2:10, 3:21])
    assert torch.equal(mixed[5, :, 10:], photos[5, :, 10:])
    assert torch.equal(mixed[5, :, :, :3], photos[5, :, :, :3])


def test_the_share_of_a_cut_picture_is_that_of_its_pixels() -> None:
    torch.manual_seed(4)
    drawn = [draw_mixture(PhotoAugment(cutmix=1.0), 40, 60) for _ in range(200)]
    for mixture in drawn:
        assert mixture is not None
        assert mixture.box is not None
        top, left, bottom, right = mixture.box
        assert 0 <= top <= bottom <= 40
        assert 0 <= left <= right <= 60
        assert mixture.own == pytest.approx(1 - (bottom - top) * (right - left) / 2400)
    shares = [mixture.own for mixture in drawn if mixture is not None]
    assert min(shares) < 0.2
    assert max(shares) > 0.9


def test_mixup_draws_its_share_from_the_beta_of_its_alpha() -> None:
    torch.manual_seed(4)
    for alpha, spread in ((0.2, 1 / 4 / 1.4), (1.0, 1 / 12), (4.0, 1 / 36)):
        drawn = [draw_mixture(PhotoAugment(mixup=alpha), 8, 8) for _ in range(400)]
        shares = torch.tensor([each.own for each in drawn if each is not None])
        assert float(shares.mean()) == pytest.approx(0.5, abs=0.06)
        assert float(shares.var()) == pytest.approx(spread, rel=0.3)


def test_of_mixup_and_cutmix_each_batch_has_one() -> None:
    torch.manual_seed(4)
    drawn = [draw_mixture(PhotoAugment(mixup=0.2, cutmix=1.0), 8, 8) for _ in range(100)]
    cut = sum(mixture is not None and mixture.box is not None for mixture in drawn)
    assert 30 < cut < 70


def test_values_are_normalised_as_the_recipe_says(emulated_npu: torch.device) -> None:
    picture = PhotoPicture(mean=(10.0, 20.0, 30.0), deviation=(2.0, 4.0, 0.5))
    for images in (torch.full((1, 2, 2, 3), 50, dtype=torch.uint8), torch.full((1, 2, 2, 3), 50.0)):
        for device in (torch.device("cpu"), emulated_npu):
            inputs = normalised(planes_of(images.to(device)), picture).cpu()
            assert inputs.shape == (1, 3, 2, 2)
            assert inputs.dtype == torch.float32
            assert inputs[0, :, 0, 0].tolist() == [20.0, 7.5, 40.0]

"""Variation of pictures: as much as asked for, the same on every device, still readable."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.train.word_data import draw_word
from trainferry.train.data.words.augment import augment
from trainferry.train.recipe.tasks import WordAugment

KINDS = ("geometry", "colour", "blur", "noise")
WORDS = ("ferry", "train", "water", "harbour", "quay", "rails", "boat", "bridge")


@pytest.fixture(scope="module")
def words() -> Tensor:
    pictures = [Image.open(io.BytesIO(draw_word(word))).resize((100, 32)) for word in WORDS]
    stacked = np.stack([np.asarray(picture, np.float32) for picture in pictures])
    return torch.from_numpy(stacked).permute(0, 3, 1, 2).contiguous()


def varied(images: Tensor, seed: int = 1, **strengths: float) -> Tensor:
    torch.manual_seed(seed)
    return augment(images, WordAugment(**strengths))


def likeness(one: Tensor, other: Tensor) -> Tensor:
    """Return the correlation of each picture with the other, without sign: negatives count."""
    flat = [(each - each.mean(1, keepdim=True)) for each in (one.flatten(1), other.flatten(1))]
    products = (flat[0] * flat[1]).sum(1)
    return (products / (flat[0].norm(dim=1) * flat[1].norm(dim=1) + 1e-9)).abs()


def test_no_strength_changes_nothing(words: Tensor) -> None:
    assert torch.equal(varied(words), words)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_changes_pictures_and_keeps_shape_and_range(kind: str, words: Tensor) -> None:
    result = varied(words.repeat(8, 1, 1, 1), 1, **{kind: 1.0})
    assert result.shape == (64, 3, 32, 100)
    assert result.min() >= 0
    assert result.max() <= 255
    assert torch.isfinite(result).all()
    assert not torch.equal(result, words.repeat(8, 1, 1, 1))


@pytest.mark.parametrize("kind", ["colour", "blur", "noise"])
def test_what_does_not_bend_leaves_the_letters_where_they_are(kind: str, words: Tensor) -> None:
    alike = likeness(varied(words.repeat(8, 1, 1, 1), 1, **{kind: 0.5}), words.repeat(8, 1, 1, 1))
    assert float(alike.quantile(0.05)) > 0.7


def test_bent_words_are_still_in_the_picture(words: Tensor) -> None:
    result = varied(words.repeat(8, 1, 1, 1), geometry=0.5)
    ink = (255 - result).mean(dim=(1, 2, 3)) / (255 - words).mean(dim=(1, 2, 3)).repeat(8)
    assert float(ink.min()) > 0.5
    assert float(ink.max()) < 2.0
    weak = likeness(varied(words, geometry=0.02), words)
    assert float(weak.min()) > 0.8


def test_stronger_means_farther_from_the_picture(words: Tensor) -> None:
    for kind in KINDS:
        moved = [
            float((varied(words, 1, **{kind: strength}) - words).abs().mean())
            for strength in (0.1, 0.9)
        ]
        assert moved[0] < moved[1], kind


def test_the_same_seed_gives_the_same_pictures(words: Tensor) -> None:
    everything = dict.fromkeys(KINDS, 0.5)
    assert torch.equal(varied(words, 1, **everything), varied(words, 1, **everything))
    assert not torch.equal(varied(words, 1, **everything), varied(words, 2, **everything))


def test_pictures_vary_each_in_its_own_way(words: Tensor) -> None:
    same = words[:1].repeat(6, 1, 1, 1)
    result = varied(same, geometry=0.5, colour=0.5)
    assert len({picture.sum().item() for picture in result}) == 6


def test_every_device_varies_alike(words: Tensor, emulated_npu: torch.device) -> None:
    everything = dict.fromkeys(KINDS, 0.5)
    there = varied(words.to(emulated_npu), 1, **everything)
    assert there.device == emulated_npu
    torch.testing.assert_close(there.cpu(), varied(words, 1, **everything), rtol=0, atol=1e-2)

"""Inputs made of pictures by one kernel, against several passes."""

from __future__ import annotations

import pytest
import torch

from trainferry.train.data import normalise
from trainferry.train.data.normalise import normalised, planes_of
from trainferry.train.recipe.tasks import PhotoPicture

pytestmark = pytest.mark.cuda

PICTURES = {
    "mean alone": PhotoPicture(mean=(123.68, 116.78, 103.94)),
    "mean and deviation": PhotoPicture(mean=(10.0, 20.5, 30.0), deviation=(58.4, 57.1, 3.0)),
}


@pytest.mark.parametrize("views", [1, 3])
@pytest.mark.parametrize("is_bytes", [True, False], ids=["bytes", "floats"])
@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())
@pytest.mark.parametrize("size", [(5, 7), (2, 700)], ids=str)
def test_inputs_are_those_of_several_passes(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    picture: PhotoPicture,
    is_bytes: bool,
    views: int,
    size: tuple[int, int],
) -> None:
    images = torch.randint(0, 256, (6, *size, 3), dtype=torch.uint8, device=kernel_device)
    values = planes_of(images)
    if not is_bytes:
        values = values.float().contiguous() + 0.25
    mine = normalised(values, picture, views)
    assert mine.is_contiguous(memory_format=torch.channels_last)
    monkeypatch.setattr(normalise, "runs_kernels_on", lambda _: False)
    expected = normalised(values, picture, views)
    assert mine.shape == expected.shape == (6 // views, 3, size[0], views * size[1])
    assert torch.equal(mine, expected)


def test_no_pictures_are_no_inputs(kernel_device: torch.device) -> None:
    nothing = torch.zeros(0, 3, 4, 4, device=kernel_device)
    assert normalised(nothing, PICTURES["mean alone"]).shape == (0, 3, 4, 4)

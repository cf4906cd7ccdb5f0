"""JPEGs decoded by a device that has a decoder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import torch
from torch import Tensor

from trainferry.devices.device import is_emulated
from trainferry.errors import DeviceError, MissingPackageError, PictureError

_DEVICES = ("cuda",)
_HINT = "replace or remove the picture"
_LEAVE_IT = "leave data.jpeg at `readers`: the CPU decodes them then"


def check_decoder(device: torch.device) -> None:
    """Raise unless the device decodes a JPEG; readers can do it everywhere."""
    if device.type not in _DEVICES or is_emulated(device):
        raise DeviceError(f"`{device}` has no decoder for JPEGs that we know of", hint=_LEAVE_IT)
    if find_spec("torchvision") is None:
        raise MissingPackageError("torchvision", "decoding JPEGs on a GPU (data.jpeg=device)")
    from torchvision.io import encode_jpeg

    try:
        decode_jpegs([encode_jpeg(torch.zeros(3, 8, 8, dtype=torch.uint8))], device)
    except PictureError as error:  # a torchvision that was built without the decoder
        raise DeviceError(str(error), hint=_LEAVE_IT) from error


def decode_jpegs(encoded: Sequence[Tensor], device: torch.device) -> list[Tensor]:
    """Return RGB bytes on the device, 3 H W each. The bytes of each JPEG lie on the CPU.

    Raises PictureError if any of them cannot be decoded.
    """
    from torchvision.io import ImageReadMode, decode_jpeg

    try:
        decoded = decode_jpeg(list(encoded), mode=ImageReadMode.RGB, device=device)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise PictureError(f"the device could not decode a JPEG: {reason}", hint=_HINT) from error
    pictures: list[Tensor] = decoded
    return pictures

"""The number format of a run: which products are rounded to half precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, get_args

import torch

from trainferry.errors import DeviceError

Precision = Literal["fp32", "bf16", "fp16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

_HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """Run matrix products and convolutions inside in `precision`; weights stay fp32.

    "fp32" switches an outer autocast off, so that a part of a network can insist on it.
    """
    if precision == "fp32":
        return torch.autocast(device.type, enabled=False)
    return torch.autocast(device.type, dtype=_HALF[precision])


def half_of(precision: Precision) -> torch.dtype | None:
    """Return the narrow format of a precision; None where nothing is narrowed."""
    return _HALF.get(precision)


def working_half(device: torch.device) -> torch.dtype | None:
    """Return the narrow format that products have here and now; None for none."""
    if not torch.is_autocast_enabled(device.type):
        return None
    return torch.get_autocast_dtype(device.type)


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Compute in fp32 and nothing less inside: no autocast, and no TF32 on GPUs that have it."""
    matmul, convolution = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        with autocast(device, "fp32"):
            yield
    finally:
        torch.set_float32_matmul_precision(matmul)
        torch.backends.cudnn.allow_tf32 = convolution


def check_precision(device: torch.device, precision: Precision) -> None:
    """Raise DeviceError when `device` cannot train in `precision`."""
    if precision == "bf16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise DeviceError(
            f"{torch.cuda.get_device_name(device)} cannot compute in bf16",
            hint="use precision fp16 with loss scaling, or fp32",
        )


def warn_of_precision(device: torch.device, precision: Precision) -> str | None:
    """Say what a device computes rightly but slowly; None for nothing."""
    if precision == "fp16" and device.type == "cpu":
        return (
            "fp16 takes most CPUs several times as long as fp32; for fp32: "
            "--set precision.name=fp32 --set precision.loss_scale=none"
        )
    return None

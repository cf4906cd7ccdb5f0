"""A tensor in a few numbers that JSON can hold and a person can read."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Statistics:
    """Of the finite values; None where there is none. Shares are of all values."""

    shape: tuple[int, ...]
    dtype: str
    minimum: float | None
    maximum: float | None
    mean: float | None
    non_finite_share: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def line(self) -> str:
        """Return it in words: [8, 4, 32, 100] float32 from -3.1 to 2.9, mean 0.02."""
        text = f"{list(self.shape)} {self.dtype}"
        if self.minimum is not None and self.maximum is not None and self.mean is not None:
            text += f" from {self.minimum:.4g} to {self.maximum:.4g}, mean {self.mean:.4g}"
        if self.non_finite_share:
            text += f", {share(self.non_finite_share)} of the values not finite"
        return text


@torch.no_grad()
def describe_tensor(tensor: Tensor) -> Statistics:
    """Look at all values; waits for the device."""
    values = tensor.detach().cpu()
    dtype = str(tensor.dtype).removeprefix("torch.")
    wide = values.flatten().double()
    finite = wide.isfinite()
    kept = wide if bool(finite.all()) else wide[finite]
    some = len(kept) > 0
    return Statistics(
        shape=tuple(tensor.shape),
        dtype=dtype,
        minimum=float(kept.min()) if some else None,
        maximum=float(kept.max()) if some else None,
        mean=_finite_or_none(float(kept.mean())) if some else None,
        non_finite_share=1 - len(kept) / len(wide) if len(wide) else 0.0,
    )


def share(part: float) -> str:
    """Return a share in per cent that is never rounded to nothing."""
    return "less than 0.1%" if 0 < part < 0.001 else f"{part:.1%}"


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None

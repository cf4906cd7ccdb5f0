"""Autocast for the emulated NPU, by the lists that torch follows on the CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from trainferry.devices.emulated_kernels import Value, find_operator

# The CPU's lists of aten/src/ATen/autocast_mode.h, without linalg and 3-D operators.
_AUTOCAST_HALF = (
    *("conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding", "conv3d.padding"),
    *("conv_tbc", "_convolution.deprecated"),
    *("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"),
    *("bmm", "mm", "baddbmm", "addmm", "addbmm", "linear", "matmul", "linalg_vecdot"),
    "scaled_dot_product_attention",
)
_AUTOCAST_FP32 = (
    *("binary_cross_entropy", "grid_sampler", "polar", "prod", "prod.dim_int", "quantile"),
    *(
        "nanquantile",
        "stft",
        "cdist",
        "trace",
        "view_as_complex",
        "cholesky",
        "inverse",
        "pinverse",
    ),
    *("mse_loss", "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss"),
    *("poisson_nll_loss", "smooth_l1_loss", "cross_entropy_loss", "l1_loss", "huber_loss"),
    *("margin_ranking_loss", "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss"),
    *("ctc_loss.IntList", "ctc_loss.Tensor", "kl_div", "multilabel_margin_loss"),
    *("binary_cross_entropy_with_logits", "replication_pad1d", "replication_pad2d"),
    *("avg_pool3d", "replication_pad3d"),
)
_AUTOCAST_WIDEST = ("stack", "cat", "index_copy")

_KEY = "AutocastPrivateUse1"
_OUTSIDE_AUTOCAST = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, _KEY))


def register_autocast() -> list[torch.library.Library]:
    """Teach `torch.autocast("npu")` the CPU's lists."""
    everything = torch.library.Library("_", "IMPL", _KEY)
    everything.fallback(torch.library.fallthrough_kernel)
    listed = torch.library.Library("aten", "IMPL", _KEY)
    for names, choose in (
        (_AUTOCAST_HALF, _half),
        (_AUTOCAST_FP32, _fp32),
        (_AUTOCAST_WIDEST, _widest),
    ):
        for name in names:
            operator = find_operator(f"aten::{name}")
            listed.impl(operator.name(), functools.partial(_run_in, choose, operator))
    return [everything, listed]


def _run_in(
    choose: Callable[[list[Tensor]], torch.dtype],
    operator: OpOverload[..., Any],
    *positional: Value,
    **named: Value,
) -> Value:
    dtype = choose(_castable([*positional, *named.values()]))
    with torch._C._ExcludeDispatchKeyGuard(_OUTSIDE_AUTOCAST):
        return operator(
            *(_cast(each, dtype) for each in positional),
            **{name: _cast(each, dtype) for name, each in named.items()},
        )


def _half(_tensors: list[Tensor]) -> torch.dtype:
    return torch.get_autocast_dtype("npu")


def _fp32(_tensors: list[Tensor]) -> torch.dtype:
    return torch.float32


def _widest(tensors: list[Tensor]) -> torch.dtype:
    wide = any(tensor.dtype == torch.float32 for tensor in tensors)
    return torch.float32 if wide else torch.get_autocast_dtype("npu")


def _castable(values: list[Any]) -> list[Tensor]:
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [each for each in flat if isinstance(each, Tensor) and _is_castable(each)]


def _is_castable(tensor: Tensor) -> bool:
    return (
        tensor.device.type == "npu" and tensor.is_floating_point() and tensor.dtype != torch.float64
    )


def _cast(value: Value, dtype: torch.dtype) -> Value:
    if isinstance(value, Tensor):
        return value.to(dtype) if _is_castable(value) else value
    if isinstance(value, list):
        return [_cast(each, dtype) for each in value]
    return value

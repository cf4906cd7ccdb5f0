"""Where kernels can be tried: on a GPU, or one element after the other on the CPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch

from trainferry.devices.device import find_accelerators
from trainferry.devices.precision import full_precision


@pytest.fixture(scope="session")
def kernel_device() -> torch.device:
    if find_spec("triton") is None:
        pytest.skip("needs Triton, which comes with PyTorch for GPUs")
    if os.environ.get("TRITON_INTERPRET") == "1":
        return torch.device("cpu")
    if any(device.type == "cuda" for device in find_accelerators()):
        return torch.device("cuda")
    pytest.skip("needs an NVIDIA GPU, or TRITON_INTERPRET=1 for Triton on the CPU")


@pytest.fixture(scope="session", autouse=True)
def mended_interpreter() -> None:
    """Kernels may run in the interpreter in tests that ask for no device, too."""
    if os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None:
        _let_loops_count()
        _let_masks_be_numbers()
        _let_halves_be_numbers()


@pytest.fixture(autouse=True)
def exact_convolutions() -> Iterator[None]:
    """Compare with what torch computes in fp32, not in the shorter format of tensor cores."""
    with full_precision(torch.device("cpu")):
        yield


def _let_loops_count() -> None:
    """Triton's interpreter gives loops arrays of one number, which NumPy 2.4 takes no longer."""
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patch_and_count(tensor: type, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_and_count


def _let_masks_be_numbers() -> None:
    """Triton's interpreter makes numbers of a condition for all rows; that of 3.9 refuses them."""
    from triton.runtime.interpreter import InterpreterBuilder

    load = InterpreterBuilder.create_masked_load

    def load_where(builder: Any, places: Any, mask: Any, *rest: Any) -> Any:
        mask.data = mask.data.astype(bool)
        return load(builder, places, mask, *rest)

    InterpreterBuilder.create_masked_load = load_where


def _let_halves_be_numbers() -> None:
    """Triton's interpreter keeps bf16 as integers: it would multiply those, and cuts off digits."""
    from triton import language
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    cast, multiply = InterpreterBuilder.cast_impl, InterpreterBuilder.create_dot

    def widened(factor: Any) -> Any:
        if factor.get_element_ty() != language.bfloat16:
            return factor
        bits = factor.data.astype(np.uint32) << 16
        return TensorHandle(bits.view(np.float32), language.float32)

    def multiply_numbers(builder: Any, one: Any, other: Any, *rest: Any) -> Any:
        return multiply(builder, widened(one), widened(other), *rest)

    def cast_to_nearest(builder: Any, values: Any, kind: Any) -> Any:
        if kind.scalar != language.bfloat16 or values.get_element_ty() != language.float32:
            return cast(builder, values, kind)
        nearest = torch.from_numpy(np.array(values.data)).to(torch.bfloat16)
        return TensorHandle(nearest.view(torch.uint16).numpy(), kind.scalar)

    InterpreterBuilder.create_dot = multiply_numbers
    InterpreterBuilder.cast_impl = cast_to_nearest

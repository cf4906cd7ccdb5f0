"""Kernels of the emulated NPU: each operator runs on CPU labels of its arguments.

A tensor of the emulated NPU and a CPU tensor are two labels for the same memory,
and DLPack changes one label into the other. Operators that only make views run
unchanged on the NPU's label, because they touch no memory.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils import _pytree
from torch.utils.dlpack import from_dlpack

from trainferry.devices.emulated_graph import recorded

# Whatever an operator takes or returns.
Value: TypeAlias = Any

# Numbers of dlpack.h; the second is what torch calls PrivateUse1.
_DL_CPU = 1
_DL_EXTENSION = 12

_CPU_KERNEL = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

# Kernels that touch sizes, strides and the storage's reference but no memory.
_METADATA = (
    *("as_strided", "_reshape_alias", "view", "unfold", "view_as_real", "view_as_complex"),
    *("set_.source_Storage", "set_.source_Storage_storage_offset"),
)

# Composite operators that take a road of their own on PrivateUse1: through fused kernels that
# the CPU lacks, or that round differently.
_OTHER_ROAD = (
    *("lstm.input", "lstm.data", "gru.input", "gru.data", "lstm_cell", "gru_cell"),
    "dropout",
)

# Operators that accept CPU tensors beside those of the device.
_MIXED = (
    "aten::index",
    "aten::index_put_",
    "aten::_index_put_impl_",
    "aten::_pack_padded_sequence",
    "aten::_ctc_loss",
)

# Arguments that operators write over without saying so in their schema.
_WRITTEN_UNTOLD = {"aten::native_batch_norm": ("running_mean", "running_var")}

# Operators whose result, or its size, depends on values: the host waits for the device.
_WAITING = ("aten::_local_scalar_dense", "aten::equal", "aten::nonzero", "aten::masked_select")


def register_kernels() -> list[torch.library.Library]:
    """Give every operator with a CPU kernel one for the NPU."""
    kernels = torch.library.Library("aten", "IMPL", "PrivateUse1")
    metadata = {f"aten::{name}" for name in _METADATA}
    own = {f"aten::{name}" for name in (*_OWN_KERNELS, *_OTHER_ROAD)}
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and name not in own and _has_cpu_kernel(name):
            run = _run_unchanged if name in metadata else _run_on_cpu
            kernels.impl(name, functools.partial(run, find_operator(name)))
    for name, kernel in _OWN_KERNELS.items():
        kernels.impl(f"aten::{name}", kernel)

    autograd = torch.library.Library("aten", "IMPL", "AutogradPrivateUse1")
    for operator in (find_operator(f"aten::{name}") for name in _OTHER_ROAD):
        for library in (kernels, autograd):
            library.impl(operator.name(), functools.partial(_run_graph_on_cpu, operator))
    return [kernels, autograd]


def to_npu(tensor: Tensor) -> Tensor:
    """The label of the NPU for the memory of a CPU tensor."""
    return _relabel(tensor, _DL_EXTENSION)


def find_operator(name: str) -> OpOverload[..., Any]:
    packet, _, overload = name.removeprefix("aten::").partition(".")
    operator: OpOverload[..., Any] = getattr(getattr(torch.ops.aten, packet), overload or "default")
    return operator


def _has_cpu_kernel(name: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")


class _DLTensorHead(ctypes.Structure):
    """The beginning of a DLPack tensor, as dlpack.h of every version lays it out."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
    )


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _relabel(tensor: Tensor, device_type: int) -> Tensor:
    """The same memory, shape and strides under the label of another device."""
    capsule = tensor.detach().__dlpack__()
    head = _DLTensorHead.from_address(_capsule_pointer(capsule, b"dltensor"))
    head.device_type = device_type
    relabelled: Tensor = from_dlpack(capsule)
    if relabelled.stride() != tensor.stride():  # DLPack forgets strides along sizes 0 and 1
        as_strided = torch.ops.aten.as_strided.default
        return as_strided.redispatch(_CPU_KERNEL, relabelled, tensor.shape, tensor.stride(), 0)
    return relabelled


def _to_cpu(tensor: Tensor) -> Tensor:
    return _relabel(tensor, _DL_CPU)


class _Arguments:
    """The arguments of one call under CPU labels, and the way back."""

    def __init__(self, operator: OpOverload[..., Any]) -> None:
        self.operator = operator
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}
        self._strangers = False

    def to_cpu(self, value: Value) -> Value:
        if isinstance(value, Tensor):
            return self._tensor_to_cpu(value)
        if isinstance(value, (list, tuple)):
            return [self.to_cpu(each) for each in value]
        if isinstance(value, torch.device) and value.type == "npu":
            return torch.device("cpu")
        return value

    def _tensor_to_cpu(self, tensor: Tensor) -> Tensor:
        if tensor.device.type != "npu":
            self._strangers |= tensor.dim() > 0
            return tensor.clone() if recorded() else tensor  # a recording knows today's value
        # Nothing can be resized under two labels, so an empty result gets memory of its own.
        on_cpu = torch.empty_like(tensor, device="cpu") if tensor.numel() == 0 else _to_cpu(tensor)
        self._pairs[id(on_cpu)] = (on_cpu, tensor)
        return on_cpu

    def check_devices(self) -> None:
        packet = self.operator.name().partition(".")[0]
        if self._strangers and self._pairs and packet not in _MIXED:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"npu:0 and cpu! (in {packet})"
            )

    def take_resized(self) -> None:
        for on_cpu, tensor in self._pairs.values():
            if on_cpu.shape != tensor.shape:
                _take_memory(tensor, on_cpu)

    def to_npu(self, value: Value) -> Value:
        if isinstance(value, Tensor):
            pair = self._pairs.get(id(value))
            return pair[1] if pair else to_npu(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.to_npu, value))
        return value


def _run_on_cpu(operator: OpOverload[..., Any], *positional: Value, **named: Value) -> Value:
    arguments = _Arguments(operator)
    on_cpu = [arguments.to_cpu(each) for each in positional]
    named_on_cpu = {name: arguments.to_cpu(each) for name, each in named.items()}
    arguments.check_devices()
    if (graph := recorded()) is not None:
        _check_waits_for_nothing(operator)
        for tensor in _written(operator, on_cpu, named_on_cpu):
            graph.keep(tensor)
    result = operator(*on_cpu, **named_on_cpu)
    if graph is not None:
        graph.note(lambda: _put(operator(*on_cpu, **named_on_cpu), result))
    arguments.take_resized()
    return arguments.to_npu(result)


def _check_waits_for_nothing(operator: OpOverload[..., Any]) -> None:
    if operator.name().partition(".")[0] in _WAITING:
        raise RuntimeError(f"{operator.name()} waits for the device, which is being recorded")


def _written(
    operator: OpOverload[..., Any], positional: list[Value], named: dict[str, Value]
) -> list[Tensor]:
    """Return what the operator writes over."""
    arguments = operator._schema.arguments
    given = {argument.name: value for argument, value in zip(arguments, positional, strict=False)}
    names = {each.name for each in arguments if each.alias_info and each.alias_info.is_write}
    names.update(_WRITTEN_UNTOLD.get(operator.name(), ()))
    found = [value for name, value in {**given, **named}.items() if name in names]
    return [each for each in _pytree.tree_leaves(found) if isinstance(each, Tensor)]


def _put(made: Value, kept: Value) -> None:
    """Put what was made anew where readers of the first result look for it."""
    for new, old in zip(_pytree.tree_leaves(made), _pytree.tree_leaves(kept), strict=True):
        if isinstance(old, Tensor) and new.data_ptr() != old.data_ptr():
            old.detach().copy_(new.detach())


def _run_unchanged(operator: OpOverload[..., Any], *positional: Value, **named: Value) -> Value:
    return operator.redispatch(_CPU_KERNEL, *positional, **named)


def _take_memory(tensor: Tensor, on_cpu: Tensor) -> None:
    """Let `tensor`, of the NPU, become the memory of `on_cpu`."""
    memory = to_npu(on_cpu).untyped_storage()
    put = torch.ops.aten.set_.source_Storage_storage_offset
    put.redispatch(_CPU_KERNEL, tensor, memory, 0, on_cpu.shape, on_cpu.stride())


def _resize(
    tensor: Tensor, size: list[int], *, memory_format: torch.memory_format | None = None
) -> Tensor:
    resized = torch.empty(
        size, dtype=tensor.dtype, memory_format=memory_format or torch.contiguous_format
    )
    kept = min(tensor.numel(), resized.numel())
    resized.view(-1)[:kept] = _to_cpu(tensor).reshape(-1)[:kept]
    _take_memory(tensor, resized)
    return tensor


def _copy_from(source: Tensor, target: Tensor, *_non_blocking: bool) -> Tensor:
    here, there = _on_cpu(source), _on_cpu(target)
    if (graph := recorded()) is not None:
        if source.device != target.device:
            raise RuntimeError("a copy to or from the host waits for a device that is recorded")
        graph.keep(there)
        graph.note(lambda: there.copy_(here))
    there.copy_(here)
    return target


def _copy_from_and_resize(source: Tensor, target: Tensor) -> Tensor:
    if target.shape != source.shape:
        target.resize_(source.shape)
    return _copy_from(source, target)


def _on_cpu(tensor: Tensor) -> Tensor:
    return _to_cpu(tensor) if tensor.device.type == "npu" else tensor


def _convolution(*arguments: Value) -> Value:
    return _run_on_cpu(torch.ops.aten.convolution.default, *arguments)


def _convolution_backward(
    gradient: Tensor, pictures: Tensor, weight: Tensor, *rest: Value
) -> Value:
    bias_sizes = [gradient.shape[1]]
    backward = torch.ops.aten.convolution_backward.default
    return _run_on_cpu(backward, gradient, pictures, weight, bias_sizes, *rest)


def _record_stream(_tensor: Tensor, _stream: torch.Stream) -> None:
    """Memory is used again only when nobody has it."""


# Operators without a CPU kernel of the same name, or whose kernel would reallocate memory.
_OWN_KERNELS = {
    "record_stream": _record_stream,
    "resize_": _resize,
    "_copy_from": _copy_from,
    "_copy_from_and_resize": _copy_from_and_resize,
    "convolution_overrideable": _convolution,
    "convolution_backward_overrideable": _convolution_backward,
}


def _run_graph_on_cpu(operator: OpOverload[..., Any], *positional: Value) -> Value:
    """Run a composite operator on the CPU with the CPU's own backward pass."""
    if not torch.is_grad_enabled():
        with _autocast_of_npu():
            return _run_on_cpu(operator, *positional)
    flat, structure = _pytree.tree_flatten(list(positional))
    results = _GraphOnCPU.apply(operator, structure, *flat)
    return results if len(operator._schema.returns) > 1 else results[0]


def _autocast_of_npu() -> torch.autocast:
    half = torch.is_autocast_enabled("npu")
    return torch.autocast("cpu", torch.get_autocast_dtype("npu") if half else None, enabled=half)


class _GraphOnCPU(torch.autograd.Function):
    """One node of the NPU's graph that holds a whole graph of the CPU."""

    @staticmethod
    def forward(
        ctx: Value,
        operator: OpOverload[..., Any],
        structure: _pytree.TreeSpec,
        *flat: Value,
    ) -> tuple[Tensor, ...]:
        needed = ctx.needs_input_grad[2:]
        ctx.leaves = [
            _on_cpu(each).requires_grad_(need) if isinstance(each, Tensor) else each
            for each, need in zip(flat, needed, strict=True)
        ]
        formats = _autocast_of_npu()

        def compute() -> tuple[Tensor, ...]:
            with torch.enable_grad(), formats:
                results = operator(*_pytree.tree_unflatten(ctx.leaves, structure))
            ctx.results = results if isinstance(results, tuple) else (results,)
            return ctx.results

        made = compute()
        if (graph := recorded()) is not None:
            graph.note(lambda: _put(compute(), made))
        return tuple(to_npu(each) for each in made)

    @staticmethod
    def backward(ctx: Value, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        wanted = [each for each in ctx.leaves if isinstance(each, Tensor) and each.requires_grad]
        given = [_on_cpu(each) for each in gradients]

        def compute() -> tuple[Tensor | None, ...]:
            with torch.enable_grad():
                found: tuple[Tensor | None, ...] = torch.autograd.grad(
                    ctx.results, wanted, given, retain_graph=True, allow_unused=True
                )
            return found

        found = compute()
        if (graph := recorded()) is not None:
            graph.note(lambda: _put(compute(), found))
        by_leaf = {
            id(leaf): None if gradient is None else to_npu(gradient)
            for leaf, gradient in zip(wanted, found, strict=True)
        }
        return (None, None, *(by_leaf.get(id(leaf)) for leaf in ctx.leaves))

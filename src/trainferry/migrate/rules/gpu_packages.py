"""Do without packages for NVIDIA GPUs.

CuPy, DALI, TensorRT, NVML and their like need a CUDA driver. On a machine with NPUs the import
already fails, or the first call does.

TensorFlow's own operators for NCCL can be imported, but run on GPUs only.

By hand: always; this rule only tells what to use instead.
Not touched: an import in `try:` whose `except ImportError` goes on without the package.

Source: Ascend TF Adapter 1.x migration guide, restrictions of automated porting (CuPy).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.RUN

_WATCH = "watch NPUs with `npu-smi info`"
_COUNT = f"{_WATCH}, and choose one with `ASCEND_DEVICE_ID`"
_NO_TENSORRT = "run the frozen graph in a session for the NPU, or compile it with `atc`"
_PACKAGES = {
    "cupy": "use NumPy on the host, or TensorFlow operators on the NPU",
    "cupyx": "use NumPy or SciPy on the host, or TensorFlow operators on the NPU",
    "pycuda": "write the kernel with TensorFlow operators",
    "numba.cuda": "write the kernel with TensorFlow operators",
    "nvidia.dali": "read the data with `tf.data`",
    "nvtx": _WATCH,
    "pynvml": _WATCH,
    "py3nvml": _COUNT,
    "nvidia_smi": _WATCH,
    "gpustat": _WATCH,
    "GPUtil": _COUNT,
    "setGPU": "choose an NPU with `ASCEND_DEVICE_ID`",
    "tensorrt": _NO_TENSORRT,
    "tensorflow.contrib.tensorrt": _NO_TENSORRT,
    "tensorflow.python.compiler.tensorrt": _NO_TENSORRT,
}
_NCCL = re.compile(r"(tf\.contrib\.nccl|(tf|tensorflow)\.[\w.]*\.nccl_ops)\.[a-z]\w*")
_NO_NCCL = (
    "NCCL adds up over the GPUs of one process: a process has one NPU, so leave it out with the "
    "towers, and wrap the optimizer with `npu_distributed_optimizer_wrapper(optimizer)`"
)
_FIRST_PARTS = frozenset(one.partition(".")[0] for one in _PACKAGES)


@on_file
def gpu_packages(file: File) -> Iterator[Finding]:
    for statement in file.imports:
        found = next((one for one in map(_package, _paths(statement)) if one), None)
        if found is None or _is_optional(statement, file) or _is_own(statement, file):
            continue
        message = f"`{found}` needs a GPU: {_PACKAGES[found]}"
        yield Finding(Spot(file.source, statement), Outcome.BY_HAND, message)


@on_file
def nccl(file: File) -> Iterator[Finding]:
    if b"nccl" not in file.source.data:
        return
    for node, name in file.names.uses(file.source):
        names = file.names.possible_names(file.source, node) if name is None else (name,)
        if any(_NCCL.fullmatch(one) for one in names) and not is_in_test(file, node):
            yield Finding(Spot(file.source, node), Outcome.BY_HAND, _NO_NCCL)
            return  # once per file


def _package(path: str) -> str | None:
    if path.partition(".")[0] not in _FIRST_PARTS:
        return None
    return next((one for one in _PACKAGES if f"{path}.".startswith(f"{one}.")), None)


def _paths(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if statement.level:
        return []
    return [f"{statement.module}.{alias.name}" for alias in statement.names]


def _is_optional(statement: ast.stmt, file: File) -> bool:
    above = file.parent(statement)
    return isinstance(above, ast.Try) and statement in above.body and bool(above.handlers)


def _is_own(statement: ast.Import | ast.ImportFrom, file: File) -> bool:
    """Whether the project brings a module with that name."""
    alias = statement.names[0]
    bound = file.names.bound_to(file.source, alias.asname or alias.name.partition(".")[0])
    return alias.name != "*" and None in bound

"""Choose the data layout yourself.

Some programs take `channels_first` when TensorFlow was built for CUDA, or finds a GPU, and
`channels_last` otherwise. On an NPU host that question means nothing. Both layouts are
supported, and the results are the same; but checkpoints, exported models and speed follow the
layout, so say which one you want.

    -data_format = 'channels_first' if tf.test.is_built_with_cuda() else 'channels_last'
    +data_format = 'channels_first'

By hand: always.

Source: Ascend TF Adapter 1.x migration guide, supported data formats.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.SPEED
_LAYOUTS = ("channels_first", "channels_last", "NCHW", "NHWC")


@on_call("tf.test.is_built_with_cuda", "tf.test.is_gpu_available")
def gpu_layout(call: Call, file: File) -> Iterator[Finding]:
    layout = _without_gpu(call, file)
    if layout is not None and not is_in_test(file, call.node):
        result = f"; without CUDA this gives `{layout}`" if layout else ""
        message = f"write the layout that you want: an NPU supports both{result}"
        yield Finding(call, Outcome.BY_HAND, message)


def _without_gpu(call: Call, file: File) -> str | None:
    """The layout that is taken where there is no GPU; None when no layout is chosen."""
    below: ast.AST = call.node
    is_turned = False
    for above in file.parents(call.node):
        if isinstance(above, ast.If | ast.IfExp) and below is above.test:
            branches = _layouts(above.body), _layouts(above.orelse)
            return branches[not is_turned] if branches[0] else None
        if isinstance(above, ast.stmt):
            break
        is_turned ^= isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)
        below = above
    return None


def _layouts(branch: list[ast.stmt] | ast.expr) -> str:
    for part in branch if isinstance(branch, list) else [branch]:
        for node in ast.walk(part):
            if isinstance(node, ast.Constant) and node.value in _LAYOUTS:
                return str(node.value)
    return ""

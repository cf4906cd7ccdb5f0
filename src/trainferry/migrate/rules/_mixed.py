"""Whether code was already taken out of what is compiled for the NPU."""

from __future__ import annotations

import ast

from trainferry.migrate.file import File


def is_kept_on_host(node: ast.AST, file: File) -> bool:
    """Whether a node stands under `with npu_scope.without_npu_compile_scope():`."""
    return any(
        "without_npu_compile_scope" in file.text(item.context_expr)
        for above in file.parents(node)
        if isinstance(above, ast.With)
        for item in above.items
    )

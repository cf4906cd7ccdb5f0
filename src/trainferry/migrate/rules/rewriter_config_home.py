"""Import `RewriterConfig` from where it is.

Some texts about the NPU have `RewriterConfig` in `config_pb2`; there is none there, and the
import fails.

    -from tensorflow.core.protobuf.config_pb2 import RewriterConfig
    +from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig

By hand: `config_pb2.RewriterConfig`, and imports of several names at once.

Source: TensorFlow 1.15, tensorflow/core/protobuf/rewriter_config.proto.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file

CONCERN = Concern.RUN
LINT = True

_WRONG = "tensorflow.core.protobuf.config_pb2"
_RIGHT = "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig"


@on_file
def import_rewriter(file: File) -> Iterator[Finding]:
    for statement in file.imports:
        if isinstance(statement, ast.ImportFrom) and statement.module == _WRONG:
            yield from _moved(file, statement)
    for node, name in file.uses:
        is_wrong = name.startswith(_WRONG) and f"{name}.".startswith(f"{_WRONG}.RewriterConfig.")
        if is_wrong and isinstance(node, ast.Attribute) and "config_pb2." in file.text(node):
            message = f"`RewriterConfig` is not in `config_pb2`; write `{_RIGHT}`"
            yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _moved(file: File, statement: ast.ImportFrom) -> Iterator[Finding]:
    names = [alias.name for alias in statement.names]
    if "RewriterConfig" not in names:
        return
    spot = Spot(file.source, statement)
    text = file.text(statement)
    if len(names) > 1 or _WRONG not in text:
        message = f"`RewriterConfig` is not in `config_pb2`; write `{_RIGHT}`"
        yield Finding(spot, Outcome.BY_HAND, message)
        return
    start = file.source.span(statement)[0] + text.index(_WRONG) + len(_WRONG) - len("config_pb2")
    edit = Edit(start, start, "rewriter_")
    yield Finding(spot, Outcome.CHANGED, "`RewriterConfig` is in `rewriter_config_pb2`", (edit,))

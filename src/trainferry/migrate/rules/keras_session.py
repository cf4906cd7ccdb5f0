"""Open the session of Keras on the NPU.

A model of `tf.keras` trains in a session that Keras opens by itself, on the host. A program that
trains or runs one, or asks for that session (`K.get_session()`), is given a session for the NPU
where it begins; it closes with the program, also after an error and after `tf.app.run()`. With
`--adapter patched` importing the adapter is enough: it puts the NPU into every session.

     if __name__ == "__main__":
    +    npu_keras_sess = set_keras_session_npu_config(config=None)
    +    atexit.register(close_session, npu_keras_sess)
         main()

By hand: models that run in functions of files that no program of the project imports, programs
with graphs of their own, and an `if __name__ == "__main__":` on one line whose function is not
in the file.
Not touched: programs that call `K.set_session`, whose session another rule configures, unit
tests, eager programs, and Keras layers inside an Estimator's `model_fn`.

Source: Ascend TF Adapter 1.x migration guide, migration with Keras; TF Adapter 1.15,
npu_bridge/npu_init.py, `set_keras_session_npu_config`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.eager import is_eager
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.imports import add_imports, is_imported, taken_name
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._distributed import imports_of
from trainferry.migrate.rules._keras import (
    GET_SESSION,
    called_function,
    has_session,
    imported_files,
    program_start,
    runs_of_models,
)
from trainferry.migrate.rules._npu import has_name
from trainferry.migrate.statements import insert_before

CONCERN = Concern.RUN

_SESSION = "npu_keras_sess"
_OPEN = f"{_SESSION} = set_keras_session_npu_config(config=None)"
_CLOSE = f"atexit.register(close_session, {_SESSION})"
_ADAPTER = "from npu_bridge import npu_init"
_OWN_GRAPHS = ("tf.Graph", "tf.reset_default_graph")


@on_file
def keras_session(file: File) -> Iterator[Finding]:
    run = next(runs_of_models(file), None)
    start = program_start(file)
    if file.options.adapter == "patched":
        if run is not None and not is_eager(file):
            yield from _import_adapter(file, run.node)
    elif start is None:
        is_run = run is not None and run.name != GET_SESSION  # a library may only ask for it
        if run is not None and is_run and not _is_part_of_a_program(file):
            message = f"where the program begins write `{_OPEN}` and `{_CLOSE}`"
            yield from () if _is_served(file) else [Finding(run, Outcome.BY_HAND, message)]
    elif (run is not None or _runs_parts(file)) and not _is_served(file):
        yield _opened(file, start)


def _is_served(file: File) -> bool:
    """Whether the program has a session for Keras, or none at all because it is eager."""
    return any(is_eager(one) or has_session(one) for one in (file, *imported_files(file)))


def _runs_parts(file: File) -> bool:
    """Whether a program runs models in files that it imports and that are no programs."""
    return any(
        program_start(other) is None and next(runs_of_models(other), None) is not None
        for other in imported_files(file)
    )


def _is_part_of_a_program(file: File) -> bool:
    return any(
        program_start(other) is not None and file in imported_files(other)
        for other in file.project.files
        if other is not file
    )


def _opened(file: File, start: ast.stmt) -> Finding:
    spot = Spot(file.source, start)
    text = f"`{_OPEN}` and `{_CLOSE}`"
    if any(file.calls_of(*_OWN_GRAPHS)):
        message = f"in the graph of the model, before it is built, write {text}"
        return Finding(spot, Outcome.BY_HAND, message)
    edit = _insert(file, start)
    if edit is None or has_name(file, _SESSION):
        return Finding(spot, Outcome.BY_HAND, f"before the program begins, write {text}")
    message = "Keras trains in this session on the NPU, which closes with the program"
    imports = ("import atexit", *imports_of("close_session", "set_keras_session_npu_config"))
    return Finding(spot, Outcome.CHANGED, message, (edit,), imports)


def _insert(file: File, start: ast.stmt) -> Edit | None:
    text = f"{_OPEN}\n{_CLOSE}"
    edit = insert_before(file, start, text)
    function = called_function(file, start)
    if edit is not None or function is None:
        return edit
    body = function.body  # `if __name__ == "__main__": main()` has no room of its own
    has_docstring = ast.get_docstring(function, clean=False) is not None and len(body) > 1
    return insert_before(file, body[1] if has_docstring else body[0], text)


def _import_adapter(file: File, run: ast.Call) -> Iterator[Finding]:
    if is_imported(file, _ADAPTER) or any(_is_star(one) for one in file.imports):
        return
    spot = Spot(file.source, run)
    edit = add_imports(file, (_ADAPTER,), (run,))
    if edit is None or taken_name(file, (_ADAPTER,), run):
        message = "import `npu_bridge.npu_init` before the model is built; it patches all sessions"
        yield Finding(spot, Outcome.BY_HAND, message)
    else:
        message = f"`{_ADAPTER}` puts the NPU into the session that Keras opens"
        yield Finding(spot, Outcome.CHANGED, message, (edit,))


def _is_star(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "npu_bridge.npu_init"

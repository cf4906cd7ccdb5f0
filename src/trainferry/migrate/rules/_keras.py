"""What the rules for Keras ask: what runs a model, what is eager, where a program begins."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.entries import is_main_guard
from trainferry.migrate.file import File, Function, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.nodes import walk
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name

MODEL = "tf.keras.Model"
SET_SESSION = "tf.keras.backend.set_session"
GET_SESSION = "tf.keras.backend.get_session"
_RUNS = (
    *("fit", "fit_generator", "train_on_batch", "evaluate", "evaluate_generator"),
    *("test_on_batch", "predict", "predict_generator", "predict_on_batch"),
)
_TESTS = ("unittest.main", "tf.test.main", "absl.testing.absltest.main", "pytest.main")


def runs_of_models(file: File) -> Iterator[Call]:
    """Calls that run a model of `tf.keras` or ask for its session, but not those of unit tests."""
    return iter(file.once(_find_runs))


def _find_runs(file: File) -> tuple[Call, ...]:
    return tuple(_runs(file))


def _runs(file: File) -> Iterator[Call]:
    for method in _RUNS:
        for call in file.method_calls(method):
            if call.name == f"{MODEL}.{method}" and not is_in_test(file, call.node):
                yield call
    for call in file.calls_of(GET_SESSION):  # opens one if there is none
        if not is_in_test(file, call.node):
            yield call


def has_session(file: File) -> bool:
    """Whether a file gives Keras a session already."""
    return any(
        name == SET_SESSION or npu_name(name) == "set_keras_session_npu_config"
        for name in file.used
    )


def imported_files(file: File) -> tuple[File, ...]:
    """Files of the project that a file may import, by their names."""
    return file.once(_find_imported)


def _find_imported(file: File) -> tuple[File, ...]:
    names = {
        part
        for node in file.imports
        for alias in node.names
        for part in (*alias.name.split("."), *_module_parts(node))
    }
    by_stem = file.project.once(_by_stem)
    found = sorted(place for name in names for place in by_stem.get(name, ()))
    files = file.project.files
    return tuple(files[place] for place in found if files[place] is not file)


def _by_stem(project: ProjectFiles) -> dict[str, list[int]]:
    """Where in the project's files those with a name are."""
    found: dict[str, list[int]] = {}
    for place, file in enumerate(project.files):
        found.setdefault(file.source.path.stem, []).append(place)
    return found


def _module_parts(node: ast.Import | ast.ImportFrom) -> list[str]:
    return (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []


def program_start(file: File) -> ast.stmt | None:
    """The first statement of a program that does something; None where a file is none."""
    return file.once(_find_start)


def _find_start(file: File) -> ast.stmt | None:
    guard = next((one for one in file.source.tree.body if _is_guard(one)), None)
    if isinstance(guard, ast.If):
        if any(file.full_name(node.func) in _TESTS for node in _calls_in(guard)):
            return None
        return next((one for one in guard.body if _acts(file, one)), guard.body[0])
    if not any(_runs_at_top(file, call.node) for call in runs_of_models(file)):
        return None
    return next((one for one in file.source.tree.body if _acts(file, one)), None)


def called_function(file: File, statement: ast.stmt) -> Function | None:
    """The function of the file that a statement calls, as `main()` or `sys.exit(main())`."""
    by_name = {one.name: one for one in file.functions if file.parent(one) is file.source.tree}
    for call in _calls_in(statement):
        if isinstance(call.func, ast.Name) and call.func.id in by_name:
            return by_name[call.func.id]
    return None


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and is_main_guard(statement.test)


def _runs_at_top(file: File, node: ast.AST) -> bool:
    """Whether code runs when the file does: at the top, or in a function that is called there."""
    function = file.function(node)
    if function is None:
        return True
    return any(
        called_function(file, one) is function
        for one in file.source.tree.body
        if not isinstance(one, Function | ast.ClassDef)
    )


def _acts(file: File, statement: ast.stmt) -> bool:
    """Whether a statement uses TensorFlow, or calls a function or class of the project."""
    if isinstance(statement, Function | ast.ClassDef | ast.Import | ast.ImportFrom):
        return False
    own = {one.name for one in (*file.functions, *file.classes)} | file.once(_imported_names)
    for call in _calls_in(statement):
        name = file.full_name(call.func) or ""
        if name.startswith(("tf.keras.", "tensorflow.python.keras.", "tf.app.run", "absl.app.run")):
            return True
        if _first_name(call.func) in own or file.class_of(call):
            return True
        if isinstance(call.func, ast.Attribute) and file.class_of(call.func.value):
            return True
    return False


def _imported_names(file: File) -> frozenset[str]:
    """The names that a file's imports bind to parts of the project."""
    return frozenset(
        one.asname or one.name.partition(".")[0]
        for node in file.imports
        for one in node.names
        if _is_of_project(file, node, one)
    )


def _is_of_project(file: File, node: ast.Import | ast.ImportFrom, one: ast.alias) -> bool:
    if isinstance(node, ast.Import):
        return bool(file.names.own_modules(file.source, tuple(one.name.split(".")), 0))
    module = tuple(node.module.split(".")) if node.module else ()
    return any(
        file.names.own_modules(file.source, parts, node.level)
        for parts in (module, (*module, one.name))
        if parts or node.level
    )


def _first_name(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in walk(statement) if isinstance(node, ast.Call))

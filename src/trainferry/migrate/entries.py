"""Where a project's programs start, and which arguments they take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rules._imported import imported_files
from trainferry.migrate.rules._sessions import session_calls

_STARTERS = ("tf.app.run", "absl.app.run")
_RUNNERS = ("tf.estimator.train_and_evaluate",)
_TRAINERS = {
    "train": frozenset(("tf.estimator.Estimator",)),
    "fit": frozenset(("tf.keras.Model", "keras.Model")),
    "fit_generator": frozenset(("tf.keras.Model", "keras.Model")),
}
_READS = frozenset(("eval", "evaluate", "export", "predict", "test", "infer", "convert"))
_SHOWS = frozenset(("demo", "freeze", "generate", "inference", "sample", "tests", "visualize"))
_INSIDE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LIBRARIES = frozenset(("tf", "tensorflow", "keras", "horovod", "npu_bridge", "tf_slim"))
_OTHER_FRAMEWORKS = frozenset(("torch", "mxnet"))  # that Horovod serves, too


@dataclass(frozen=True)
class Argument:
    """One argument of a program: `--batch_size`, its default as written, and its help."""

    name: str
    default: str | None
    is_required: bool
    help: str


@dataclass(frozen=True)
class Entry:
    """A program that a user starts; `trains` when its name or code says so.

    `module` is what to start it by, with `python -m`, where Python cannot run the file itself.
    """

    path: PurePosixPath
    line: int
    trains: bool
    arguments: tuple[Argument, ...]
    module: str | None = None


def find_entries(files: Iterable[File]) -> tuple[Entry, ...]:
    """Find programs that use TensorFlow, those that train first; tests are none.

    Where no program says that it trains, those do that import an optimizer with their model.
    """
    found = {entry: file for file in files if (entry := find_entry(file)) is not None}
    if not any(entry.trains for entry in found):
        found = {replace(entry, trains=_may_train(file)): file for entry, file in found.items()}
    return tuple(sorted(found, key=lambda entry: (not entry.trains, entry.path)))


def programs(entries: Iterable[Entry]) -> list[Entry]:
    """Those that train; all of them where none does."""
    known = list(entries)
    return [entry for entry in known if entry.trains] or known


def find_entry(file: File) -> Entry | None:
    path = file.source.path
    if path.suffix == ".ipynb" or _is_test(path) or not _uses_tensorflow(file):
        return None
    body: list[ast.AST] = [one for one in file.source.tree.body if starts_program(file, one)]
    start = next(iter(body), None)
    if start is None and not _is_imported(file):
        start = _first_run(file)
    if start is None:
        return None
    line, arguments = file.source.line_of(start), tuple(_arguments(file))
    return Entry(path, line, _trains(file), arguments, _module(file))


def _module(file: File) -> str | None:
    """The module of a file that imports from its own package, as only modules can."""
    parts = file.source.path.with_suffix("").parts
    body = file.source.tree.body
    is_relative = any(isinstance(one, ast.ImportFrom) and one.level for one in body)
    if not is_relative or len(parts) == 1 or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts[:-1] if parts[-1] == "__main__" else parts)


def starts_program(file: File, statement: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__":`, or starts an app outside of it."""
    if isinstance(statement, ast.If):
        return is_main_guard(statement.test)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and file.full_name(statement.value.func) in _STARTERS
    )


def _first_run(file: File) -> ast.AST | None:
    """The first place outside of all functions that opens a session, trains, or starts an app."""
    runs = [call.node for call in file.calls if call.name in (*_STARTERS, *_RUNNERS)]
    runs += [call.node for call, _, _ in session_calls(file)]
    runs += [call.node for call in _training_calls(file)]
    runs += _own_trainings(file)
    runs += _calls_that_run(file, runs)
    at_top = [one for one in runs if not any(isinstance(a, _INSIDE) for a in file.parents(one))]
    return min(at_top, key=file.source.span, default=None)


def _calls_that_run(file: File, runs: list[ast.Call]) -> list[ast.Call]:
    """Calls of the file's own functions that come to one of these places: `main()`."""
    functions = [one for one in file.source.tree.body if isinstance(one, ast.FunctionDef)]
    calls = [one for one in file.nodes(ast.Call) if isinstance(one.func, ast.Name)]
    found: list[ast.Call] = []
    todo = {one.name for one in functions if any(one in file.parents(run) for run in runs)}
    seen: set[str] = set()
    while todo:
        seen |= todo
        these = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id in todo]
        found += these
        callers = {one.name for one in functions if any(one in file.parents(c) for c in these)}
        todo = callers - seen
    return found


def _training_calls(file: File) -> Iterator[Call]:
    for method, owners in _TRAINERS.items():
        yield from (
            call
            for call in file.method_calls(method)
            if call.name.removesuffix(f".{method}") in owners
        )


def _own_trainings(file: File) -> Iterator[ast.Call]:
    """Calls of `….fit(…)` of the project's classes, where these make their optimizer."""
    for method in _TRAINERS:
        for call in file.unresolved_calls(method):
            found = file.project.values.function_of(file.source, call.func)
            if found is None:
                continue
            home = file.project.file_of(found[0])
            if home.class_around(found[1]) is not None and _makes_optimizer(home):
                yield call


def _is_imported(file: File) -> bool:
    """Whether another file of the project may import this one; rather yes than no."""
    parts = file.source.module.split(".")
    imported = file.project.once(_all_imported)
    return any(".".join(parts[index:]) in imported for index in range(len(parts)))


def _all_imported(project: ProjectFiles) -> frozenset[str]:
    found: set[str] = set()
    for file in project.files:
        for node in file.imports:
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            found |= {module, *(f"{module}.{alias.name}".strip(".") for alias in node.names)}
    return frozenset(found)


def is_main_guard(test: ast.expr) -> bool:
    """Whether a condition compares `__name__` with `"__main__"`, either way round."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return False
    sides = [test.left, test.comparators[0]]
    names = [one.id for one in sides if isinstance(one, ast.Name)]
    texts = [one.value for one in sides if isinstance(one, ast.Constant)]
    return isinstance(test.ops[0], ast.Eq) and names == ["__name__"] and texts == ["__main__"]


def _uses_tensorflow(file: File) -> bool:
    modules = _imported(file)
    roots = {module.partition(".")[0] for module in modules}
    if roots & _LIBRARIES == {"horovod"} and roots & _OTHER_FRAMEWORKS:
        return False
    if roots & _LIBRARIES:
        return True
    stems = {module.rpartition(".")[2] for module in modules}
    return not stems.isdisjoint(file.project.once(_stems_with_tensorflow))


def _stems_with_tensorflow(project: ProjectFiles) -> frozenset[str]:
    return frozenset(file.source.path.stem for file in project.files if file.libraries & _LIBRARIES)


def _imported(file: File) -> set[str]:
    """Modules, and names that may be modules, of all imports."""
    found: set[str] = set()
    for node in file.imports:
        found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def _is_test(path: PurePosixPath) -> bool:
    stem = path.stem
    return stem.startswith("test_") or stem.endswith("_test") or stem in ("setup", "conftest")


def _words(file: File) -> set[str]:
    return set(file.source.path.stem.lower().replace("-", "_").split("_"))


def _trains(file: File) -> bool:
    words = _words(file)
    if _READS & words:
        return False
    if any(word.startswith("train") for word in words):
        return True
    return _makes_optimizer(file) or any(_training_calls(file)) or any(_own_trainings(file))


def _makes_optimizer(file: File) -> bool:
    return any(
        name in call.name
        for call in file.calls
        for name in ("train_and_evaluate", "Optimizer", "learning.train")
    )


def _may_train(file: File) -> bool:
    """Whether a program comes to an optimizer through its imports, and is not called otherwise."""
    words = _words(file)
    if _READS & words or _SHOWS & words:
        return False
    found = [file]
    for one in found:
        found += [other for other in imported_files(one) if other not in found]
    return any(_makes_optimizer(one) for one in found)


def _arguments(file: File) -> Iterator[Argument]:
    for call in file.calls:
        kind = call.name.rpartition(".")[2]
        if kind.startswith("DEFINE_") and call.name.startswith(
            ("tf.app.flags", "tf.flags", "absl.")
        ):
            yield from _flag(call, file)
    for node in file.names.attribute_calls(file.source, "add_argument"):
        yield from _parser_argument(node, file)


def _flag(call: Call, file: File) -> Iterator[Argument]:
    name = call.argument(0, "name")
    place = 2 if call.name.endswith("DEFINE_enum") else 1
    default = call.argument(1, "default")
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        text = None if default is None else file.text(default)
        yield Argument(f"--{name.value}", _one_line(text), False, _help(call.node, place + 1))


def _parser_argument(node: ast.Call, file: File) -> Iterator[Argument]:
    names = [
        one.value
        for one in node.args
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    if not names:
        return
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    name = next((one for one in names if one.startswith("--")), names[0])
    required = given.get("required")
    is_required = not name.startswith("-") or (
        isinstance(required, ast.Constant) and required.value is True
    )
    default = given.get("default")
    text = None if default is None else file.text(default)
    yield Argument(name, _one_line(text), is_required, _help(node, len(node.args)))


def _help(node: ast.Call, place: int) -> str:
    given = next((one.value for one in node.keywords if one.arg == "help"), None)
    if given is None and len(node.args) > place:
        given = node.args[place]
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return " ".join(given.value.split())
    return ""


def _one_line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())

"""Where code runs: in the model, on the NPU, or beside it: input pipelines and unit tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File, Function, ProjectFiles
from trainferry.migrate.nodes import walk

_PIPELINE_METHODS = (
    "map",
    "flat_map",
    "interleave",
    "filter",
    "from_generator",
    "map_and_batch",
    "parallel_interleave",
    "group_by_window",
)
_TAKES_HOST_FUNCTION = frozenset(("tf.py_func", "tf.py_function", "tf.numpy_function"))
_PARSES = re.compile(
    r"tf\.(io\.)?(parse_(single_)?(sequence_)?example|decode_raw|decode_csv|read_file"
    r"|decode_(image|jpeg|png|and_crop_jpeg))$"
    r"|tf\.(image\.decode_|contrib\.slim\.tfexample_decoder|python_io\.TFRecordWriter"
    r"|FixedLenFeature|VarLenFeature|io\.(FixedLenFeature|VarLenFeature)|TFRecordReader)"
)
_INPUT_NAME = re.compile(
    r"(^|_)(inputs?|input_fn|datasets?|tfrecords?|records?|readers?|providers?|loaders?"
    r"|parse|parser|parsers|preproc\w*|augment\w*)(_|$)"
)
_INPUT_FOLDERS = frozenset(("datasets", "preprocessing", "data_decoders"))
_TESTS = ("tf.test.TestCase", "tf.test.main")


def is_on_device(file: File, node: ast.AST) -> bool:
    """Whether code builds the model: neither an input pipeline nor a unit test.

    A guess from names and from who calls whom. It decides only whether something is told.
    """
    if is_test(file) or _is_input_file(file):
        return False
    host = file.project.once(_host_functions)
    return not any(id(above) in host for above in (node, *file.parents(node)))


def is_test(file: File) -> bool:
    """Whether a file holds unit tests."""
    return file.once(_has_tests)


def _has_tests(file: File) -> bool:
    return any(name in _TESTS for name in file.used) or any(
        alias.name.partition(".")[0] in ("unittest", "pytest")
        for statement in file.imports
        for alias in statement.names
    )


def _is_input_file(file: File) -> bool:
    path = file.source.path
    return bool(_INPUT_NAME.search(path.stem)) or not _INPUT_FOLDERS.isdisjoint(path.parts[:-1])


def _host_functions(project: ProjectFiles) -> frozenset[int]:
    """The functions of input pipelines, and all that they call, by identity."""
    by_name: dict[str, list[tuple[File, Function]]] = {}
    for file in project.files:
        for function in file.functions:
            by_name.setdefault(function.name, []).append((file, function))
    todo = [found for file in project.files for found in _starts(file, by_name)]
    seen: set[int] = set()
    while todo:
        file, node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        # Not `file.inside`: most of these files need no index for anything else.
        for call in walk(node):
            if isinstance(call, ast.Call):
                todo += _defined(call.func, file, by_name)
    return frozenset(seen)


_ByName = dict[str, list[tuple[File, Function]]]
_Body = tuple[File, Function | ast.Lambda]


def _starts(file: File, by_name: _ByName) -> Iterator[_Body]:
    for call in _pipeline_calls(file):
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            yield from _passed(argument, file, by_name)
    for known in file.calls:
        function = file.function(known.node) if _PARSES.match(known.name) else None
        if function is not None:
            yield file, function
    for function in file.functions:
        if _INPUT_NAME.search(function.name):
            yield file, function


def _pipeline_calls(file: File) -> Iterator[ast.Call]:
    for method in _PIPELINE_METHODS:
        yield from file.names.attribute_calls(file.source, method)
    yield from (call.node for call in file.calls_of(*_TAKES_HOST_FUNCTION))


def _passed(node: ast.expr, file: File, by_name: _ByName) -> Iterator[_Body]:
    if isinstance(node, ast.Lambda):
        yield file, node
    elif isinstance(node, ast.Call):  # functools.partial(parse, training=True)
        for argument in node.args:
            yield from _passed(argument, file, by_name)
    else:
        yield from _defined(node, file, by_name)


def _defined(node: ast.expr, file: File, by_name: _ByName) -> list[_Body]:
    """The functions of the project that a name may be: those of its file, or the only one."""
    name = getattr(node, "attr", None) if isinstance(node, ast.Attribute) else None
    if isinstance(node, ast.Name):
        name = node.id
    found = by_name.get(name or "", [])
    here: list[_Body] = [one for one in found if one[0] is file]
    return here or ([*found] if len(found) == 1 else [])

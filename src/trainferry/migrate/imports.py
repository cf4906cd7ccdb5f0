"""Puts the imports that new code needs into a file: only those, once, in the right place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, Function
from trainferry.migrate.library import ADAPTER, canonical_name
from trainferry.migrate.lines import line_end, line_start
from trainferry.migrate.statements import new_lines_behind

_NOWHERE = float("inf")
_CONTINUED = re.compile(rb"\\(?:\r\n|\r|\n)")


@dataclass(frozen=True)
class Import:
    """What one import statement binds."""

    name: str
    path: str

    @classmethod
    def parse(cls, statement: str) -> Import:
        (node,) = ast.parse(statement).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        (alias,) = node.names
        if isinstance(node, ast.ImportFrom):
            return cls(alias.asname or alias.name, f"{node.module}.{alias.name}")
        name = alias.asname or alias.name.partition(".")[0]
        return cls(name, alias.name if alias.asname else name)

    def is_same(self, found: str | None) -> bool:
        """Whether a full name is what the statement imports."""
        if found is None:
            return False
        if found.partition(".")[0] in ADAPTER:  # the star import has other paths for the same
            return found.rpartition(".")[2] == self.path.rpartition(".")[2]
        return found == canonical_name(self.path)


def is_imported(file: File, statement: str) -> bool:
    """Whether the top of the file binds the statement's name to the same thing."""
    wanted = Import.parse(statement)
    return wanted.is_same(file.names.top_name(file.source, wanted.name))


def taken_name(file: File, statements: Iterable[str], user: ast.AST) -> str | None:
    """The first name of these imports that the file, or the class around `user`, uses otherwise."""
    for statement in statements:
        wanted = Import.parse(statement)
        bound = file.names.bound_to(file.source, wanted.name)
        is_other = not all(wanted.is_same(one) for one in bound)
        if is_other or _is_declared(file, wanted.name) or _is_hidden(file, user, wanted.name):
            return wanted.name
    return None


def _is_declared(file: File, name: str) -> bool:
    """Whether a `global` or `nonlocal` has the name: Python refuses one that comes behind a use."""
    declarations: list[ast.Global | ast.Nonlocal] = [
        *file.nodes(ast.Global),
        *file.nodes(ast.Nonlocal),
    ]
    return any(name in one.names for one in declarations)


def _is_hidden(file: File, user: ast.AST, name: str) -> bool:
    """Whether a class has the name for itself right around the code, or may have, by a star."""
    if any(_is_star_around(file, one, user) for one in file.imports):
        return True
    below = user
    for above in file.parents(user):
        # Decorators and defaults of a method belong to the class.
        if isinstance(above, Function | ast.ClassDef) and below in above.body:
            is_class = isinstance(above, ast.ClassDef)
            return is_class and any(_is_bound_by(node, name) for node in ast.walk(above))
        below = above
    return False


def _is_star_around(file: File, node: ast.Import | ast.ImportFrom, user: ast.AST) -> bool:
    """Whether Python 2 may get any name from here, by a star in the same function or class."""
    if node.names[0].name != "*":
        return False
    scope = file.function(node) or file.class_around(node)
    return scope is not None and scope in file.parents(user)


def _is_bound_by(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return name == (node.asname or node.name.partition(".")[0])
    return not isinstance(node, ast.keyword) and getattr(node, "name", None) == name


def add_imports(
    file: File,
    statements: Iterable[str],
    users: Iterable[ast.AST] = (),
    new_lines: Iterable[int] = (),
) -> Edit | None:
    """The edit that puts the missing ones among these statements into the file.

    `users` is the code that needs them, `new_lines` where more of it is put in; what runs while
    the file is imported must come behind.
    """
    places = [file.source.span(one)[0] for one in users if _runs_at_once(file, one)]
    places += [place for place in new_lines if not _is_in_function(file, place)]
    first_use = min(places, default=_NOWHERE)
    missing = sorted(
        {one for one in statements if not _is_ready(file, one, first_use)},
        key=lambda one: (one.startswith("from "), one),
    )
    return _edit(file, missing, first_use) if missing else None


def _runs_at_once(file: File, node: ast.AST) -> bool:
    """Whether code runs while the file is imported, as decorators and defaults do, too."""
    below = node
    for above in file.parents(node):
        if isinstance(above, Function) and below in above.body:
            return False
        below = above
    return True


def _is_in_function(file: File, place: int) -> bool:
    spans = (file.source.span(one) for one in file.functions)
    return any(start < place <= end for start, end in spans)


def _is_ready(file: File, statement: str, first_use: float) -> bool:
    """Whether the name is imported, and not too late or for type checkers only."""
    if not is_imported(file, statement):
        return False
    name = Import.parse(statement).name
    places = [one for one in file.imports if file.function(one) is None and _binds(one, name)]
    return not places or any(
        file.source.span(one)[0] < first_use and not _is_for_type_checkers(file, one)
        for one in places
    )


def _binds(node: ast.Import | ast.ImportFrom, name: str) -> bool:
    return any(
        alias.name == "*" or name == (alias.asname or alias.name.partition(".")[0])
        for alias in node.names
    )


def _is_for_type_checkers(file: File, node: ast.stmt) -> bool:
    return any(isinstance(one, ast.If) and _names_type_checking(one) for one in file.parents(node))


def _edit(file: File, missing: list[str], first_use: float) -> Edit:
    body = file.source.tree.body
    after = _last_before(file, first_use)
    if after is None:
        return _new_lines(_top(file), missing)
    index = body.index(after)
    if not _shares_line(file, index):
        return new_lines_behind(file, after, "\n".join(missing))
    # `import tensorflow as tf; x = tf.zeros([])`: what is behind may need the import already.
    first = next(one for one in range(index, -1, -1) if one == 0 or not _shares_line(file, one - 1))
    if _is_docstring(body[first], first) or _is_future(body[first]):
        start = file.source.span(body[index + 1])[0]
        return Edit(start, start, "".join(f"{statement}; " for statement in missing))
    return _new_lines(line_start(file.source.data, file.source.span(body[first])[0]), missing)


def _shares_line(file: File, index: int) -> bool:
    """Whether a statement at the top stands on one line with the next, also with a backslash."""
    this, *others = file.source.tree.body[index : index + 2]
    if not others:
        return False
    between = file.source.data[file.source.span(this)[1] : file.source.span(others[0])[0]]
    return not _CONTINUED.sub(b"", between).strip(b" \t\f;")


def _new_lines(place: int, statements: list[str]) -> Edit:
    return Edit(place, place, "".join(f"{statement}\n" for statement in statements))


def _last_before(file: File, first_use: float) -> ast.stmt | None:
    """TensorFlow's import, else the last of the first block of imports; None for the top."""
    after: ast.stmt | None = None
    in_first_block = True
    for index, statement in enumerate(file.source.tree.body):
        if _is_docstring(statement, index) or _is_future(statement):
            after = statement
        elif file.source.span(statement)[1] > first_use:
            break
        elif _imports_tensorflow(statement):
            return statement
        elif in_first_block and isinstance(statement, ast.Import | ast.ImportFrom):
            after = statement
        elif not _is_magic(file, statement):
            in_first_block = False
    return after


def _is_docstring(statement: ast.stmt, index: int) -> bool:
    return (
        index == 0
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _imports_tensorflow(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If) and (
        _names_type_checking(statement) or "__name__" in _names_in(statement.test)
    ):
        return False
    if isinstance(statement, ast.Try | ast.If | ast.With):  # `try: import tensorflow.compat.v1`
        inner = [*statement.body, *getattr(statement, "orelse", [])]
        return any(_imports_tensorflow(one) for one in inner)
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and (statement.module or "").partition(".")[0] == "tensorflow"
    return isinstance(statement, ast.Import) and any(
        alias.name.partition(".")[0] == "tensorflow" for alias in statement.names
    )


def _names_type_checking(statement: ast.If) -> bool:
    return "TYPE_CHECKING" in _names_in(statement.test)


def _names_in(node: ast.expr) -> set[str]:
    parts = list(ast.walk(node))
    names = {one.id for one in parts if isinstance(one, ast.Name)}
    return names | {one.attr for one in parts if isinstance(one, ast.Attribute)}


def _is_magic(file: File, statement: ast.stmt) -> bool:
    return file.source.notebook is not None and file.text(statement)[:1] in ("%", "!", "?")


def _top(file: File) -> int:
    """Behind byte order mark, shell line and encoding; in a notebook, behind its first magics."""
    data = file.source.data
    place = line_start(data, 0)
    if file.source.notebook is not None:
        body = file.source.tree.body
        first = next((one for one in body if not _is_magic(file, one)), None)
        if first is None:
            return place
        parts = [first, *getattr(first, "decorator_list", [])]
        return line_start(data, min(file.source.span(one)[0] for one in parts))
    for _ in range(2):
        line = data[place : line_end(data, place)]
        if not (line.startswith(b"#!") or (line.startswith(b"#") and b"coding" in line)):
            break
        place = line_end(data, place)
    return place

"""A project and its sources: any encoding, line end, version of Python, and notebooks.

    project = read_project(Path("my_project"))
    for source in project.sources: ...

A file that cannot be read is told with line and reason, and the rest goes on.
"""

from __future__ import annotations

import ast
import functools
import gc
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainferry.errors import UsageError
from trainferry.migrate.edit import Edit, apply_edits
from trainferry.migrate.nodes import Nodes
from trainferry.migrate.reading.cells import parse_cells
from trainferry.migrate.reading.encoding import Decoded, decode
from trainferry.migrate.reading.notebook import Notebook, read_notebook
from trainferry.migrate.reading.parse import Parsed, parse
from trainferry.migrate.reading.positions import CannotRead
from trainferry.migrate.reading.walk import Found, find_sources

LARGEST_BYTES = 10_000_000

_Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern


@dataclass(frozen=True)
class Unreadable:
    """A file or notebook cell that cannot be read; line 1 also where no line is to blame."""

    path: PurePosixPath
    line: int
    reason: str


@dataclass(frozen=True, eq=False)
class Source:
    """One file of the project with its tree.

    `data` is the Python that spans and edits count in: the file's own bytes, or the code cells
    of a notebook. `edited` gives the bytes of the file.
    """

    path: PurePosixPath
    data: bytes
    encoding: str
    tree: ast.Module
    module: str
    python: int
    file: bytes
    decoded: Decoded
    parsed: Parsed
    notebook: Notebook | None = None
    unreadable: tuple[Unreadable, ...] = ()
    skipped: tuple[tuple[PurePosixPath, str], ...] = ()

    @functools.cached_property
    def nodes(self) -> Nodes:
        """All nodes by kind, and what each stands in."""
        return Nodes(self.tree)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where `node` stands in `data`; brackets around it and decorators are not part of it."""
        if isinstance(node, ast.Module):
            return 0, len(self.data)
        assert isinstance(node, _Placed), f"{type(node).__name__} has no place of its own"
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.parsed.start(node.lineno, node.col_offset)
        end = self.parsed.end(node.end_lineno, node.end_col_offset)
        return self._place(start), self._place(end)

    def text_of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode(self.encoding)

    def line_of(self, node: ast.AST) -> int:
        """The line in the file; for a notebook, in its JSON."""
        if isinstance(node, ast.Module):
            return 1
        assert isinstance(node, _Placed), f"{type(node).__name__} has no place of its own"
        if self.notebook is None:
            return node.lineno
        return self.notebook.line(self.span(node)[0])

    def cell_of(self, node: ast.AST) -> int | None:
        """Number of the notebook's cell with `node`, from 1; None outside notebooks."""
        return None if self.notebook is None else self.notebook.cell(self.span(node)[0]).number

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """Return the file's bytes with these edits of `data` made."""
        if self.notebook is None:
            return apply_edits(self.file, edits, self.encoding)
        shift = self.decoded.shift
        placed = [
            Edit(edit.start + shift, edit.end + shift, edit.text)
            for edit in self.notebook.json_edits(edits)
        ]
        return apply_edits(self.file, placed, self.encoding)

    def _place(self, place: int) -> int:
        return place if self.notebook is not None else self.decoded.file_place(place)


@dataclass(frozen=True)
class Project:
    """All sources of a project in a fixed order, and what is not among them."""

    root: Path
    sources: tuple[Source, ...]
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[tuple[PurePosixPath, str], ...]


def read_project(path: Path) -> Project:
    """Read a file, or all sources of a folder or a Git work tree."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        hint = "give a Python file, a notebook or a folder"
        raise UsageError(f"{path} cannot be opened: {error.strerror}", hint=hint) from None
    root = path if is_folder else path.parent
    found = find_sources(path) if is_folder else Found(files=[PurePosixPath(path.name)])
    unreadable = [Unreadable(place, 1, reason) for place, reason in found.unreadable]
    skipped = found.skipped
    sources: list[Source] = []
    for result in _read_files(root, found.files):
        if isinstance(result, Unreadable):
            unreadable.append(result)
        else:
            sources.append(result)
            unreadable += result.unreadable
            skipped += result.skipped
    unreadable.sort(key=lambda one: (one.path, one.line, one.reason))
    return Project(root, tuple(sources), tuple(unreadable), tuple(sorted(skipped)))


def read_source(path: PurePosixPath, data: bytes, module: str) -> Source | Unreadable:
    """Read the bytes of one file; a path that ends in .ipynb is a notebook."""
    try:
        if path.suffix == ".ipynb":
            return _read_notebook(path, data, module)
        decoded = decode(data)
        parsed = parse(decoded.utf8)
    except CannotRead as problem:
        return Unreadable(path, problem.line, problem.reason)
    return Source(
        path, data, decoded.encoding, parsed.tree, module, parsed.python, data, decoded, parsed
    )


def module_name(path: PurePosixPath) -> str:
    """Dotted name of a file by its path in the project."""
    parts = path.with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


def _read_files(root: Path, files: list[PurePosixPath]) -> list[Source | Unreadable]:
    # Trees make millions of objects, none of them garbage: looking for it takes twice the
    # time of all the reading.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return [_read_file(root, file) for file in files]
    finally:
        if was_enabled:
            gc.enable()


def _read_file(root: Path, file: PurePosixPath) -> Source | Unreadable:
    try:
        facts = (root / file).stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe would let us wait for ever
            return Unreadable(file, 1, "is not a regular file")
        if facts.st_size > LARGEST_BYTES:
            megabytes = f"{facts.st_size / 1e6:.0f} MB"
            return Unreadable(file, 1, f"has {megabytes}; files over 10 MB are taken for data")
        data = (root / file).read_bytes()
    except OSError as error:
        return Unreadable(file, 1, f"cannot be opened: {error.strerror}")
    return read_source(file, data, module_name(file))


def _read_notebook(path: PurePosixPath, data: bytes, module: str) -> Source:
    decoded = decode(data)
    notebook = read_notebook(decoded.utf8)
    cells = parse_cells(notebook)
    return Source(
        path=path,
        data=notebook.python,
        encoding="utf-8",
        tree=cells.parsed.tree,
        module=module,
        python=cells.parsed.python,
        file=data,
        decoded=decoded,
        parsed=cells.parsed,
        notebook=notebook,
        unreadable=tuple(Unreadable(path, one.line, one.reason) for one in cells.unreadable),
        skipped=tuple((path, reason) for reason in cells.skipped),
    )

"""What a file imports: modules by name, and files of the project."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles


def imported_modules(file: File) -> set[str]:
    """Modules as they are written after `import` and `from`; "" for the file's own package."""
    modules: set[str] = set()
    for one in file.imports:
        if isinstance(one, ast.ImportFrom):
            modules.add(one.module or "")
        else:
            modules.update(alias.name for alias in one.names)
    return modules


def imported_files(file: File) -> Iterator[File]:
    """Files of the project that a file imports; more rather than less."""
    for one in file.imports:
        aliases = [alias.name for alias in one.names]
        if isinstance(one, ast.Import):
            wanted = aliases
        else:
            module = one.module or ""
            wanted = [f"{module}.{name}".strip(".") for name in aliases]
            if not any(_nearest(file, name) for name in wanted):
                wanted = [module]
        for name in wanted:
            yield from _nearest(file, name)


def files_together(file: File) -> Iterator[File]:
    """The file, those that it imports or that import it, and those that another imports with it."""
    found = {id(one): one for one in (file, *file.once(_imported))}
    for other in file.project.files:
        if any(one is file for one in other.once(_imported)):
            found |= {id(one): one for one in (other, *other.once(_imported))}
    yield from found.values()


def _imported(file: File) -> list[File]:
    return [*imported_files(file)]


def _nearest(file: File, module: str) -> list[File]:
    """Files that may be this module; of several, those that share most of the path."""
    folder, _, rest = module.partition(".")
    by_last, folders = file.project.once(_modules)
    if rest and folder not in folders:
        # The folder that is migrated, or one above it, is part of the package.
        return _nearest(file, rest)
    found: dict[int, list[File]] = {}
    for other in by_last.get(module.rpartition(".")[2], ()):
        if other is not file and f".{other.source.module}".endswith(f".{module}"):
            pairs = zip(file.source.path.parts, other.source.path.parts, strict=False)
            shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
            found.setdefault(shared, []).append(other)
    return found[max(found)] if found else []


def _modules(project: ProjectFiles) -> tuple[dict[str, list[File]], frozenset[str]]:
    """The project's files by the last part of their modules, and all parts of all modules."""
    by_last: dict[str, list[File]] = {}
    parts: set[str] = set()
    for file in project.files:
        by_last.setdefault(file.source.module.rpartition(".")[2], []).append(file)
        parts.update(file.source.module.split("."))
    return by_last, frozenset(parts)

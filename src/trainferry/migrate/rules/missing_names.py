"""Find names that TensorFlow 1.15 does not have.

NPUs run TensorFlow 1.15. A project written for another version may use names that came later, or
that were gone by then, and stops where it imports or uses them. The name that 1.15 has is told
where TensorFlow itself says what became of the old one, and where 1.15 has what came later under
another name, such as `tf.contrib.lookup.MutableHashTable`.

    -hook = tf.contrib.estimator.stop_if_no_decrease_hook(estimator, "loss", 1000)
    +hook = tf.estimator.experimental.stop_if_no_decrease_hook(estimator, "loss", 1000)

By hand: always, because arguments may have changed with the name.
Not told: names behind `try` with `ImportError` or `AttributeError`, `hasattr` or a test of the
version; names that the project sets itself; members of classes, private modules, unit tests.

Source: TensorFlow 1.15.5 itself; its release notes, and the table of its `tf_upgrade_v2`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.library import canonical_name
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file, on_name
from trainferry.migrate.rules._device_code import is_test
from trainferry.migrate.rules._guards import is_guarded
from trainferry.migrate.tensorflow_names import missing_part, moved_to

CONCERN = Concern.RUN

# Another rule speaks of these.
_TOLD_ELSEWHERE = frozenset(
    ("tf.estimator.NPUEstimator", "tf.estimator.NPUEstimatorSpec", "tf.estimator.NPURunConfig")
)


@on_name("tf.*")
def missing_names(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    missing = missing_part(name)
    if missing is None or not _is_written_here(spot.node, name, missing):
        return
    yield from _told(spot, missing, file)


@on_file
def missing_imports(file: File) -> Iterator[Finding]:
    """`from tensorflow.contrib import gan`: what is made of `gan` is not told again."""
    for statement in file.imports:
        for path in _imported(file, statement):
            name = canonical_name(path) or ""
            missing = missing_part(name) if name.startswith("tf.") else None
            if missing is not None:
                yield from _told(Spot(file.source, statement), missing, file)


def _told(spot: Spot, missing: str, file: File) -> Iterator[Finding]:
    if missing in _TOLD_ELSEWHERE or missing in file.project.once(_set_by_the_project):
        return
    if is_test(file) or is_guarded(file, spot.node):
        return
    new = moved_to(missing)
    advice = f"it is `{new}` there" if new else "write this with what 1.15 has"
    yield Finding(spot, Outcome.BY_HAND, f"TensorFlow 1.15 has no `{missing}`: {advice}")


def _is_written_here(node: ast.AST, name: str, missing: str) -> bool:
    """Whether the missing part is among the attributes, not in an import or another variable."""
    written = 0
    while isinstance(node, ast.Attribute):
        written += 1
        node = node.value
    return missing.count(".") > name.count(".") - written


def _imported(file: File, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The paths that a statement asks a library for."""
    if isinstance(statement, ast.Import):
        paths = [one.name for one in statement.names]
    elif statement.level or statement.module is None:
        return
    else:
        names = [one.name for one in statement.names]
        paths = [statement.module if one == "*" else f"{statement.module}.{one}" for one in names]
    for path in paths:
        if not file.names.own_modules(file.source, tuple(path.split(".")[:1]), 0):
            yield path


def _set_by_the_project(project: ProjectFiles) -> frozenset[str]:
    """Names of TensorFlow that the project gives a value: `tf.pack = tf.stack`."""
    targets = (
        (file, target)
        for file in project.files
        for one in file.stores
        for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
    )
    return frozenset(
        name for file, target in targets if (name := file.full_name(target)) is not None
    )

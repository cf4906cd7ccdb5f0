"""The probe is code that old interpreters can run, and that needs nothing they have not."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).resolve().parents[3] / "src/trainferry/rehearse/probe"
FILES = sorted(PROBE.rglob("*.py"))
# Only behind TensorFlow 2.x, which the rehearsal takes on Python 3.7 and later.
LATER = PROBE / "tensorflow_1"
ALLOWED = {"tensorflow", "numpy", "tf_slim"}


def trees(path: Path, version: tuple[int, int]) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), feature_version=version)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROBE)))
def test_is_written_for_old_pythons(path: Path) -> None:
    version = (3, 7) if LATER in path.parents else (3, 6)
    for node in ast.walk(trees(path, version)):
        if isinstance(node, ast.ImportFrom):
            assert node.module != "__future__", "Python 3.6 does not know its annotations"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROBE)))
def test_imports_only_what_is_in_the_users_process(path: Path) -> None:
    used = set()
    for node in ast.walk(trees(path, (3, 7))):
        if isinstance(node, ast.Import):
            used |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            used.add((node.module or "").split(".")[0])
    assert used <= ALLOWED | sys.stdlib_module_names


def test_every_part_of_contrib_is_of_one_kind() -> None:
    """A file, a table, or known to be missing: never two of them."""
    from trainferry.rehearse.probe.tensorflow_1.missing import NOT_REBUILT
    from trainferry.rehearse.probe.tensorflow_1.plain_parts import PLAIN_PARTS

    files = {path.stem for path in (LATER / "contrib").glob("*.py")}
    assert not files & set(PLAIN_PARTS)
    assert not (files | set(PLAIN_PARTS)) & NOT_REBUILT

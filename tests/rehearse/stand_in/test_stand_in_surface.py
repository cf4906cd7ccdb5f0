"""What can be said of the stand-ins without TensorFlow: names, syntax, imports, data."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.rehearse.stand_in.tensorflows import STAND_IN
from trainferry.migrate.surface import modules, star_names

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(STAND_IN.rglob("*.py"))
# What the user's process has besides its standard library.
ALLOWED = {"tensorflow", "numpy", "npu_bridge", "hccl", "trainferry_stand_in"}


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


compare_surface = load_tool("compare_surface")


def test_every_name_a_migrated_script_can_import_is_there() -> None:
    ours = compare_surface.read_modules(STAND_IN)
    missing = [
        f"{module}.{name}"
        for module, names in modules().items()
        for name in names
        if module not in ours or name not in ours[module].names
    ]
    assert missing == []


def test_the_star_import_brings_what_it_brings_on_the_device() -> None:
    tree = ast.parse((STAND_IN / "npu_bridge/npu_init.py").read_text("utf-8"))
    bound: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    public = {name for name in bound if not name.startswith("_")}
    assert public == set(star_names())
    assert len(public) == 71


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STAND_IN)))
def test_old_interpreters_can_read_it(file: Path) -> None:
    ast.parse(file.read_text("utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STAND_IN)))
def test_nothing_is_imported_that_a_user_may_not_have(file: Path) -> None:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add((node.module or "").split(".")[0])
    assert found <= ALLOWED | sys.stdlib_module_names


def test_options_are_those_that_migrate_knows() -> None:
    tool = load_tool("make_stand_in_options")
    assert tool.TARGET.read_text("utf-8") == tool.text(), "run tools/make_stand_in_options.py"


def surface_of(tmp_path: Path, code: str) -> dict[str, object]:
    package = tmp_path / "npu_bridge" / "estimator"
    package.mkdir(parents=True)
    (package / "npu_ops.py").write_text(code, encoding="utf-8")
    found: dict[str, object] = compare_surface.read_modules(tmp_path)
    return found


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        ("def f(a, b=1): ...", "def f(a, b=1): ...", []),
        ("def f(a, b=1): ...", "def f(a, b=1, c=None): ...", []),
        ("def f(a): ...", "def g(a): ...", ["f: missing"]),
        ("def f(a, b): ...", "def f(b, a): ...", ["f: takes (b, a), the vendor's takes (a, b)"]),
        ("def f(a, b=1): ...", "def f(a, b): ...", ["f: needs b, the vendor's does not"]),
        ("def f(a=1e-5): ...", "def f(a=0.00001): ...", []),
        ("def f(a=1): ...", "def f(a=2): ...", ["f: a is 2 by default, the vendor's 1"]),
        ("def f(*, a): ...", "def f(): ...", ["f: has no a"]),
        ("def f(**a): ...", "def f(): ...", ["f: takes no further arguments, the vendor's does"]),
        ("def _f(): ...", "", []),
        (
            "class C:\n    def __init__(self, a): ...",
            "class C:\n    def __init__(self, b): ...",
            ["C.__init__: takes (b), the vendor's takes (a)"],
        ),
        (
            "class C:\n    def f(self, a): ...",
            "class _B:\n    def f(self, b): ...\nclass C(_B): ...",
            ["C.f: takes (b), the vendor's takes (a)"],
        ),
        (
            "class _B:\n    def f(self): ...\nclass C(_B): ...",
            "class C:\n    def g(self): ...",
            ["C.f: missing"],
        ),
        ("class C:\n    def f(self): ...", "class C(tf.train.Optimizer): ...", []),
        ("class C:\n    def f(self): ...", "class C(tf.keras.layers.C): ...", []),
    ],
)
def test_differences_from_the_vendors_source_are_told(
    theirs: str, ours: str, told: list[str], tmp_path: Path
) -> None:
    vendor, own = tmp_path / "vendor", tmp_path / "own"
    found = list(compare_surface.compare(surface_of(vendor, theirs), surface_of(own, ours)))
    assert found == [f"npu_bridge.estimator.npu_ops.{line}" for line in told]

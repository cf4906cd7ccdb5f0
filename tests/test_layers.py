"""Who may import whom, and which half needs which packages."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "trainferry"

# What every part may import.
FOR_ALL = {"counted"}
# Besides, a part may import itself and these.
MAY_IMPORT = {
    "counted": set(),
    "errors": set(),
    "devices": {"errors"},
    "launch": {"errors"},
    "report": set(),
    "migrate": {"errors", "report"},
    "rehearse": {"errors", "report"},
    "train": {"errors", "devices", "launch"},
    "cli": {"errors", "devices", "launch", "migrate", "rehearse", "report", "train"},
    "__main__": {"cli"},
}
# What a bare GPU machine has; everything else is imported where it is used.
BARE = {"torch", "numpy", "PIL"}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def top_level_imports(tree: ast.Module) -> list[str]:
    """Imports that run when the file is imported; those for the type checker do not."""
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return imports(ast.Module(body=list(statements), type_ignores=[]))


SOURCES = sorted(SOURCE.rglob("*.py"))
# Programs in Triton, which comes with PyTorch for GPUs; imported where a GPU runs them.
PROGRAMS = SOURCE / "train" / "kernels" / "programs"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_parts_import_only_what_they_may(path: Path) -> None:
    part = part_of(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = {name.split(".")[1] for name in imports(tree) if name.startswith("trainferry.")}
    assert used <= MAY_IMPORT.get(part, set()) | FOR_ALL | {part}


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if part_of(path) in ("train", "devices") and path.parent != PROGRAMS],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_training_imports_on_a_bare_gpu_machine(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    packages = {name.split(".")[0] for name in top_level_imports(tree)}
    assert packages <= BARE | {"trainferry"} | sys.stdlib_module_names


@pytest.mark.parametrize(
    ("half", "forbidden"),
    [("migrate", "torch"), ("train", "tensorflow"), ("devices", "tensorflow")],
)
def test_half_needs_only_its_own_framework(half: str, forbidden: str) -> None:
    modules = [
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((SOURCE / half).rglob("*.py"))
        if path.parent != PROGRAMS
    ]
    program = f"import sys, {', '.join(modules)}; sys.exit({forbidden!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_help_needs_no_torch() -> None:
    program = (
        "import sys\nfrom trainferry.cli.main import build_parser\n"
        "build_parser().format_help()\nsys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

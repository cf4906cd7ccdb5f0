"""Compares the stand-ins' public names and signatures with the vendor's published source.

    python tools/compare_surface.py CHECKOUT

CHECKOUT is a folder that holds `npu_bridge` somewhere, and `hccl` where it is published: a
checkout of the TensorFlow adapter. It is read as a syntax tree; nothing is imported from it and
nothing is copied. Told are names that are missing and calls that would work there and not here;
methods count that a class has from another one of the packages. What it has from TensorFlow is
not read: of such a class no method is told as missing. Exit 1 when there are any.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[1]
SHARED = "trainferry_stand_in"
STAND_IN = ROOT / "src/trainferry/rehearse/stand_in"
PACKAGES = ("npu_bridge", "hccl")
# Samples inside the package; nobody imports them.
SAMPLES = ("mnist_softmax_npu", "mnist_with_estimator")
# What other code may import from here although it is defined elsewhere: the star import.
GATES = ("npu_bridge", "npu_bridge.npu_init")
# The adapter's own checks, handles and numbers: public by their spelling, used by no script.
LEFT_OUT = {
    "npu_bridge.estimator.npu.util": {
        "check_aoe_mode",
        "check_bool_type",
        "check_mstune_mode",
        "check_nonnegative_integer",
        "check_not_none",
        "check_path",
        "check_positive_integer",
        "check_profiling_options",
        "convert_bool_to_int",
        "format_string",
    },
    "npu_bridge.estimator.npu.npu_plugin": {
        "check_graph_run_mode",
        "init_debug_dir",
        "init_op_compiler_cache_dir",
        "init_op_compiler_cache_mode",
    },
    "npu_bridge.estimator.npu_aicore_ops": {"DEFAULT_GRAPH_SEED"},
    "npu_bridge.estimator.npu_ops": {"DEFAULT_GRAPH_SEED", "get_seed", "npu_test"},
    "npu_bridge.npu_init": {"absolute_import", "division", "print_function"},
}
# Handles of the operator library, under the name that each module gives them.
HANDLES = {
    "gen_npu_cpu_ops",
    "gen_hccl_ops",
    "gen_npu_image_ops",
    "hccl_graph_adp_ctypes",
}


@dataclass(frozen=True)
class Signature:
    """What a call may look like."""

    positional: tuple[str, ...]
    required: frozenset[str]
    defaults: tuple[tuple[str, str], ...]
    keyword_only: frozenset[str]
    star: bool
    double_star: bool


@dataclass(frozen=True)
class Surface:
    """The public functions, classes with their methods, and other names of one module."""

    functions: dict[str, Signature]
    methods: dict[str, dict[str, Signature]]
    others: frozenset[str]
    on_others: frozenset[str] = frozenset()
    """Classes that have methods from outside the packages."""

    @property
    def names(self) -> set[str]:
        return {*self.functions, *self.methods, *self.others}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    arguments = parser.parse_args()
    theirs, ours = read_modules(arguments.checkout), read_modules(STAND_IN)
    if not theirs:
        print(f"there is no `npu_bridge` or `hccl` under {arguments.checkout}", file=sys.stderr)
        return 2
    problems = list(compare(theirs, ours))
    names = sum(len(surface.names) for surface in theirs.values())
    print(*problems, sep="\n")
    left_out = sum(
        len(names & theirs[module].names) for module, names in LEFT_OUT.items() if module in theirs
    )
    print(f"{left_out} names are left out on purpose: LEFT_OUT says which and why")
    print(f"{len(theirs)} modules and {names} public names compared, {len(problems)} differences")
    return 1 if problems else 0


def read_modules(folder: Path) -> dict[str, Surface]:
    """The surface of every module of the packages under a folder, by its dotted name."""
    found: dict[str, Surface] = {}
    for package in PACKAGES:
        homes = sorted(folder.rglob(f"{package}/*"))
        tops = [path.parent for path in homes if path.parent.parent.name not in PACKAGES]
        if not tops:
            continue
        top = min(tops, key=lambda path: len(path.parts))
        classes = read_classes(top, top.parent / SHARED)
        for file in sorted(top.rglob("*.py")):
            name = ".".join(file.relative_to(top.parent).with_suffix("").parts)
            name = name.removesuffix(".__init__")
            if file.stem not in SAMPLES and "._" not in name:
                found[name] = read_surface(file, top.parent, classes, with_imports=name in GATES)
    return found


def read_classes(*folders: Path) -> dict[str, ast.ClassDef]:
    """The classes of all modules by name, which no two of them share."""
    files = [file for folder in folders for file in folder.rglob("*.py")]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    return {node.name: node for tree in trees for node in tree.body if _is_class(node)}


def read_surface(
    file: Path, root: Path, classes: dict[str, ast.ClassDef], *, with_imports: bool = False
) -> Surface:
    """What a module defines, and what it takes from other modules beside it under its name."""
    functions: dict[str, Signature] = {}
    methods: dict[str, dict[str, Signature]] = {}
    others: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not _is_gradient(node):
            functions[node.name] = signature_of(node)
        elif isinstance(node, ast.ClassDef):
            methods[node.name] = methods_of(node, classes)
        elif isinstance(node, ast.Assign):
            others |= {name.id for name in node.targets if isinstance(name, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            _take(node, root, classes, functions, methods)
            if with_imports:
                others |= {alias.asname or alias.name for alias in node.names} - {"*"}
    private = {name for name in {*functions, *methods, *others} if name.startswith("_")}
    return Surface(
        {name: value for name, value in functions.items() if name not in private},
        {name: value for name, value in methods.items() if name not in private},
        frozenset(others - private),
        frozenset(name for name in methods if _is_on_others(name, classes)),
    )


def methods_of(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, Signature]:
    """The methods of a class, and those that it has from other classes of the packages."""
    found: dict[str, Signature] = {}
    for base in reversed(_bases(node)):
        if base in classes and base != node.name:
            found |= methods_of(classes[base], classes)
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and (
            not part.name.startswith("_") or part.name in ("__init__", "__new__")
        ):
            found[part.name] = signature_of(part)
    return found


def compare(theirs: dict[str, Surface], ours: dict[str, Surface]) -> Iterator[str]:
    for module, surface in sorted(theirs.items()):
        if module not in ours:
            if surface.names:
                yield f"{module}: the module is missing"
            continue
        own = ours[module]
        for name in sorted(surface.names - own.names - HANDLES - LEFT_OUT.get(module, set())):
            yield f"{module}.{name}: missing"
        for name, signature in sorted(surface.functions.items()):
            if name in own.functions:
                yield from incompatible(f"{module}.{name}", signature, own.functions[name])
        for name in sorted(set(surface.methods) & set(own.methods)):
            yield from compare_classes(f"{module}.{name}", name, surface, own)


def compare_classes(title: str, name: str, theirs: Surface, ours: Surface) -> Iterator[str]:
    for method, signature in sorted(theirs.methods[name].items()):
        there = ours.methods[name].get(method)
        if there is not None:
            yield from incompatible(f"{title}.{method}", signature, there)
        elif name not in ours.on_others:
            yield f"{title}.{method}: missing"


def incompatible(name: str, theirs: Signature, ours: Signature) -> Iterator[str]:
    """Calls that the vendor's function takes and ours does not, or takes in another way."""
    if not ours.star and ours.positional[: len(theirs.positional)] != theirs.positional:
        yield f"{name}: takes {_words(ours)}, the vendor's takes {_words(theirs)}"
        return
    missing = (theirs.keyword_only | set(theirs.positional)) - (
        ours.keyword_only | set(ours.positional)
    )
    if missing and not ours.double_star:
        yield f"{name}: has no {', '.join(sorted(missing))}"
    if needed := sorted(ours.required - theirs.required):
        yield f"{name}: needs {', '.join(needed)}, the vendor's does not"
    known = dict(ours.defaults)
    for argument, default in theirs.defaults:
        if argument in known and _value(known[argument]) != _value(default):
            yield f"{name}: {argument} is {known[argument]} by default, the vendor's {default}"
    if (theirs.star and not ours.star) or (theirs.double_star and not ours.double_star):
        yield f"{name}: takes no further arguments, the vendor's does"


def signature_of(node: ast.FunctionDef) -> Signature:
    arguments = node.args
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    defaults = dict(
        zip(reversed(positional), map(ast.unparse, reversed(arguments.defaults)), strict=False)
    )
    optional = set(defaults)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = ast.unparse(default)
            optional.add(argument.arg)
    keyword_only = frozenset(argument.arg for argument in arguments.kwonlyargs)
    return Signature(
        tuple(positional),
        frozenset({*positional, *keyword_only} - optional),
        tuple(defaults.items()),
        keyword_only,
        arguments.vararg is not None,
        arguments.kwarg is not None,
    )


def _take(
    node: ast.ImportFrom,
    root: Path,
    classes: dict[str, ast.ClassDef],
    functions: dict[str, Signature],
    methods: dict[str, dict[str, Signature]],
) -> None:
    """Our modules share code; what one of them imports from there counts as its own."""
    file = root.joinpath(*(node.module or "").split(".")).with_suffix(".py")
    if (node.module or "").split(".")[0] != SHARED or not file.is_file():
        return
    taken = read_surface(file, root, classes)
    for alias in node.names:
        name = alias.asname or alias.name
        if alias.name in taken.functions:
            functions[name] = taken.functions[alias.name]
        elif alias.name in taken.methods:
            methods[name] = taken.methods[alias.name]


def _is_class(node: ast.stmt) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef)


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).rpartition(".")[2] for base in node.bases]


def _is_on_others(name: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether some class above it is not of the packages; one of its own name is not."""
    if name not in classes:
        return name != "object"
    return any(base == name or _is_on_others(base, classes) for base in _bases(classes[name]))


def _is_gradient(node: ast.FunctionDef) -> bool:
    return any("RegisterGradient" in ast.unparse(item) for item in node.decorator_list)


def _value(text: str) -> object:
    """Numbers and names that are written differently and are the same."""
    try:
        return ast.literal_eval(text)
    except ValueError:
        return text.rpartition(".")[2]


def _words(signature: Signature) -> str:
    return f"({', '.join(signature.positional)})"


if __name__ == "__main__":
    sys.exit(main())

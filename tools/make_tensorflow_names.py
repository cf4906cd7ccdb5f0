"""Make src/trainferry/migrate/tensorflow_names.toml, what TensorFlow 1.15 has under `tf`.

    python3.7 tools/make_tensorflow_names.py --to src/trainferry/migrate/tensorflow_names.toml

Runs with the Python of TensorFlow 1.15, not with ours. A line has a module and its names, public
ones and modules that can be imported. Of `tf.contrib` there are its modules and what they have, and
nothing deeper; `tf.keras` has a table of its own, and LEFT_OUT is left out. Below `[moved]` are
names that are gone and for which TensorFlow's own `tf_upgrade_v2` knows one that 1.15 has.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
import types
from collections.abc import Iterator
from pathlib import Path

HEADER = "# Public names of tf. Made by tools/make_tensorflow_names.py with TensorFlow {}.\n"
DEEPEST = 2  # of contrib: how many dots
LEFT_OUT = (
    "tf.compat.v1",
    "tf.compat.v2",
    "tf.contrib.quantization",
    "tf.keras",
    "tf.raw_ops",
)


def main() -> int:
    import tensorflow

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    modules = dict(find_modules(tensorflow, "tf"))
    modules.update(find_modules(tensorflow.contrib, "tf.contrib"))
    lines = [f'"{path}" = "{" ".join(modules[path])}"\n' for path in sorted(modules)]
    lines += ["\n[moved]\n", *(f'"{old}" = "{new}"\n' for old, new in find_moves(tensorflow))]
    text = HEADER.format(tensorflow.__version__) + "".join(lines)
    arguments.to.write_bytes(text.encode())
    sys.stderr.write(f"{len(modules)} modules\n")
    return 0


def find_modules(module: types.ModuleType, path: str) -> Iterator[tuple[str, list[str]]]:
    """Give every public module of the API with the names it has, and those on the disk."""
    names = set()
    for name in dir(module):
        if name.startswith("_"):
            continue
        names.add(name)
        value = getattr(module, name)
        inner = f"{path}.{name}"
        is_api = isinstance(value, types.ModuleType) and is_public(value, inner)
        if is_api and inner not in LEFT_OUT:
            yield from find_modules(value, inner)
    folders = getattr(module, "__path__", ())
    names.update(found.name for found in pkgutil.iter_modules(folders))
    yield path, sorted(name for name in names if not name.startswith("_"))


def is_public(module: types.ModuleType, path: str) -> bool:
    """Whether a module is one of the API's, not one that another happens to import."""
    if path.startswith("tf.contrib."):
        return path.count(".") == DEEPEST and ".contrib." in module.__name__
    return "._api.v1." in module.__name__


def find_moves(tensorflow: types.ModuleType) -> Iterator[tuple[str, str]]:
    from tensorflow.tools.compatibility import all_renames_v2

    for old, new in sorted(all_renames_v2.symbol_renames.items()):
        plain = new.replace("tf.compat.v1.", "tf.")
        if has(tensorflow, plain) and not has(tensorflow, old):
            yield old, plain


def has(tensorflow: types.ModuleType, path: str) -> bool:
    found = tensorflow
    for name in path.split(".")[1:]:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


if __name__ == "__main__":
    sys.exit(main())

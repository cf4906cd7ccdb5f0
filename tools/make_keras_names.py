"""Make src/trainferry/migrate/keras_names.toml, the public names of `tf.keras`.

    python3.7 tools/make_keras_names.py --to src/trainferry/migrate/keras_names.toml

Runs with the Python of TensorFlow 1.15, not with ours. A line has a module and its names.
"""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Iterator
from pathlib import Path

HEADER = "# Public names of tf.keras. Made by tools/make_keras_names.py with TensorFlow {}.\n"


def main() -> int:
    import tensorflow

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    lines = sorted(set(find_modules(tensorflow.keras, "tf.keras")))
    text = HEADER.format(tensorflow.__version__) + "".join(lines)
    arguments.to.write_bytes(text.encode())
    sys.stderr.write(f"{len(lines)} modules\n")
    return 0


def find_modules(module: types.ModuleType, path: str) -> Iterator[str]:
    """Give one line per public module of the API."""
    names = []
    for name in sorted(dir(module)):
        if name.startswith("_") and name != "__version__":
            continue
        value = getattr(module, name)
        if not isinstance(value, types.ModuleType):
            names.append(name)
        elif ".keras.api._v1." in value.__name__ or value.__name__.startswith("tensorflow.keras"):
            names.append(name)
            yield from find_modules(value, f"{path}.{name}")
    yield f'"{path}" = "{" ".join(names)}"\n'


if __name__ == "__main__":
    sys.exit(main())

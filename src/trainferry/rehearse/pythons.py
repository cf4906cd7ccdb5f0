"""Where Pythons are on a machine: on the PATH, and among those that pyenv built."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def find_pythons(names: tuple[str, ...]) -> Iterator[Path]:
    """Programs with these names, in their order; pyenv's own ones before its shims."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    shims = root / "shims"
    for name in names:
        found = shutil.which(name)
        if found and Path(found).parent != shims:
            yield Path(found)
        if "." in name:  # the others are links to these
            yield from sorted(root.glob(f"versions/*/bin/{name}"), reverse=True)

"""One process at a time trains in a run's folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

from trainferry.errors import TrainingError


@contextlib.contextmanager
def only_here(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the folder while the block runs; the lock goes with the process, however it ends."""
    with (folder / ".lock").open("ab") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise TrainingError(
                f"another process is training in `{folder}`",
                hint="wait for it, stop it, or give another --run folder",
            ) from error
        except OSError as error:  # some network file systems have no locks
            say(
                f"`{folder}` cannot be locked ({error.strerror}): "
                "do not start a second process on this run"
            )
        yield

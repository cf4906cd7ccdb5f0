"""Sorts what folders hold: two copies of a project list the same files in another order."""

import functools
import os

from .replace import replace_everywhere


def sort_folders():
    """Make `os.listdir` and `os.scandir`, and with them `glob` and `os.walk`, give sorted names."""
    os.listdir = _Unbound(_sorted(os.listdir))
    scan = os.scandir

    @functools.wraps(scan)
    def scandir(*args, **kwargs):
        return _Entries(scan(*args, **kwargs))

    os.scandir = _Unbound(scandir)


def sort_files_of_tensorflow():
    """The same for `tf.gfile` and `tf.io.gfile`."""
    from tensorflow.python.lib.io import file_io

    for name in ("list_directory", "list_directory_v2", "get_matching_files"):
        function = getattr(file_io, name)
        replace_everywhere(function, _sorted(function))
    if hasattr(file_io, "get_matching_files_v2"):
        replace_everywhere(file_io.get_matching_files_v2, _sorted(file_io.get_matching_files_v2))


def _sorted(function):
    @functools.wraps(function)
    def listed(*args, **kwargs):
        return sorted(function(*args, **kwargs))

    return listed


class _Unbound:
    """Stays a function in a class body, as C functions do: `pathlib` keeps `os.scandir` in one."""

    def __init__(self, function):
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


class _Entries:
    """What `os.scandir` gives, in the order of the names."""

    def __init__(self, entries):
        with entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._entries = iter(())

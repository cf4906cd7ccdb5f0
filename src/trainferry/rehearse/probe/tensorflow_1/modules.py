"""Finds `tensorflow.contrib`, and modules of TensorFlow that 2.x has under another name."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

from .missing import NOT_REBUILT, explain, import_attribute, missing_attribute
from .moved_modules import FROM_CONTRIB, FROM_INSIDE, new_name_of
from .places import exists, find
from .plain_parts import PLAIN_PARTS

CONTRIB = "tensorflow.contrib"
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrib")


def install(tensorflow):
    """Look for contrib before Python looks anywhere else, and for moved modules after that."""
    sys.meta_path.insert(0, _ContribFinder())
    sys.meta_path.append(_MovedFinder())


class _ContribFinder:
    def find_spec(self, name, path=None, target=None):
        if name != CONTRIB and not name.startswith(CONTRIB + "."):
            return None
        new_name = new_name_of(name, FROM_CONTRIB)
        if new_name is not None:
            return importlib.machinery.ModuleSpec(name, _Alias(new_name))
        return _find_contrib(name)


class _MovedFinder:
    def find_spec(self, name, path=None, target=None):
        if name + "." in FROM_INSIDE:
            return importlib.machinery.ModuleSpec(name, _Folder(), is_package=True)
        new_name = new_name_of(name, FROM_INSIDE)
        if new_name is None or not exists(new_name):
            return None
        return importlib.machinery.ModuleSpec(name, _Alias(new_name))


def _find_contrib(name):
    inner = name.split(".")[2:]
    if not inner:
        return _from_file(name, os.path.join(FOLDER, "__init__.py"))
    path = os.path.join(FOLDER, inner[0] + ".py")
    if inner[0] in NOT_REBUILT:
        raise explain(name)
    if inner[0] not in PLAIN_PARTS and not os.path.isfile(path):
        return None
    if len(inner) == 1:
        return _from_table(name) if inner[0] in PLAIN_PARTS else _from_file(name, path)
    # 1.15 keeps the files of a part in `python/ops` and the like; here they are one file.
    if inner[1] == "python":
        loader = _Folder() if len(inner) < 4 else _Alias(CONTRIB + "." + inner[0])
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)
    raise explain(name)


def _from_file(name, path):
    return importlib.util.spec_from_file_location(
        name, path, loader=_ContribLoader(name, path), submodule_search_locations=[]
    )


def _from_table(name):
    loader = _PlainPart(PLAIN_PARTS[name.split(".")[-1]])
    return importlib.machinery.ModuleSpec(name, loader, is_package=True)


class _PlainPart:
    """A part of contrib whose names are looked up elsewhere when they are asked for."""

    def __init__(self, names):
        self._names = names

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        otherwise = missing_attribute(module.__name__)

        def __getattr__(name):
            try:
                found = self._look_up(name)
            except ModuleNotFoundError as error:
                if error.name != "tf_slim":
                    raise
                raise explain(module.__name__ + "." + name) from error
            return otherwise(name) if found is None else found

        module.__getattr__ = __getattr__

    def _look_up(self, name):
        if name in self._names:
            return find(self._names[name])
        if "*" in self._names and not name.startswith("_"):
            return getattr(find(self._names["*"]), name, None)
        return None


class _Folder:
    """A package that holds nothing but the modules in it."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__getattr__ = import_attribute(module.__name__)


class _Alias:
    """Puts the module of the new name where the old name is asked for."""

    def __init__(self, new_name):
        self._new_name = new_name

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        try:
            found = importlib.import_module(self._new_name)
        except ImportError as error:
            raise explain(module.__name__) from error
        sys.modules[module.__name__] = found


class _ContribLoader(importlib.machinery.SourceFileLoader):
    """Loads one of our files; what it has not is explained instead of plainly denied."""

    def exec_module(self, module):
        if "__getattr__" not in vars(module):
            module.__getattr__ = missing_attribute(module.__name__)
        try:
            super().exec_module(module)
        except ModuleNotFoundError as error:
            if error.name == "tf_slim":
                raise explain(module.__name__) from error
            raise

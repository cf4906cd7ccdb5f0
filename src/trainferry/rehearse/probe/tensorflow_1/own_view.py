"""Leaves TensorFlow's own Estimator library the 2.x interface that it was written for.

Its files say `import tensorflow as tf` and mean 2.x: `tf.losses.Reduction` there is not that of
1.15. Each of its modules gets an `import` that answers with a view of TensorFlow as it was.
"""

import builtins
import sys
import types

from ..after_import import find_elsewhere

LIBRARIES = ("tensorflow_estimator.",)


def keep_for_libraries(tensorflow):
    """Remember the names that `tensorflow` has now, for modules that are loaded from now on."""
    view = types.ModuleType("tensorflow")
    view.__dict__.update(vars(tensorflow))
    for part in vars(view).values():
        # `tf.keras` and others load late, and then write themselves into a module's names.
        if "_parent_module_globals" in getattr(part, "__dict__", ()):
            part.__dict__["_parent_module_globals"] = vars(view)
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", None)
        is_library = isinstance(name, str) and name.startswith(LIBRARIES)
        if is_library and vars(module).get("tf") is tensorflow:
            module.tf = view
    sys.meta_path.insert(0, _Finder(view))


class _Finder:
    def __init__(self, view):
        self._view = view

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(LIBRARIES):
            return None
        spec = find_elsewhere(self, name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._view)
        return spec


class _Loader:
    def __init__(self, loader, view):
        self._loader = loader
        self._view = view

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        own = dict(vars(builtins))
        own["__import__"] = self._import
        module.__builtins__ = own
        self._loader.exec_module(module)

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        found = builtins.__import__(name, globals, locals, fromlist, level)
        return self._view if name == "tensorflow" and level == 0 else found

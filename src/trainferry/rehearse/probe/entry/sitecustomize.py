"""Python runs this file before the user's script: `entry` is on PYTHONPATH in a rehearsal.

The folder above is loaded as the package `trainferry_probe`, so that nothing of it can be
mistaken for a module of the user. Another `sitecustomize` that ours hides runs as well.
"""

import importlib.machinery
import importlib.util
import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "trainferry_probe"
FAILED = 70  # the number that sysexits.h keeps for an error in the software itself


def load_probe():
    folder = os.path.dirname(HERE)
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(PACKAGE + ".begin")


def run_hidden_sitecustomize():
    elsewhere = [path for path in sys.path if os.path.abspath(path) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if PACKAGE not in sys.modules:
    try:
        load_probe().begin()
    except Exception:  # noqa: BLE001  # whatever it is, it is shown and ends the run
        # `site` would print one line and run the script without us.
        traceback.print_exc()
        sys.stderr.write("trainferry rehearse: cannot prepare this interpreter (see above)\n")
        sys.stderr.flush()
        os._exit(FAILED)
    run_hidden_sitecustomize()

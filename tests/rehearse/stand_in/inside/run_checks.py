"""Runs all checks of one file in this interpreter and prints what each came to, as JSON."""

import importlib
import inspect
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    import tensorflow as tf

    module = importlib.import_module(sys.argv[1][: -len(".py")])
    found = {}
    for name, check in list(vars(module).items()):
        if not inspect.isfunction(check) or check.__module__ != module.__name__:
            continue
        if name.startswith("_"):
            continue
        tf.reset_default_graph()
        try:
            check()
        except Exception:
            found[name] = traceback.format_exc()
        else:
            found[name] = ""
    print()
    print(json.dumps(found))


main()

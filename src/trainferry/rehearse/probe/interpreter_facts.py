"""Tells what a Python interpreter has, as one line of JSON; runs on any Python 3.

Started as a file in the user's interpreter. It imports TensorFlow, because only that shows
whether its packages fit together.
"""

import importlib.util
import json
import sys


def import_version(name):
    """The version of a package; None if it is not there, an error if it cannot be imported."""
    try:
        if importlib.util.find_spec(name) is None:
            return None, None
        module = __import__(name)
    except BaseException as error:  # noqa: BLE001  # broken packages raise anything, even SystemExit
        lines = [line for line in str(error).splitlines() if line.strip()]
        return None, "{}: {}".format(type(error).__name__, lines[0] if lines else "")
    return str(getattr(module, "__version__", "")), None


def installed_version(name):
    """The same without importing it: what stands on TensorFlow 1.x may not import yet."""
    if importlib.util.find_spec(name) is None:
        return None
    try:
        from importlib.metadata import version
    except ImportError:  # Python 3.7
        return ""
    try:
        return version(name)
    except ImportError:  # it was not installed as packages are
        return ""


def main():
    facts = {"python": list(sys.version_info[:3]), "prefix": sys.prefix}
    facts["tensorflow"], facts["tensorflow_error"] = import_version("tensorflow")
    if facts["tensorflow"] is not None:
        for name in ("tensorflow_estimator", "tf_slim", "keras", "numpy"):
            facts[name] = installed_version(name)
    sys.stdout.write("\n" + sys.argv[1] + json.dumps(facts) + "\n")
    sys.stdout.flush()


main()

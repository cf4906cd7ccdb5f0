"""Import Keras from TensorFlow.

The NPU trains Keras models of `tf.keras` only; standalone Keras opens sessions of its own that
stay on the host. An import changes where `tf.keras` of TensorFlow 1.15 has everything that the
file takes from it, also where it has it in another module. Names of metrics, seeds and details of
layers are not the same in every version of Keras, so compare a run.

    -from keras.layers.core import Dense, Dropout
    +from tensorflow.keras.layers import Dense, Dropout

    -import keras.backend as K
    +from tensorflow.keras import backend as K

By hand: star imports, several modules in one statement, names that `tf.keras` does not have,
`metrics_tensors` of models, and packages that build on standalone Keras.
Not touched: a second import for those without `tf.keras` (`except ImportError: import keras`).

Source: Ascend TF Adapter 1.x migration guide, restrictions on Keras; TensorFlow 1.15,
tensorflow.keras.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.keras_names import (
    has_name,
    home_of,
    homes_of,
    is_moved,
    names_of,
)
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file

CONCERN = Concern.RUN

_MODULE = re.compile(rb"from[\s\\]+(keras(?:[\s\\]*\.[\s\\]*\w+)*)")
_COMPARE = "`tf.keras` takes the place of Keras: compare a run, details differ between versions"
_WITH_TENSORFLOW = frozenset(("keras_applications", "keras_preprocessing"))
_ON_KERAS = frozenset(
    ("classification_models", "efficientnet", "kerastuner", "segmentation_models")
)


@on_file
def standalone_keras(file: File) -> Iterator[Finding]:
    for statement in file.imports:
        if isinstance(statement, ast.ImportFrom):
            yield from _from_import(statement, file)
        else:
            yield from _plain_import(statement, file)


@on_file
def metrics_of_models(file: File) -> Iterator[Finding]:
    """`metrics_tensors`, which models of Keras have, and those of `tf.keras` have not."""
    if b".metrics_tensors" not in file.source.data or file.libraries.isdisjoint(("keras", "tf")):
        return
    for node in file.nodes(ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        if node.attr == "metrics_tensors" and not is_own:
            model = file.text(node.value)
            message = (
                "models of `tf.keras` have no `metrics_tensors`, and `metrics_names` is a copy: "
                f'write `{model}.add_metric(tensor, name=name, aggregation="mean")` before '
                "`compile` instead of both"
            )
            yield Finding(Spot(file.source, node), Outcome.BY_HAND, message)


def _from_import(statement: ast.ImportFrom, file: File) -> Iterator[Finding]:
    module = statement.module or ""
    if statement.level or not _is_keras(module):
        yield from _built_on_keras(statement, module, file)
        return
    names = [alias.name for alias in statement.names]
    spot = Spot(file.source, statement)
    home = home_of(module, names)
    if names == ["*"]:
        yield Finding(spot, Outcome.BY_HAND, _instead_of_star(module))
    elif not _is_certain(statement, file):
        yield from _first_choice(statement, file)
    elif home is None and len(names) == 1 and is_moved(f"{module}.{names[0]}"):
        alias = statement.names[0]
        moved = ast.alias(f"{module}.{alias.name}", alias.asname or alias.name)
        yield from _module_import(statement, moved, file)
    elif home is None:
        yield Finding(spot, Outcome.BY_HAND, _without(module, names))
    elif missing := _missing_below(statement, module, home, file):
        yield Finding(spot, Outcome.BY_HAND, _lacks(missing))
    elif found := _MODULE.match(file.source.data, *file.source.span(statement)):
        edit = Edit(*found.span(1), f"tensorflow.{home.removeprefix('tf.')}")
        yield Finding(spot, Outcome.CHECK, _COMPARE, (edit,))


def _plain_import(statement: ast.Import, file: File) -> Iterator[Finding]:
    ours = [alias for alias in statement.names if _is_keras(alias.name)]
    if not ours:
        yield from _built_on_keras(statement, statement.names[0].name, file)
    elif not _is_certain(statement, file):
        yield from _first_choice(statement, file)
    else:
        yield from _module_import(statement, ours[0], file)


def _module_import(
    statement: ast.Import | ast.ImportFrom, alias: ast.alias, file: File
) -> Iterator[Finding]:
    """`import keras.backend as K`, or the same as `from keras import backend as K`."""
    spot = Spot(file.source, statement)
    path = alias.name if alias.asname else "keras"
    home = next(iter(homes_of(path)), None)
    if home is None:
        yield Finding(spot, Outcome.BY_HAND, f"`tf.keras` has no `{path}`")
    elif len(statement.names) > 1:
        yield Finding(spot, Outcome.BY_HAND, f"write `{_new_import(alias, home)}` by itself")
    elif missing := _missing(alias.asname or "keras", path, home, file):
        yield Finding(spot, Outcome.BY_HAND, _lacks(missing))
    else:
        edit = Edit(*file.source.span(statement), _new_import(alias, home))
        yield Finding(spot, Outcome.CHECK, _COMPARE, (edit,))


def _new_import(alias: ast.alias, home: str) -> str:
    package, _, name = f"tensorflow.{home.removeprefix('tf.')}".rpartition(".")
    is_same = alias.asname in (None, name)
    return f"from {package} import {name}" + ("" if is_same else f" as {alias.asname}")


def _is_keras(module: str) -> bool:
    return module == "keras" or module.startswith("keras.")


def _is_certain(statement: ast.Import | ast.ImportFrom, file: File) -> bool:
    """Whether what it binds is Keras: no module of the project, and no other import beside it."""
    alias = next((one for one in statement.names if _is_keras(one.name)), statement.names[0])
    name = alias.asname or alias.name.partition(".")[0]
    return any(_is_keras(one or "") for one in file.names.bound_to(file.source, name))


def _first_choice(statement: ast.Import | ast.ImportFrom, file: File) -> Iterator[Finding]:
    """Keras in `try:` with `tf.keras` for those without it: the NPU needs the other order."""
    above = file.parent(statement)
    if not (isinstance(above, ast.Try) and statement in above.body):
        return
    if isinstance(statement, ast.ImportFrom) and _is_for_versions(above):
        message = f"this and what is in `except` are of standalone Keras: {_for_both(statement)}"
        yield Finding(Spot(file.source, statement), Outcome.BY_HAND, message)
        return
    if not any("tensorflow" in file.text(handler) for handler in above.handlers):
        return
    message = "import from `tensorflow.keras` first: standalone Keras stays on the host"
    yield Finding(Spot(file.source, statement), Outcome.BY_HAND, message)


def _is_for_versions(above: ast.Try) -> bool:
    """Whether `except` imports the same from where other versions of Keras have it."""
    others = [
        one
        for handler in above.handlers
        for one in handler.body
        if isinstance(one, ast.ImportFrom) and not one.level
    ]
    return bool(others) and all(_is_keras(one.module or "") for one in others)


def _for_both(statement: ast.ImportFrom) -> str:
    module, names = statement.module or "", [alias.name for alias in statement.names]
    if module == "keras.engine" and names == ["saving"]:
        name = statement.names[0].asname or "saving"
        return f"write `from tensorflow.python.keras.saving import hdf5_format as {name}`"
    home = home_of(module, names)
    if home is not None:
        return f"import once, from `tensorflow.{home.removeprefix('tf.')}`"
    return _without(module, names)


def _missing(bound: str, path: str, home: str, file: File) -> list[str]:
    """What the file takes from `bound`, a part of Keras, that the new home has not."""
    below = [
        name
        for node, name in file.uses
        if name.startswith(f"{path}.") and file.text(node).startswith(f"{bound}.")
    ]
    return [name for name in dict.fromkeys(below) if not has_name(home + name[len(path) :])]


def _missing_below(statement: ast.ImportFrom, module: str, home: str, file: File) -> list[str]:
    """What the file takes from imported modules: `K.foo` after `from keras import backend as K`."""
    return [
        name
        for alias in statement.names
        for name in _missing(
            alias.asname or alias.name, f"{module}.{alias.name}", f"{home}.{alias.name}", file
        )
    ]


def _instead_of_star(module: str) -> str:
    home = next(iter(homes_of(module)), "tf.keras")
    return f"import what the file uses by name, from `tensorflow.{home.removeprefix('tf.')}`"


def _without(module: str, names: list[str]) -> str:
    homes = homes_of(module)
    if not homes:
        return f"`tf.keras` has no `{module}`: look for {_listed(names)} elsewhere, or write it"
    missing = [name for name in names if not any(name in names_of(home) for home in homes)]
    if not missing:
        return "import " + " and ".join(f"from `tensorflow.{home[3:]}`" for home in homes)
    message = f"`tf.keras` has no {_listed(missing)}"
    is_all = len(missing) == len(names)
    return message if is_all else f"{message}; import the rest from `tensorflow.{homes[0][3:]}`"


def _lacks(names: list[str]) -> str:
    return f"replace {_listed(names)}, which `tf.keras` has not, then import Keras from TensorFlow"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _built_on_keras(
    statement: ast.Import | ast.ImportFrom, module: str, file: File
) -> Iterator[Finding]:
    package = module.partition(".")[0]
    is_other = package.startswith("keras_") or package in _ON_KERAS
    if isinstance(statement, ast.ImportFrom) and statement.level:
        return
    if not is_other or package in _WITH_TENSORFLOW or "tfkeras" in module:
        return
    alias = statement.names[0]
    bound = file.names.bound_to(file.source, alias.asname or alias.name.partition(".")[0])
    if any(one is not None and one.startswith(package) for one in bound):
        message = f"`{package}` builds on standalone Keras: use its version for `tf.keras`, if any"
        yield Finding(Spot(file.source, statement), Outcome.BY_HAND, message)

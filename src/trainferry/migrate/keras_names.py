"""What standalone Keras has and `tf.keras` of TensorFlow 1.15 has too, and where."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources

_LAYERS = (
    *("advanced_activations", "convolutional", "convolutional_recurrent", "core"),
    *("cudnn_recurrent", "embeddings", "local", "merge", "noise", "normalization", "pooling"),
    *("recurrent", "wrappers"),
)
_UTILS = (
    *("data_utils", "generic_utils", "io_utils", "layer_utils", "multi_gpu_utils", "np_utils"),
    *("training_utils", "vis_utils"),
)
# Modules of Keras whose contents `tf.keras` has elsewhere.
_HOMES: dict[str, tuple[str, ...]] = {
    **{f"keras.layers.{name}": ("layers",) for name in _LAYERS},
    **{f"keras.utils.{name}": ("utils",) for name in _UTILS},
    "keras.backend.tensorflow_backend": ("backend",),
    "keras.objectives": ("losses",),
}


def is_moved(module: str) -> bool:
    """Whether a module of Keras is one whose contents `tf.keras` has elsewhere."""
    return module in _HOMES


def home_of(module: str, names: Iterable[str]) -> str | None:
    """The module of `tf.keras` that has all these names of a module of Keras."""
    wanted = set(names)
    return next((home for home in homes_of(module) if wanted <= all_modules()[home]), None)


def homes_of(module: str) -> tuple[str, ...]:
    """The modules of `tf.keras` where the contents of a module of Keras may be."""
    if module in _HOMES:
        places = _HOMES[module]
    elif module == "keras.engine" or module.startswith("keras.engine."):
        places = ("layers", "models")
    else:
        places = (module.removeprefix("keras").removeprefix("."),)
    found = (f"tf.keras.{place}".rstrip(".") for place in places)
    return tuple(home for home in found if home in all_modules())


def has_name(path: str) -> bool:
    """Whether `tf.keras.layers.Dense`, or what a class such as this may have, is there."""
    module, names = path, list[str]()
    while module not in all_modules():
        module, _, name = module.rpartition(".")
        if not module:
            return False
        names.insert(0, name)
    return not names or names[0] in all_modules()[module]


def names_of(module: str) -> frozenset[str]:
    return all_modules().get(module, frozenset())


@functools.cache
def all_modules() -> Mapping[str, frozenset[str]]:
    """The public names of every module of `tf.keras`."""
    text = resources.files("trainferry.migrate").joinpath("keras_names.toml").read_text("utf-8")
    return {module: frozenset(names.split()) for module, names in tomllib.loads(text).items()}

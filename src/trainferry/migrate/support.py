"""Which TensorFlow 1.15 name the NPU runs; the table is `support.csv`, with source and date."""

from __future__ import annotations

import csv
import enum
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources


class Verdict(enum.Enum):
    """What becomes of a name on the NPU. The value is the sentence for the user."""

    SUPPORTED = "runs as it is written"
    SUPPORTED_AFTER_MIGRATION = "runs once it is migrated"
    HARMLESS = "has no effect on the NPU, and does no harm"
    PARTLY = "runs under conditions"
    DEPRECATED = "given up by TensorFlow or the vendor; it may run"
    DISPUTED = "the vendor says yes and no: try it before you rely on it"
    UNSUPPORTED = "does not run on the NPU"
    UNKNOWN = "nobody has said whether it runs"

    @property
    def needs_a_look(self) -> bool:
        """Whether a user should be told, though the name needs no rewrite of ours."""
        return self not in (
            Verdict.SUPPORTED,
            Verdict.SUPPORTED_AFTER_MIGRATION,
            Verdict.HARMLESS,
        )


@dataclass(frozen=True)
class Support:
    """What is known of one name. `name` is canonical; `source` is "list", "judged" or "none"."""

    name: str
    verdict: Verdict
    note: str
    source: str


@functools.lru_cache(maxsize=4096)
def verdict(full_name: str) -> Support:
    """What the NPU makes of a full name such as `tf.nn.dropout` or `tf.data.Dataset.batch`.

    Other spellings are folded to the canonical one (`tf.compat.v1.X`, `tensorflow.X`,
    `hvd.X`, `keras.X`); a member of a class shares the verdict of its class; a name nobody
    judged is UNKNOWN, with the nearest known parent in the note.
    """
    name = canonical_name(full_name)
    found = _find(name)
    if found is None and (shorter := _other_spelling(name)):
        found = _find(shorter)
        if found is not None:
            note = f"judged by `{shorter}`" + (f": {found.note}" if found.note else "")
            found = replace(found, note=note)
    if found is not None:
        return replace(found, name=name)
    return Support(name, Verdict.UNKNOWN, _note_on_unknown(name), "none")


def canonical_name(full_name: str) -> str:
    """The public TensorFlow 1.15 spelling; `tensorflow.python.*` is private and stays."""
    if full_name.startswith("tensorflow.python."):
        return full_name
    name = full_name
    for spelling, canonical in _SPELLINGS:
        while name.startswith(spelling):  # tf.compat.v1.compat.v1 exists
            name = canonical + name.removeprefix(spelling)
    return name


# Applied in this order.
_SPELLINGS = (
    ("tensorflow.", "tf."),
    ("tf.compat.v1.", "tf."),
    ("hvd.", "horovod.tensorflow."),
    ("horovod.keras.", "horovod.tensorflow."),
    ("horovod.tensorflow.keras.", "horovod.tensorflow."),
)
# Here TensorFlow 2 means Keras, whatever TensorFlow 1 had under the name.
_KERAS_IN_V2 = ("initializers", "losses", "metrics", "optimizers")
# Here the two have nothing but the name in common.
_UNLIKE_IN_V2 = ("summary",)


def _find(name: str) -> Support | None:
    """The row for `name` itself, for its class or for its family; the nearest one."""
    table = _table()
    if found := table.get(name) or table.get(f"{name}.*"):
        return found
    for parent in _parents(name):
        if family := table.get(f"{parent}.*"):
            return family
        if (owner := table.get(parent)) and _is_class(parent):
            note = f"belongs to `{parent}`" + (f": {owner.note}" if owner.note else "")
            return replace(owner, note=note)
    return None


def _other_spelling(name: str) -> str | None:
    """A name with the same operators beneath, though not always the same arguments."""
    if name.startswith("keras."):
        return f"tf.{name}"
    if not name.startswith("tf.compat.v2."):
        return None
    rest = name.removeprefix("tf.compat.v2.")
    module = rest.partition(".")[0]
    if module in _UNLIKE_IN_V2:
        return None
    return f"tf.keras.{rest}" if module in _KERAS_IN_V2 else f"tf.{rest}"


def _note_on_unknown(name: str) -> str:
    modules = _modules()
    if name in modules:
        return "a module: its members are judged one by one"
    known = next((parent for parent in _parents(name) if parent in modules), None)
    return f"not in the list; the nearest known name is `{known}`" if known else "not in the list"


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _is_class(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


@functools.cache
def _table() -> Mapping[str, Support]:
    text = resources.files("trainferry.migrate").joinpath("support.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {
        row["name"]: Support(row["name"], Verdict[row["verdict"]], row["note"], row["source"])
        for row in rows
    }


@functools.cache
def _modules() -> frozenset[str]:
    """Every name that has known names below it, and the listed names themselves."""
    names = (name.removesuffix(".*") for name in _table())
    return frozenset(known for name in names for known in (name, *_parents(name)))

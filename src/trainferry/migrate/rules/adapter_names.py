"""Take the adapter's names from where they are.

Documents and samples use names that do not exist, such as `tf.estimator.NPURunConfig`, and names
that the adapter's star import does not bring, such as `DynamicRNN`. Both end the program
with an error; the right name is imported instead.

    -config = tf.estimator.NPURunConfig(model_dir=folder)
    +config = NPURunConfig(model_dir=folder)

By hand: names imported from `tf.estimator` by themselves.
Not touched: names that another star import may bring.

Source: TF Adapter 1.15, npu_bridge/npu_init.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file, on_name
from trainferry.migrate.rules._stars import binds, npu_stars, stars
from trainferry.migrate.surface import import_for

CONCERN = Concern.RUN
LINT = True

# What the star import does not bring, with the text and the import that do.
_NOT_IN_STAR = {
    "ExperimentalConfig": "ExperimentalConfig",
    "DynamicRNN": "DynamicRNN",
    "npu_convert_dropout": "npu_convert_dropout",
    "disable_scope": "npu_scope.disable_autofuse",
}


@on_name("tf.estimator.NPURunConfig", "tf.estimator.NPUEstimator", "tf.estimator.NPUEstimatorSpec")
def no_such_name(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    last = name.rpartition(".")[2]
    statement = import_for(last)
    assert statement is not None
    if isinstance(spot.node, ast.Attribute):
        edit = Edit(*file.source.span(spot.node), last)
        message = f"`tf.estimator` has no `{last}`; the adapter has"
        yield Finding(spot, Outcome.CHANGED, message, (edit,), (statement,))
    else:
        yield Finding(spot, Outcome.BY_HAND, f"`tf.estimator` has no `{last}`: `{statement}`")


@on_file
def not_in_star(file: File) -> Iterator[Finding]:
    """Names that only a document says the star import brings."""
    if not npu_stars(file) or len(stars(file)) > len(npu_stars(file)):
        return
    for node in ast.walk(file.source.tree):
        if not (isinstance(node, ast.Name) and node.id in _NOT_IN_STAR):
            continue
        if isinstance(node.ctx, ast.Load) and not binds(file, node.id):
            text = _NOT_IN_STAR[node.id]
            statement = import_for(text.partition(".")[0])
            assert statement is not None
            message = f"the star import does not bring `{node.id}`"
            edit = Edit(*file.source.span(node), text)
            yield Finding(Spot(file.source, node), Outcome.CHANGED, message, (edit,), (statement,))

"""Know how an exported graph runs on an NPU.

Freezing and exporting run on the host and need no change. A graph that is read back for inference
wants a session with other settings than training: `graph_run_mode` 0 and, for speed, the precision
`force_fp16`. Where the graph has operators of the NPU, the adapter has to be imported before the
graph is read.

By hand: always; this is advice, given once per file that exports.
Not touched: files that set `graph_run_mode`.

Source: Ascend TF Adapter 1.x migration guide, online inference; "Build Configurations".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.TIDY

_EXPORTS = (
    "tf.graph_util.convert_variables_to_constants",
    "tf.graph_util.extract_sub_graph",
    "tf.saved_model.Builder",
    "tf.saved_model.builder.SavedModelBuilder",
    "tf.saved_model.simple_save",
    "tf.saved_model.save",
    "tf.keras.experimental.export_saved_model",
    "tensorflow.python.tools.freeze_graph",
)
_METHODS = ("export_savedmodel", "export_saved_model")


@on_file
def inference_export(file: File) -> Iterator[Finding]:
    if b"graph_run_mode" in file.source.data:
        return
    places = [one for one in _exports(file) if not is_in_test(file, one)]
    if places:
        message = (
            "to run what is exported here on an NPU, set `graph_run_mode` to 0 in its session "
            'and import the adapter first: `custom_op.parameter_map["graph_run_mode"].i = 0`'
        )
        first = min(places, key=file.source.span)
        yield Finding(Spot(file.source, first), Outcome.BY_HAND, message)


def _exports(file: File) -> Iterator[ast.expr]:
    for node, name in file.uses:
        if name.startswith(_EXPORTS):
            yield node
    for method in _METHODS:
        for call in file.method_calls(method):
            if call.name.startswith("tf.estimator.Estimator."):
                yield call.node

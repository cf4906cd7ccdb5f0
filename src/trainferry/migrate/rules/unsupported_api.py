"""Find functions and classes that do not run on an NPU.

The vendor's list says of every public name of TensorFlow 1.15 whether it runs. Here are told the
names that do not and that no other rule speaks of, with what to use instead where there is
something.

By hand: always. Not told: names that run under conditions or of which the list says both yes and
no; the table of APIs in the report has them.

Source: Ascend TF Adapter 1.15 API list of 2026-07.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_name
from trainferry.migrate.rules._device_code import is_test
from trainferry.migrate.support import Verdict, verdict

CONCERN = Concern.RUN

# Other rules say more about these.
_TOLD_ELSEWHERE = (
    "tf.IdentityReader",
    "tf.LMDBReader",
    "tf.WholeFileReader",
    "tf.compat.v2.distribute",
    "tf.config.experimental_run_functions_eagerly",
    "tf.contrib.cudnn_rnn",
    "tf.distribute",
    "tf.enable_eager_execution",
    "tf.enable_v2_behavior",
    "tf.estimator.tpu",
    "tf.executing_eagerly",
    "tf.is_finite",
    "tf.is_inf",
    "tf.is_nan",
    "tf.keras.layers.CuDNNGRU",
    "tf.keras.layers.CuDNNLSTM",
    "tf.keras.utils.multi_gpu_model",
    "tf.tpu",
)


@on_name("tf.*")
def unsupported_api(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    found = verdict(name)
    if found.verdict is not Verdict.UNSUPPORTED or is_test(file):
        return
    plain = name.replace("tf.compat.v2.", "tf.")
    if any(f"{plain}.".startswith(f"{known}.") for known in _TOLD_ELSEWHERE):
        return
    why = f": {found.note}" if found.note else ""
    yield Finding(spot, Outcome.BY_HAND, f"`{name}` does not run on an NPU{why}")

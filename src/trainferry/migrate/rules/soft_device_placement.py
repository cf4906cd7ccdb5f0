"""Let TensorFlow place what the NPU cannot run.

The NPU takes whole graphs, and TensorFlow places the rest on the host. That needs soft
placement; sessions get it with their configuration, programs that set it for themselves must
set it to true.

    -tf.config.set_soft_device_placement(False)
    +tf.config.set_soft_device_placement(True)

By hand: a call whose argument cannot be seen.

Not touched: `allow_soft_placement` of a `ConfigProto`, which `npu_config_proto` sets.

Source: the adapter's support list of the TensorFlow 1.15 API.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, on_call
from trainferry.migrate.rules._forced import forced

CONCERN = Concern.RUN


@on_call("tf.config.set_soft_device_placement")
def place_softly(call: Call, file: File) -> Iterator[Finding]:
    message = "what the NPU cannot run needs a place on the host"
    by_hand = "pass `True`: what the NPU cannot run needs a place on the host"
    yield from forced(call, file, (0, "enabled", "True"), message, by_hand)

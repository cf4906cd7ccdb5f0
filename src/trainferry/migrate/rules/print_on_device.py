"""Bring printed values back from the device.

`tf.print`, `tf.Print` and failed assertions run on the NPU and write into a channel. An
Estimator reads the channel itself; with `sess.run` a thread of the program has to, or nothing
is seen.

     def show() -> None:
         texts = npu_ops.outfeed_dequeue_op(
             channel_name="_npu_log", output_types=[tf.string], output_shapes=[()]
         )
         with tf.Session() as sess:
             while True:
                 print(sess.run(texts))

     threading.Thread(target=show, daemon=True).start()

By hand: always; told once per project. Not told: projects that train with an Estimator only,
and prints in input pipelines.

Source: Ascend TF Adapter 1.x migration guide, log and summary.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_project
from trainferry.migrate.rules._device_code import is_on_device

CONCERN = Concern.TIDY

_PRINTS = ("tf.print", "tf.Print")
_SESSIONS = (
    "tf.Session",
    "tf.InteractiveSession",
    "tf.train.MonitoredTrainingSession",
    "tf.train.MonitoredSession",
    "tf.train.SingularMonitoredSession",
    "tf.contrib.slim.learning.train",
)


@on_project
def print_on_device(project: ProjectFiles) -> Iterator[Finding]:
    found = [
        (file, call.node)
        for file in project.files
        for call in file.calls_of(*_PRINTS)
        if is_on_device(file, call.node)
    ]
    if not found or not _runs_sessions(project) or _reads_channel(project):
        return
    file, node = found[0]
    others = f" ({len(found)} places in the project)" if len(found) > 1 else ""
    yield Finding(
        Spot(file.source, node),
        Outcome.BY_HAND,
        f"nothing is seen with `sess.run`{others} until a thread of the program runs "
        '`npu_ops.outfeed_dequeue_op(channel_name="_npu_log", output_types=[tf.string], '
        "output_shapes=[()])` again and again and prints what it gives",
    )


def _runs_sessions(project: ProjectFiles) -> bool:
    return any(True for file in project.files for _ in file.calls_of(*_SESSIONS))


def _reads_channel(project: ProjectFiles) -> bool:
    return any(b"_npu_log" in file.source.data for file in project.files)

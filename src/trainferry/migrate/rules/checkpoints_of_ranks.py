"""Keep the checkpoints of several devices apart.

A strategy for several GPUs is one process, which writes one set of checkpoints and summaries. On
NPUs every device has a process, and all of them would write the same files at the same time.

    -config = tf.estimator.RunConfig(model_dir=folder)
    +config = tf.estimator.RunConfig(model_dir=os.path.join(folder, str(get_npu_rank_id())))

Evaluate and export what rank 0 wrote: the weights of all ranks are the same.

By hand: always, because a folder may be read by other programs; told once per project, where the
first folder for checkpoints is given, of a program that trains if there is one.
Not touched: programs that ask for their rank already, and those with Horovod, which know that they
are many.

Source: TensorFlow 1.15, python/training/monitored_session.py; every process of the adapter is the
chief of its own session.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_project
from trainferry.migrate.rules._distributed import is_made_parallel, makes_train_step
from trainferry.migrate.rules._estimators import ESTIMATORS, RUN_CONFIGS
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._imported import imported_files
from trainferry.migrate.rules._npu import npu_name

CONCERN = Concern.DISTRIBUTED

_RANK = frozenset(("get_npu_rank_id", "get_rank_id"))
# Calls that take a rank to do something else with it than to name a folder.
_OTHER_USES = (".shard", "NPUBroadcastGlobalVariablesHook")
_FOLDERS = {
    "tf.train.MonitoredTrainingSession": "checkpoint_dir",
    "tf.train.Supervisor": "logdir",
    "tf.contrib.slim.learning.train": "logdir",
    "tf.keras.callbacks.ModelCheckpoint": "filepath",
    "tf.train.Saver.save": "save_path",
    **dict.fromkeys((*RUN_CONFIGS, *ESTIMATORS), "model_dir"),
}
_PLACES = {
    "tf.contrib.slim.learning.train": 1,
    "tf.estimator.Estimator": 1,
    "tf.estimator.RunConfig": 0,
    "tf.keras.callbacks.ModelCheckpoint": 0,
    "tf.train.MonitoredTrainingSession": 2,
    "tf.train.Saver.save": 1,
}
_NONE = 99


@on_project
def checkpoints_of_ranks(project: ProjectFiles) -> Iterator[Finding]:
    if not is_made_parallel(project) or any(_asks_for_rank(file) for file in project.files):
        return
    for file in sorted(project.files, key=lambda file: not _trains(file)):
        for call in (*file.calls, *file.method_calls("save")):
            if _names_folder(call) and not is_in_test(file, call.node):
                message = (
                    f"every process writes to this `{_FOLDERS[call.name]}`: give each its own, "
                    "`os.path.join(folder, str(get_npu_rank_id()))`"
                )
                yield Finding(call, Outcome.BY_HAND, message)
                return


def _trains(file: File) -> bool:
    """Whether a file makes a train step, or calls one that it imports; tools only convert."""
    is_called_so = "train" in file.source.path.stem
    beside = imported_files(file) if is_called_so else ()
    return any(one.once(makes_train_step) for one in (file, *beside))


def _names_folder(call: Call) -> bool:
    if call.name not in _FOLDERS:
        return False
    folder = call.argument(_PLACES.get(call.name, _NONE), _FOLDERS[call.name])
    return folder is not None and not (isinstance(folder, ast.Constant) and folder.value is None)


def _asks_for_rank(file: File) -> bool:
    if b"RANK_ID" in file.source.data:
        return True
    return any(
        npu_name(name) in _RANK and not _is_other_use(file, node) for node, name in file.uses
    )


def _is_other_use(file: File, node: ast.expr) -> bool:
    called = file.parent(node)
    around = file.parent(called) if isinstance(called, ast.Call) else None
    return isinstance(around, ast.Call) and file.text(around.func).endswith(_OTHER_USES)

"""Start processes without copying the NPU's locks.

`multiprocessing` forks by default: the new process is a copy, with all locks as they happen to
be, and may wait for ever for one that a thread of TensorFlow or of the adapter held. Processes
that are started by a server, `forkserver`, have no such locks.

    +multiprocessing.set_start_method("forkserver")

By hand: always; this rule only tells, once per file, because what is handed to such a process must
be importable and picklable. Files that only help a program that trains are worth knowing.
Not touched: files that have nothing to do with a session or training, threads
(`multiprocessing.dummy`), and projects that choose a start method.

Source: Ascend TF Adapter 1.x migration guide, restrictions on multiprocessing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._host_sessions import is_in_test, only_makes_data
from trainferry.migrate.rules._imported import imported_files
from trainferry.migrate.rules._keras import runs_of_models
from trainferry.migrate.rules._sessions import session_calls

CONCERN = Concern.RUN

_FORKS = frozenset(
    (
        "multiprocessing.Process",
        "multiprocessing.Pool",
        "multiprocessing.Manager",
        "multiprocessing.process.Process",
        "multiprocessing.pool.Pool",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
    )
)
_CHOICES = frozenset(("multiprocessing.set_start_method", "multiprocessing.get_context"))
_TRAINS = ("tf.estimator.Estimator", "tf.estimator.train_and_evaluate")
_WRITE = "`multiprocessing.set_start_method('forkserver')` where the program begins"


@on_file
def fork_start(file: File) -> Iterator[Finding]:
    place = next((one for one in _forks(file) if not is_in_test(file, one)), None)
    if place is None or _is_chosen(file):
        return
    if _trains(file) and not only_makes_data(file):
        message = f"write {_WRITE}: a forked process may hang with the locks of the NPU's session"
        yield Finding(Spot(file.source, place), Outcome.BY_HAND, message)
    elif (program := _program(file)) is not None:
        message = (
            f"if this starts beside the session of `{program.source.path}`, write {_WRITE}, or "
            "start it before: a forked process may hang with the locks of that session"
        )
        yield Finding(Spot(file.source, place), Outcome.BY_HAND, message, concern=Concern.TIDY)


def _forks(file: File) -> Iterator[ast.expr]:
    for node, name in file.uses:
        if name in _FORKS:
            yield node
    for call in runs_of_models(file):
        workers = call.keyword("use_multiprocessing")
        if workers is not None and file.text(workers.value) == "True":
            yield call.node


def _is_chosen(file: File) -> bool:
    return not file.project.used.isdisjoint(_CHOICES)


def _program(file: File) -> File | None:
    """A program that trains and imports a file, also through others."""
    found, todo = {id(file)}, [file]
    while todo:
        below = todo.pop(0)
        for one in file.project.files:
            if id(one) not in found and any(other is below for other in one.once(_imported)):
                if one.once(_trains) and not only_makes_data(one):
                    return one
                found.add(id(one))
                todo.append(one)
    return None


def _imported(file: File) -> list[File]:
    return [*imported_files(file)]


def _trains(file: File) -> bool:
    sessions = (call for call, _, _ in session_calls(file))
    found = (next(sessions, None), next(runs_of_models(file), None))
    return any(found) or next(file.calls_of(*_TRAINS), None) is not None

"""Recognises kinds of runs: the same fetches and feeds of the same graph."""

import threading
import time

from . import callbacks
from .export import write_closure
from .facts_file import write_fact
from .index import index_of, owner
from .losses import gradients_of
from .on_graphs import kept_on
from .places import user_line
from .records import Run
from .session_facts import number_of
from .trains import is_train_run

_lock = threading.RLock()
_count = [0]
# Graphs of runs that do not train are written while that is cheap.
_OTHERS_SECONDS = 3.0
_spent = [0.0]
# A script that builds new operators for every run has a new kind of run each time.
_MOST_TRAIN, _MOST_OTHERS = 50, 300
_told = {True: 0, False: 0}
_DATA = ("IteratorGetNext", "IteratorGetNextSync", "GetNext")
_LOOP = "IterationOp"
_STARTS, _ENDS = "NPUInit", "NPUShutdown"


def run_of(session, targets, fetches, feeds, connections=()):
    """The kind of a run; the first of its kind is described in the facts.

    `targets`, `fetches` and `feeds` are names. `connections` are pairs of tensors, where Keras
    lets the value of the first be fed as the second.
    """
    graph = session.graph
    key = (tuple(targets), tuple(fetches), tuple(feeds), tuple(connections))
    with _lock:
        known = kept_on(graph, "runs", dict)
        run = known.get(key)
        if run is None:
            run = known[key] = _describe(session, graph, key)
    return run


def is_training(session, targets, fetches):
    """Whether a run of these names would train; writes nothing."""
    with _lock:
        index = index_of(session.graph)
        operators = index.closure([*targets, *fetches])
        return is_train_run(session.graph, index, operators, ())


def _describe(session, graph, key):
    targets, fetches, feeds, connections = key
    _count[0] += 1
    index = index_of(graph)
    cut = set(feeds) | {to for _, to in connections}
    starts = [*targets, *fetches, *(source for source, _ in connections)]
    operators = index.closure(starts, cut)
    run = Run(_count[0], graph, (*targets, *fetches), feeds, operators)
    run.connected = {to: source for source, to in connections}
    run.session = number_of(session)
    run.train = is_train_run(graph, index, operators, cut)
    marks = {index.nodes[name].stand_in for name in operators} - {""}
    run.starts_device, run.ends_device = _STARTS in marks, _ENDS in marks
    run.loop = _loop_of(session, run)
    if run.train:
        _add_gradients(run, index)
        _add_inputs(run, index)
        run.extra = callbacks.chosen_fetches(run)
        run.add_wanted(run.losses, run.inputs.values(), run.extra.values())
    _tell(run, index)
    run.version = graph.version
    return run


def _tell(run, index):
    _told[run.train] += 1
    if _told[run.train] > (_MOST_TRAIN if run.train else _MOST_OTHERS):
        return
    run.file = _write_graph(run, index)
    write_fact(
        "run",
        id=run.number,
        session=run.session,
        graph=run.file,
        fetches=list(run.fetches),
        feeds=list(run.feeds),
        train=run.train,
        place=user_line(),
        operators=len(run.operators),
        loop=run.loop,
        losses=[loss.name for loss in run.losses],
    )


def _loop_of(session, run):
    """How many steps the device makes in one such run; the stand-in runs them one by one."""
    names = (owner(name).rpartition("/")[2] for name in run.fetches)
    looped = any(name.startswith(_LOOP) for name in names)
    return getattr(session, "_trainferry_steps", 1) if looped else 1


def _write_graph(run, index):
    if run.train:
        larger = _larger_run(run)
        if larger is not None:
            run.shapes_told = larger.shapes_told
            return larger.file
        _written(run.graph).append(run)
        return write_closure(run.graph, index, run.operators, run.feeds)
    if _spent[0] > _OTHERS_SECONDS:
        return None
    started = time.perf_counter()
    try:
        return write_closure(run.graph, index, run.operators, run.feeds)
    finally:
        _spent[0] += time.perf_counter() - started


def _larger_run(run):
    """A train step that was written already and holds all of this one.

    Estimators now run a step with summaries, now without; one file is enough for both.
    """
    for other in _written(run.graph):
        if other.feeds == run.feeds and run.operators <= other.operators:
            return other
    return None


def _written(graph):
    """The train steps of a graph whose operators were written to a file."""
    return kept_on(graph, "written", list)


def _add_gradients(run, index):
    trained = run.graph.get_collection("trainable_variables")
    names = {variable.op.name for variable in trained}
    for record in gradients_of(run.graph):
        pairs = [pair for pair in record.pairs if pair[1].op.name in run.operators]
        if not pairs:
            continue
        run.gradients += pairs
        if any(_is_variable(x, names) for x, _ in pairs):
            run.losses += [loss for loss in record.losses if _can_read(run, index, loss)]


def _can_read(run, index, loss):
    """Whether a loss can be fetched: it costs little, and changes nothing, if it is not run yet."""
    if loss.op.name in run.operators:
        return run.can_fetch(loss)
    more = index.closure([loss.name], set(run.feeds)) - run.operators
    operators = [run.graph.get_operation_by_name(name) for name in more]
    return loss.op._get_control_flow_context() is None and not any(
        operator.type.startswith("Placeholder") or operator.op_def.is_stateful
        for operator in operators
    )


def _is_variable(x, names):
    """Whether `x` is a variable, or what was read from one."""
    operator = x.op
    while operator.type in ("ReadVariableOp", "Identity") and operator.inputs:
        operator = operator.inputs[0].op
    return operator.name in names


def _add_inputs(run, index):
    for name in sorted(run.operators):
        node = index.nodes[name]
        if node.kind in _DATA or node.kind.startswith("QueueDequeue") or node.stand_in == "GetNext":
            for tensor in run.graph.get_operation_by_name(name).outputs:
                if tensor.name not in run.feeds and run.can_fetch(tensor):
                    run.inputs[tensor.name] = tensor

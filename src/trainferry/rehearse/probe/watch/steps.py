"""One train step: counts it, runs it with what we want to read, writes what it did."""

import threading
import time
import zlib

import numpy as np

from . import callbacks, limit
from .export import shape_of
from .facts_file import write_fact
from .own_calls import own_call, read
from .pinned import write_pinned
from .records import Step

_lock = threading.Lock()
_count = [0]
_grown = [0]
_GROWN_TOLD = 20
_MOST_WORDS = 1 << 14  # of an input: what is read at every step must not cost time


def count():
    """How many train steps have begun and did not fail."""
    return _count[0]


def take_step(session, run, feeds, execute):
    """Run one train step; `execute(tensors)` gives the script's values and those of `tensors`."""
    if limit.is_reached():
        return limit.after_last_step(run)
    with _lock:
        _count[0] += 1
        step = Step(_count[0], run, session, feeds, read)
    limit.note_begin(run)
    try:
        with own_call():
            callbacks.tell_before(step)
        started = time.perf_counter()
        own, values = execute(run.wanted)
        seconds = time.perf_counter() - started
    except BaseException:
        with _lock:
            _count[0] -= 1
        limit.note_failure()
        raise
    limit.note_end(run, step.number, own)
    with own_call():
        _finish(step, dict(zip((tensor.name for tensor in run.wanted), values)), seconds)
    return own


def _finish(step, values, seconds):
    run = step.run
    step.values = {name: values[tensor.name] for name, tensor in run.extra.items()}
    losses = [_number(values[loss.name]) for loss in run.losses]
    step.loss = sum(losses) / len(losses) if losses else None
    write_fact(
        "step",
        number=step.number,
        run=run.number,
        seconds=round(seconds, 6),
        loss=step.loss,
        tensor=run.losses[0].name if run.losses else None,
    )
    _tell_growth(step)
    inputs = {name: values[name] for name in run.inputs}
    inputs.update((tensor.name, value) for tensor, value in step.feeds.items())
    _tell_inputs(step, inputs)
    if _is_telling(step.number):
        _tell_weights(step)
    callbacks.tell_after(step)


def _number(loss):
    return float(loss) if np.ndim(loss) == 0 else float(np.mean(loss))


def _tell_growth(step):
    """A graph that grows while it trains is compiled anew on the device."""
    run, version = step.run, step.run.graph.version
    if version != run.version and _grown[0] < _GROWN_TOLD:
        _grown[0] += 1
        write_fact("grown", step=step.number, run=run.number, operators=version - run.version)
    run.version = version


def _tell_inputs(step, inputs):
    run = step.run
    shapes = {name: list(np.shape(value)) for name, value in inputs.items()}
    if shapes != run.shapes:
        write_fact("inputs", step=step.number, run=run.number, shapes=shapes)
    if not run.shapes_told and run.file is not None:
        run.shapes_told.append(True)
        write_pinned(run, dict(shapes, **_connected_shapes(run, shapes)))
    run.shapes = shapes
    if inputs:
        write_fact(
            "batch", step=step.number, crc=_crc(_sampled(inputs[name]) for name in sorted(inputs))
        )


def _connected_shapes(run, shapes):
    """What Keras feeds from other tensors has the shapes of those."""
    return {
        to: shapes.get(source, shape_of(run.graph.get_tensor_by_name(source)))
        for to, source in run.connected.items()
    }


def _is_telling(number):
    """Weights are told at steps 1, 2, 4, 8, … and at the last."""
    return number & (number - 1) == 0 or number == limit.steps()


def _tell_weights(step):
    trained = step.run.graph.get_collection("trainable_variables")
    used = [variable for variable in trained if variable.op.name in step.run.operators]
    if used:
        values = step.read([variable._as_graph_element() for variable in used])
        crc = {variable.op.name: _crc([value]) for variable, value in zip(used, values)}
        write_fact("weights", step=step.number, crc=crc)


def _crc(arrays):
    """One number for the contents of arrays."""
    crc = 0
    for value in arrays:
        array = np.asarray(value)
        if array.dtype == object:
            for part in array.ravel().tolist():
                crc = zlib.crc32(part if isinstance(part, bytes) else str(part).encode(), crc)
        else:
            # Types of TensorFlow's own, such as bfloat16, have no buffer; their bytes have.
            crc = zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8), crc)
    return crc


def _sampled(value):
    """A large array cut to words spread over all of it: enough to tell two batches apart."""
    array = np.asarray(value)
    if array.dtype == object or array.nbytes <= 8 * _MOST_WORDS:
        return array
    words = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    words = words[: array.nbytes // 8 * 8].view(np.uint64)
    return words[:: -(-len(words) // _MOST_WORDS)]

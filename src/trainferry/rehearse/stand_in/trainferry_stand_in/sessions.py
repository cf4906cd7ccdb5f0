"""Every session of the process: room for waiting collectives, and loops that run on the device."""

import functools
import inspect
import os

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session
from tensorflow.python.framework import errors_impl

from trainferry_stand_in import places, ranks, state, threads
from trainferry_stand_in.calls import collectives_of
from trainferry_stand_in.client import hub
from trainferry_stand_in.errors import WouldFail

ADAPTER = "TRAINFERRY_ADAPTER"
LOOP = "IterationOp"
# A collective keeps its thread while it waits for other ranks; too few threads would stop all.
_THREADS = 256
_installed = []


def adapter():
    """How the adapter treats sessions: "patched" as the newest does, "explicit" as older ones."""
    name = os.environ.get(ADAPTER) or "patched"
    if name not in ("patched", "explicit"):
        raise ValueError(f"{ADAPTER}={name!r} is neither `patched` nor `explicit`")
    return name


def install():
    """Patch the session class once."""
    if _installed:
        return
    _installed.append(True)
    session.BaseSession.__init__ = _with_threads(session.BaseSession.__init__)
    session.BaseSession.run = _with_loops(session.BaseSession.run)


def has_npu(config):
    """Whether a session configuration hands its graphs to the NPU."""
    if config is None:
        return False
    entries = config.graph_options.rewrite_options.custom_optimizers
    return any(entry.name == "NpuOptimizer" for entry in entries)


def set_loop(sess, steps):
    """Let one run of the loop operator stand for `steps` steps."""
    sess._trainferry_steps = steps


def _with_threads(original):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        if ranks.world_size() > 1:
            bound = signature.bind(self, *args, **kwargs)
            config = config_pb2.ConfigProto()
            if bound.arguments.get("config") is not None:
                config.CopyFrom(bound.arguments["config"])
            config.inter_op_parallelism_threads = _THREADS
            # Threads are otherwise those of the first session of the process.
            config.use_per_session_threads = True
            bound.arguments["config"] = config
            args, kwargs = bound.args[1:], bound.kwargs
        original(self, *args, **kwargs)

    return init


def _with_loops(original):
    @functools.wraps(original)
    def run(self, fetches, *args, **kwargs):
        if has_npu(self._config):
            state.start()
        once = functools.partial(original, self, fetches, *args, **kwargs)
        collectives = _tell_plan(self.graph, fetches) if ranks.world_size() > 1 else []
        if not collectives:
            return _run_steps(self, fetches, once)
        with threads.running(self.graph.get_operation_by_name(collectives[0])):
            return _run_steps(self, fetches, once)

    return run


def _run_steps(sess, fetches, once):
    steps = getattr(sess, "_trainferry_steps", 1)
    if steps == 1 or not any(_is_loop(fetch) for fetch in _flat(fetches)):
        return once()
    return _repeat(once, steps)


def _repeat(run, steps):
    """Run several steps, as one loop of the device; only before the first may the data end."""
    result = run()
    step = 1
    try:
        while step < steps:
            result = run()
            step += 1
    except errors_impl.OutOfRangeError as error:
        raise WouldFail(
            f"the data ended after {step} of {steps} steps of one loop on the device, which is "
            "an error there: repeat the data, or make the number of steps a multiple of "
            "`iterations_per_loop`"
        ) from error
    return result


def _is_loop(fetch):
    name = fetch if isinstance(fetch, str) else getattr(fetch, "name", "")
    return name.split(":")[0].split("/")[-1].startswith(LOOP)


def _flat(fetches):
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return [leaf for fetch in fetches for leaf in _flat(fetch)]
    return [fetches]


def _tell_plan(graph, fetches):
    """Tell the hub which collectives this run holds, so that it can compare the ranks."""
    collectives = collectives_of(graph)
    if not collectives:
        return []
    if not hasattr(graph, "_trainferry_plans"):
        graph._trainferry_plans = {}
    known = graph._trainferry_plans
    operators = [op for op in (_operator(graph, fetch) for fetch in _flat(fetches)) if op]
    key = (len(collectives), tuple(op.name for op in operators))
    if key not in known:
        reached = _closure(operators)
        known[key] = [op.name for op in collectives if op in reached]
    if known[key]:
        hub().post("plan", {"operators": known[key], "place": places.user_line()})
    return known[key]


def _operator(graph, fetch):
    """The operator behind a fetch; None for what the session expands itself."""
    if fetch is None:
        return None
    try:
        element = graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
    except (TypeError, ValueError, KeyError):
        values = getattr(fetch, "values", None)  # sparse tensors and slices
        return getattr(values, "op", None)
    return getattr(element, "op", element)


def _closure(operators):
    reached, todo = set(operators), list(operators)
    while todo:
        op = todo.pop()
        for before in [tensor.op for tensor in op.inputs] + list(op.control_inputs):
            if before not in reached:
                reached.add(before)
                todo.append(before)
    return reached

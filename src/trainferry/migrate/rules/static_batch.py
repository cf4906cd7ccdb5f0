"""Give training batches of one size.

The NPU compiles a graph for fixed shapes. The last batch of a dataset may be smaller, so without
`drop_remainder=True` the size of every batch is open, and the graph is compiled with open shapes
or compiled again. In training the dropped samples come again with the next epoch. In evaluation
and prediction they would be lost, so nothing is dropped there.

    -dataset = dataset.shuffle(1000).batch(32)
    +dataset = dataset.shuffle(1000).batch(32, drop_remainder=True)

A function that serves training and evaluation with a switch gets `drop_remainder=is_training`.
Where it is a parameter of the function around, the calls of that function are changed and told.
Where the steps of an epoch are rounded up, `ceil(samples / batch_size)`, the last one would find no
batch any more, which is told with the edit: round down.
Where the project compares the sizes of a tensor with an open batch, as in
`assert x.shape.as_list() == [None, 64]`, the batch size stands there from then on, which is told at
that line.
An iterator that serves several datasets, made with `Iterator.from_structure(train.output_types,
train.output_shapes)`, takes batches of one fixed size and of open ones: beside a batch that is
fixed, one of another size stays open.

By hand: batches for evaluation and prediction (pad to a full batch, and leave what was added out
of the score), those where it is not known what they feed, values that are not written out, and
training batches of two sizes for one iterator.
Not touched: `batch` of anything that is no `tf.data` dataset, and unit tests.

Source: Ascend TF Adapter 1.x migration guide, restrictions of data preprocessing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from trainferry.migrate.file import File, Function
from trainferry.migrate.find import Call
from trainferry.migrate.phases import Phase, phase_of, phase_switch
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._batch_calls import PLACES, batches, shares_iterator, size_of
from trainferry.migrate.rules._dataflow import (
    constant,
    functions_of_pipelines,
    is_endless,
    is_fixed_shape,
    text_in_line,
)
from trainferry.migrate.rules._device_code import is_on_device, is_test
from trainferry.migrate.rules._handed_down import Given, handed_down, parameter_around
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._imported import files_together
from trainferry.migrate.rules._open_shapes import open_shapes, what_stands_there
from trainferry.migrate.rules._rounded_up import rounded_up

CONCERN = Concern.RUN
LINT = True

_LOOKS_LIKE_DATASET = re.compile(r"(^|_)(ds|dataset|datasets|data_set)\d*$", re.IGNORECASE)
_METHODS = frozenset(("cache", "interleave", "map", "prefetch", "repeat", "shuffle", "shard"))
_LOSES = (Phase.EVALUATE, Phase.PREDICT)
_SWITCHES = frozenset(("self.is_train", "self.is_training", "self.training"))
_DROPS = re.compile(r"drop|remainder", re.IGNORECASE)
_SWITCH = re.compile(r"(is_)?train(ing)?|ModeKeys\.TRAIN", re.IGNORECASE)


@on_call(*PLACES)
def static_batch(call: Call, file: File) -> Iterator[Finding]:
    found = [*_alone(call, file)]
    other = _other_size(call, file) if found else None
    if other is None:
        yield from found
    elif not any(one.edits for one in found):
        note = f"; its iterator serves batches of `{other}` too: take that size, or a second one"
        yield from (replace(one, message=one.message + note) for one in found)
    elif size_of(call) != "1":  # which has no remainder, and can stay open
        message = (
            f"its iterator serves batches of `{other}` too, and of sizes that are fixed it takes "
            "only one: write `drop_remainder=True` and the same size in both, or give each an "
            "iterator of its own"
        )
        yield Finding(call, Outcome.BY_HAND, message)


def _alone(call: Call, file: File) -> Iterator[Finding]:
    """What is to say of a batch, whatever other batches there are."""
    size_place, drop_place = PLACES[call.name]
    if is_in_test(file, call.node):
        return
    drop = call.argument(drop_place, "drop_remainder")
    is_method = call.name.startswith("tf.data.Dataset.")
    if constant(drop) is True or (is_method and file.full_name(call.node.func) is not None):
        return
    if constant(drop) not in (None, False) or (drop is None and call.has_star_arguments):
        yield from _not_written_out(call, file, drop)
        return
    size = call.argument(size_place, "batch_size")
    if constant(size) == 1 or is_endless(file, _data(call, file)):
        yield _changed(call, drop, "True", "the data never ends in a smaller batch")
    else:
        yield from _by_what_it_feeds(call, file, drop, size)


def _other_size(call: Call, file: File) -> str | None:
    """Another size that is fixed, or will be, for the same iterator; None without one."""
    fixed = file.once(_fixed_for_one_iterator)
    return next((one for one in sorted(fixed) if one != size_of(call)), None)


def _fixed_for_one_iterator(file: File) -> frozenset[str]:
    """The sizes of all fixed batches that an iterator may serve; none where none serves several."""
    around = [*files_together(file)]
    if not any(other.once(shares_iterator) for other in around):
        return frozenset()
    return frozenset(size_of(call) for other in around for call in other.once(_fixed_batches))


def _fixed_batches(file: File) -> list[Call]:
    """The batches of a file whose size is fixed, or gets so; those of 1 can do without."""
    return [
        call
        for call in batches(file)
        if constant(call.argument(PLACES[call.name][1], "drop_remainder")) is True
        or (size_of(call) != "1" and any(one.edits for one in _alone(call, file)))
    ]


@on_file
def unknown_batch(file: File) -> Iterator[Finding]:
    """Calls that look very much like a dataset's; what is not known is never edited."""
    if not any(name.startswith(("tf.data.", "tf.contrib.data.")) for name in file.used):
        return
    for node in file.unresolved_calls("batch"):
        assert isinstance(node.func, ast.Attribute)
        call = Call(file.source, node, "tf.data.Dataset.batch")
        is_settled = constant(call.argument(1, "drop_remainder")) is True
        if is_settled or is_in_test(file, node) or file.class_of(node.func.value) is not None:
            continue
        if call.keyword("drop_remainder") or _looks_like_dataset(node.func.value):
            message = (
                "if this is a `tf.data` dataset that feeds training, add `drop_remainder=True`"
            )
            yield Finding(call, Outcome.BY_HAND, message, concern=Concern.SPEED)


@on_file
def open_batch_compared(file: File) -> Iterator[Finding]:
    """Comparisons with a batch that is open no more, in files that changed batches may reach."""
    found = [] if is_test(file) else [*open_shapes(file)]
    around = files_together(file) if found else ()
    made = [one for other in around for one in other.once(_made_static)]
    pipeline = functions_of_pipelines(file) if made else set()
    for one in found if made else ():
        may_be_reached = is_on_device(file, one.node) or any(home is file for home, _ in made)
        if not may_be_reached or any(above in pipeline for above in file.parents(one.node)):
            continue
        message = what_stands_there(file, one, made)
        concern = Concern.RUN if one.stops else Concern.TIDY
        yield Finding(Spot(file.source, one.node), Outcome.BY_HAND, message, concern=concern)


def _made_static(file: File) -> list[tuple[File, str]]:
    """The batches of a file that get one size now: the file, and the text of the size."""
    found = []
    for call in batches(file):
        if any(one.edits for one in static_batch(call, file)):
            size = call.argument(PLACES[call.name][0], "batch_size")
            found.append((file, "" if size is None else text_in_line(file, size)))
    return found


def _by_what_it_feeds(
    call: Call, file: File, drop: ast.expr | None, size: ast.expr | None
) -> Iterator[Finding]:
    phase = phase_of(file, call.node)
    switch = None if phase in _LOSES else _switch(file, call.node)
    if switch is not None:
        message = (
            f"batches are full where `{switch}` is true; the last batch of evaluation may be "
            "smaller, which makes the NPU compile again: pad it where that matters"
        )
        yield _changed(call, drop, switch, message + _counted(file, size), Outcome.CHECK)
    elif phase is Phase.TRAIN:
        yield _dropped(call, file, drop, size)
    elif _is_told_as_padded(call, file):
        return
    elif phase in _LOSES:
        message = _how_to_pad(file, phase.value, size)
        yield Finding(call, Outcome.BY_HAND, message, concern=Concern.SPEED)
    else:
        message = (
            "add `drop_remainder=True` if this feeds training; for evaluation and prediction "
            "fill the last batch, because dropped samples are lost"
        )
        yield Finding(call, Outcome.BY_HAND, message)


def _dropped(
    call: Call,
    file: File,
    drop: ast.expr | None,
    size: ast.expr | None,
    name: str = "drop_remainder",
) -> Finding:
    message, outcome = "the last, smaller batch of training is left out", Outcome.CHANGED
    if phase_of(file, call.node, by_path=False) is not Phase.TRAIN:
        message += "; only the name of the file says that this is training"
        outcome = Outcome.CHECK
    if note := _counted(file, size):
        message, outcome = message + note, Outcome.CHECK
    return _changed(call, drop, "True", message, outcome, name)


def _counted(file: File, size: ast.expr | None) -> str:
    """What to do about steps that count the last, smaller batch; empty where none do."""
    found = rounded_up(file, size)
    if found is None:
        return ""
    home, steps = found
    where = "" if home is file else f" in `{home.source.path}`"
    return (
        f"; `{text_in_line(home, steps)}`{where} counts it: round down where these are the steps "
        "of training, or the last step finds no batch"
    )


def _switch(file: File, node: ast.AST) -> str | None:
    """What is true in training only, a parameter or `self.is_training`; None in its own branch."""
    switch = phase_switch(file, node) or _own_switch(file, node)
    tested = "" if switch is None else switch.removeprefix("not ").partition(" ")[0]
    tests = (above.test for above in file.parents(node) if isinstance(above, ast.If | ast.IfExp))
    return None if any(tested in file.text(test) for test in tests) else switch


def _own_switch(file: File, node: ast.AST) -> str | None:
    function = file.function(node)
    for one in ast.walk(function) if function is not None else ():
        is_attribute = isinstance(one, ast.Attribute)
        if is_attribute and file.text(one) in _SWITCHES:
            return file.text(one)
    return None


def _how_to_pad(file: File, what: str, size: ast.expr | None) -> str:
    batch = "batch_size" if size is None else text_in_line(file, size)
    is_plain = isinstance(size, ast.Name | ast.Attribute | ast.Constant | None)
    divisor = batch if is_plain else f"({batch})"
    return (
        f"`drop_remainder=True` would lose the last samples of {what}: for batches of one size "
        f"write `.repeat().batch({batch}, drop_remainder=True)`, run `ceil(samples / {divisor})` "
        "steps, and leave the repeated samples out of the result"
    )


def _not_written_out(call: Call, file: File, drop: ast.expr | None) -> Iterator[Finding]:
    if drop is None:
        message = "see that the arguments have `drop_remainder=True` where this feeds training"
        yield Finding(call, Outcome.BY_HAND, message)
        return
    text = text_in_line(file, drop)
    if text == phase_switch(file, call.node) or _SWITCH.search(text):
        return
    around = parameter_around(file, drop) if isinstance(drop, ast.Name) else None
    if around is not None and not file.project.values.mentions(file.source, around):
        yield from _by_its_callers(call, file, around, text)
    elif phase_of(file, call.node) not in _LOSES:
        message = f"see that `{text}` is True where this feeds training"
        yield Finding(call, Outcome.BY_HAND, message)


def _by_its_callers(call: Call, file: File, function: Function, name: str) -> Iterator[Finding]:
    """What calls give to a parameter is told, or changed, where they give it."""
    given = [*handed_down(file, function, name)]
    if not given:  # so it stops no run
        message = f"pass `{name}=True` to `{function.name}` where it feeds training"
        yield Finding(call, Outcome.BY_HAND, message, concern=Concern.SPEED)
    for one in given:
        if constant(one.value) is not True and not is_in_test(one.file, one.call):
            yield from _by_its_call(one, phase_of(one.file, one.call))


def _by_its_call(given: Given, phase: Phase) -> Iterator[Finding]:
    file, call = given.file, Call(given.file.source, given.call, given.function.name)
    name = given.parameter
    is_false = constant(given.value) is False
    is_own = given.argument in (None, given.value)  # a variable may serve other calls, too
    text = name if given.value is None or is_false else text_in_line(file, given.value)
    if phase in _LOSES and is_false:
        message = (
            f"`{name}=True` would lose the last samples of {phase.value}: for batches of one "
            "size pass it with the samples filled up to a full batch, and leave what was added "
            "out of the result"
        )
        yield Finding(call, Outcome.BY_HAND, message, concern=Concern.SPEED)
    elif phase is Phase.TRAIN and is_false and is_own and _DROPS.search(name):
        size = next((one.value for one in given.call.keywords if one.arg == "batch_size"), None)
        yield _dropped(call, file, given.argument, size, name)
    elif phase not in _LOSES and not _SWITCH.search(text):
        message = f"see that `{text}` is True where this feeds training"
        yield Finding(call, Outcome.BY_HAND, message)


def _changed(
    call: Call,
    drop: ast.expr | None,
    value: str,
    message: str,
    outcome: Outcome = Outcome.CHANGED,
    name: str = "drop_remainder",
) -> Finding:
    if drop is None:
        edit = call.add_keyword(f"{name}={value}")
    else:
        edit = call.replace_argument(drop, value)
    return Finding(call, outcome, message, (edit,))


def _data(call: Call, file: File) -> ast.expr:
    """The dataset that is made into batches."""
    applied = file.parent(call.node)
    function = applied.func if isinstance(applied, ast.Call) else None
    if not call.name.startswith("tf.data.Dataset."):
        is_applied = isinstance(function, ast.Attribute) and function.attr == "apply"
        return function.value if is_applied and isinstance(function, ast.Attribute) else call.node
    assert isinstance(call.node.func, ast.Attribute)
    return call.node.func.value


def _is_told_as_padded(call: Call, file: File) -> bool:
    """Whether `bucketed_shapes` speaks about the same place."""
    shapes = call.argument(1, "padded_shapes") if call.name.endswith("padded_batch") else None
    return shapes is not None and not is_fixed_shape(file, shapes)


def _looks_like_dataset(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _METHODS and _looks_like_dataset(node.func.value)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return _LOOKS_LIKE_DATASET.search(name) is not None

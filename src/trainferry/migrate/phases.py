"""Which part of training a place of the code belongs to.

What calls show is certain: a function handed to `estimator.train`, a branch of
`if is_training:`. Only where they show nothing, the names of functions and files count.
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterable, Iterator

from trainferry.migrate.file import File
from trainferry.migrate.following.arguments import argument_for
from trainferry.migrate.following.flow import Function
from trainferry.migrate.nodes import walk
from trainferry.migrate.phase_words import (
    is_switch_name,
    is_truth,
    parameters_of,
    phase_of_words,
    switch_of,
    tested_phase,
)
from trainferry.migrate.read import Source

_DEEPEST = 6


class Phase(enum.Enum):
    """A part of training."""

    TRAIN = "training"
    EVALUATE = "evaluation"
    PREDICT = "prediction"
    BOTH = "training and evaluation"
    UNKNOWN = "not known"


_BY_FUNCTION = {
    "tf.estimator.TrainSpec": Phase.TRAIN,
    "tf.estimator.EvalSpec": Phase.EVALUATE,
    "tf.contrib.learn.Experiment": Phase.BOTH,
}
_BY_METHOD = {
    "train": Phase.TRAIN,
    "fit": Phase.TRAIN,
    "fit_generator": Phase.TRAIN,
    "train_on_batch": Phase.TRAIN,
    "evaluate": Phase.EVALUATE,
    "evaluate_generator": Phase.EVALUATE,
    "test_on_batch": Phase.EVALUATE,
    "predict": Phase.PREDICT,
    "predict_generator": Phase.PREDICT,
    "predict_on_batch": Phase.PREDICT,
}
_BY_KEYWORD = {
    "train_input_fn": Phase.TRAIN,
    "eval_input_fn": Phase.EVALUATE,
    "validation_data": Phase.EVALUATE,
}
_RUNNERS = frozenset(("tf.estimator.Estimator", "tf.keras.Model", "keras.Model"))


def phase_of(file: File, node: ast.AST, *, by_path: bool = True) -> Phase:
    """The part of training that a node belongs to; `by_path` lets names of files count, too."""
    return _Search(file, by_path).phase(file.source, node, _DEEPEST)


def phase_switch(file: File, node: ast.AST) -> str | None:
    """An expression that is true in training, from a parameter of a function around a node."""
    for above in reversed(_way_to(file.source, node)):
        switch = switch_of(above) if isinstance(above, Function) else None
        if switch is not None:
            return switch if isinstance(switch, str) else file.text(switch)
    return None


class _Search:
    """Looks from a place outwards, then to those who call the function around it."""

    def __init__(self, file: File, by_path: bool) -> None:
        self.project = file.project
        self.by_path = by_path
        self.visited: set[object] = set()

    def phase(self, source: Source, node: ast.AST, depth: int) -> Phase:
        way = [*_way_to(source, node), node]
        guess = Phase.UNKNOWN
        for above, below in zip(way[-2::-1], way[:0:-1], strict=True):
            certain = self._certain(source, above, below, way, depth)
            if certain is not Phase.UNKNOWN:
                return certain
            if guess is Phase.UNKNOWN:
                guess = _guess(above)
        if guess is Phase.UNKNOWN:
            guess = self._from_callers(source, way, depth)
        if guess is Phase.UNKNOWN and self.by_path:
            guess = _named(str(source.path.with_suffix("")))
        return guess

    def _certain(
        self, source: Source, above: ast.AST, below: ast.AST, way: list[ast.AST], depth: int
    ) -> Phase:
        match above:
            case ast.If() | ast.IfExp():
                return _branch(above, below)
            case ast.Call() if below is not above.func:
                return self._consumer(source, above, below)
            case ast.Assign():
                return self._used(source, above, way)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if isinstance(below, ast.stmt):
                return self._function(source, above, depth)
        return Phase.UNKNOWN

    def _consumer(self, source: Source, call: ast.Call, below: ast.AST) -> Phase:
        """What a call uses one of its arguments for."""
        keyword = below.arg if isinstance(below, ast.keyword) else None
        file = self.project.file_of(source)
        name = file.full_name(call.func)
        if name is not None:
            if keyword in _BY_KEYWORD:
                return _BY_KEYWORD[keyword]
            return _BY_FUNCTION.get(name, Phase.UNKNOWN)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _BY_METHOD:
            return Phase.UNKNOWN
        if keyword == "input_fn" or file.class_of(call.func.value) in _RUNNERS:
            return _BY_KEYWORD.get(keyword or "", _BY_METHOD[call.func.attr])
        return Phase.UNKNOWN

    def _used(self, source: Source, node: ast.Assign, way: list[ast.AST]) -> Phase:
        """What the scope does with the name that a value is assigned to."""
        names = {one.id for one in node.targets if isinstance(one, ast.Name)}
        scope = next(one for one in reversed(way) if isinstance(one, Function | ast.Module))
        found = set()
        for call in _calls(scope):
            for below in (*call.args, *call.keywords):
                value = below.value if isinstance(below, ast.keyword) else below
                if isinstance(value, ast.Name) and value.id in names:
                    found.add(self._consumer(source, call, below))
        return _together(found)

    # Functions: who calls them, and with what.

    def _function(self, source: Source, function: Function, depth: int) -> Phase:
        if depth == 0 or function in self.visited:
            return Phase.UNKNOWN
        self.visited.add(function)
        values = self.project.values
        found = {
            self._mentioned(other, mention, function, depth)
            for other, mention in values.mentions(source, function)
        }
        for other, call in values.callers(source, function):
            found.add(self._switched(function, call) or self._called(other, call, depth))
        phase = _together(found)
        has_switch = phase is Phase.UNKNOWN and switch_of(function) is not None
        return Phase.BOTH if has_switch else phase

    def _mentioned(
        self, source: Source, mention: ast.expr, function: Function, depth: int
    ) -> Phase:
        """What a function is handed to, as it is or by `functools.partial`."""
        way = [*_way_to(source, mention), mention]
        for above, below in zip(way[-2::-1], way[:0:-1], strict=True):
            if not isinstance(above, ast.Call | ast.Assign | ast.keyword):
                break
            if isinstance(above, ast.Call) and above.args[:1] == [mention]:
                rest = ast.Call(func=mention, args=above.args[1:], keywords=above.keywords)
                switched = self._switched(function, rest)
                if switched is not None:
                    return switched
            found = self._certain(source, above, below, way, depth - 1)
            if found is not Phase.UNKNOWN:
                return found
        return Phase.UNKNOWN

    def _called(self, source: Source, call: ast.Call, depth: int) -> Phase:
        way = [*_way_to(source, call), call]
        for above, below in zip(way[-2::-1], way[:0:-1], strict=True):
            certain = self._certain(source, above, below, way, depth - 1)
            if certain is not Phase.UNKNOWN:
                return certain
        return Phase.UNKNOWN

    def _switched(self, function: Function, call: ast.Call) -> Phase | None:
        """What a call says by `is_training=True`."""
        parameters = parameters_of(function)
        skips = int(bool(parameters) and parameters[0].arg in ("self", "cls"))
        for one in parameters:
            if is_switch_name(one.arg) and is_truth(function, one.arg):
                given = argument_for(call, function, one.arg, skips)
                if isinstance(given, ast.Constant) and isinstance(given.value, bool):
                    return Phase.TRAIN if given.value else Phase.EVALUATE
                return Phase.BOTH if given is not None else None
        return None

    def _from_callers(self, source: Source, way: list[ast.AST], depth: int) -> Phase:
        """What the names of those who call the function around a place suggest."""
        function = next((one for one in reversed(way) if isinstance(one, Function)), None)
        if function is None or depth == 0 or ("names", function) in self.visited:
            return Phase.UNKNOWN
        self.visited.add(("names", function))
        callers = self.project.values.callers(source, function)
        return _together({self.phase(other, call, depth - 1) for other, call in callers})


def _way_to(source: Source, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, from the file inwards; without what has no place of its own."""
    parents = source.nodes.parents
    way: list[ast.AST] = []
    above = parents.get(node)
    while above is not None:
        if above is source.tree or hasattr(above, "lineno"):
            way.append(above)
        above = parents.get(above)
    return way[::-1]


def _branch(node: ast.If | ast.IfExp, below: ast.AST) -> Phase:
    """The part of training that a branch of `if is_training:` is for."""
    tested = tested_phase(node.test)
    if tested is None or below is node.test:
        return Phase.UNKNOWN
    word, is_exact = tested
    in_body = below in node.body if isinstance(node.body, list) else below is node.body
    phase = {"train": Phase.TRAIN, "evaluate": Phase.EVALUATE, "predict": Phase.PREDICT}[word]
    if in_body:
        return phase
    if not is_exact:
        return Phase.UNKNOWN
    return {Phase.TRAIN: Phase.EVALUATE}.get(phase, Phase.UNKNOWN)


def _guess(node: ast.AST) -> Phase:
    if isinstance(node, ast.Assign):
        names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        return _named(" ".join(names))
    if isinstance(node, Function | ast.ClassDef):
        return _named(node.name)
    return Phase.UNKNOWN


def _named(text: str) -> Phase:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    found = phase_of_words([word.lower() for word in words])
    return {
        "train": Phase.TRAIN,
        "evaluate": Phase.EVALUATE,
        "predict": Phase.PREDICT,
        "both": Phase.BOTH,
    }.get(found or "", Phase.UNKNOWN)


def _together(phases: Iterable[Phase]) -> Phase:
    found = set(phases) - {Phase.UNKNOWN}
    if len(found) > 1:
        # Evaluation and prediction together are no training.
        return Phase.BOTH if found & {Phase.TRAIN, Phase.BOTH} else Phase.EVALUATE
    return found.pop() if found else Phase.UNKNOWN


def _calls(scope: ast.AST) -> Iterator[ast.Call]:
    return (one for one in walk(scope) if isinstance(one, ast.Call))

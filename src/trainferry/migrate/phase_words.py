"""The words by which code says which part of training it is for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from trainferry.migrate.following.flow import Function
from trainferry.migrate.nodes import walk

_WORDS = {
    **dict.fromkeys(("train", "training", "trainer", "finetune"), "train"),
    **dict.fromkeys(
        ("eval", "evaluate", "evaluation", "evaluator", "test", "testing", "dev"), "evaluate"
    ),
    **dict.fromkeys(("valid", "validate", "validation", "val"), "evaluate"),
    **dict.fromkeys(("predict", "prediction", "infer", "inference", "serving", "demo"), "predict"),
}
_SWITCHES = frozenset(
    {
        *("is_training", "is_train", "training", "train", "istraining", "istrain"),
        *("for_training", "is_training_phase", "train_mode", "train_phase", "training_mode"),
    }
)
_TURNED = frozenset(
    {
        *("is_eval", "is_evaluating", "is_test", "is_testing", "is_validation", "is_inference"),
        *("is_predict", "eval_mode", "test_mode"),
    }
)


def is_switch_name(name: str) -> bool:
    """Whether a name says `true in training`."""
    return name.lower().lstrip("_") in _SWITCHES


def is_turned_switch_name(name: str) -> bool:
    """Whether a name says `false in training`."""
    return name.lower().lstrip("_") in _TURNED


def phase_of_words(words: Iterable[str]) -> str | None:
    """What whole words say: `train`, `evaluate`, `predict`, or `both` where they differ."""
    found = {_WORDS[word] for word in words if word in _WORDS}
    if len(found) > 1:
        return "both" if "train" in found else "evaluate"
    return found.pop() if found else None


def tested_phase(test: ast.expr) -> tuple[str, bool] | None:
    """What a condition asks for, and whether its opposite is known when it is false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = tested_phase(test.operand)
        return ("evaluate", False) if inner == ("train", True) else None
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        found = [one for part in test.values if (one := tested_phase(part)) is not None]
        return (found[0][0], False) if found else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test)
    name = _last_name(test) or ""
    is_turned = is_turned_switch_name(name)
    return ("train", True) if is_switch_name(name) else ("evaluate", False) if is_turned else None


def _compared(test: ast.Compare) -> tuple[str, bool] | None:
    """`mode == tf.estimator.ModeKeys.TRAIN`, `split == "train"`, `is_training is True`."""
    (operator,) = test.ops
    (right,) = test.comparators
    if isinstance(right, ast.Constant) and isinstance(right.value, bool):
        name = _last_name(test.left)
        is_train = name is not None and is_switch_name(name)
        if not is_train or not isinstance(operator, ast.Is | ast.Eq):
            return None
        return ("train", True) if right.value else ("evaluate", False)
    word = right.value if isinstance(right, ast.Constant) else _last_name(right)
    phase = _WORDS.get(word.lower()) if isinstance(word, str) else None
    if phase is None:
        return None
    if isinstance(operator, ast.Eq):
        return phase, True
    return ("evaluate", False) if isinstance(operator, ast.NotEq) and phase == "train" else None


def _last_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def switch_of(function: Function) -> str | ast.Compare | None:
    """What is true in training: a parameter, or a comparison that the function has."""
    for one in parameters_of(function):
        if is_truth(function, one.arg):
            if is_switch_name(one.arg):
                return one.arg
            if is_turned_switch_name(one.arg):
                return f"not {one.arg}"
    return _compared_mode(function)


def parameters_of(function: Function) -> list[ast.arg]:
    """The parameters of a function that have names for arguments."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def is_truth(function: Function, name: str) -> bool:
    """Whether a parameter is true or false, not for example the data to train with."""
    if name.startswith("is_") or name == "training":
        return True
    defaults = [*function.args.defaults, *function.args.kw_defaults]
    for one, default in zip(reversed(function.args.args), reversed(defaults), strict=False):
        if one.arg == name and isinstance(default, ast.Constant):
            return isinstance(default.value, bool)
    tests = (one.test for one in walk(function) if isinstance(one, ast.If | ast.IfExp))
    return any(isinstance(test, ast.Name) and test.id == name for test in tests)


def _compared_mode(function: Function) -> ast.Compare | None:
    """`mode == tf.estimator.ModeKeys.TRAIN` as the function itself writes it."""
    parameters = {one.arg for one in parameters_of(function)}
    for one in walk(function):
        if (
            isinstance(one, ast.Compare)
            and isinstance(one.left, ast.Name)
            and one.left.id in parameters
            and isinstance(one.ops[0], ast.Eq)
            and tested_phase(one) == ("train", True)
        ):
            return one
    return None

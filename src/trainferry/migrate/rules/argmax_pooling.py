"""Use the operator whose gradient is fast on the NPU for poolings of 3 by 3 in steps of 2.

The gradient of the large max pooling behind the first convolution is slow on the NPU.
`tf.nn.max_pool_with_argmax` keeps where each maximum was, which makes the gradient cheap. Only
the first pooling of a function with a window of 3 and a stride of 2 is changed, as in the stem of
ResNet and DenseNet. Values and gradients are the same.

    -net = tf.layers.max_pooling2d(net, 3, 2, padding='same')
    +net = tf.nn.max_pool_with_argmax(net, (1, 3, 3, 1), (1, 2, 2, 1), padding='SAME')[0]

By hand: sizes or axes that the call does not show, pooling of slim, channels first. Not touched:
other windows and strides, later poolings, and functions whose parameters give the sizes.

Source: Ascend TF Adapter 1.x migration guide, performance; the vendor's own port of ResNet-50.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call

CONCERN = Concern.SPEED
OPT_IN = True

_LAYER = "tf.layers.max_pooling2d"
_POOLINGS = (
    _LAYER,
    "tf.nn.max_pool",
    "tf.contrib.slim.max_pool2d",
    "tf.contrib.layers.max_pool2d",
    "tf_slim.max_pool2d",
)
_NAMES = (("input", "inputs", "value"), ("ksize", "pool_size"), ("strides",), ("padding",))
_LAST = ("NHWC", "channels_last")
_WANTED = ((1, 3, 3, 1), (1, 2, 2, 1))


@on_call(*_POOLINGS)
def argmax_pooling(call: Call, file: File) -> Iterator[Finding]:
    if not _is_first(call, file) or _is_general(call, file):
        return
    sizes = [_size(_argument(call, place)) for place in (1, 2)]
    if any(size is not None and size != want for size, want in zip(sizes, _WANTED, strict=True)):
        return
    edits = _edits(call, file) if None not in sizes else None
    if edits is None:
        text = "tf.nn.max_pool_with_argmax(x, ksize, strides, padding)[0]"
        message = (
            f"if it is the pooling of a stem, 3 by 3 in steps of 2, write it as `{text}` with its "
            "own sizes, channels last"
        )
        yield Finding(call, Outcome.BY_HAND, message)
        return
    message = "the same pooling with a gradient that is fast on the NPU"
    yield Finding(call, Outcome.CHANGED, message, edits)


def _is_first(call: Call, file: File) -> bool:
    around = file.function(call.node)
    poolings = file.calls_of(*_POOLINGS, "tf.nn.max_pool_with_argmax")
    same = (one for one in poolings if file.function(one.node) is around)
    return next(same).node is call.node


def _is_general(call: Call, file: File) -> bool:
    """Whether it is a branch, or a function for all poolings with sizes from its parameters."""
    function = file.function(call.node)
    given = None if function is None else function.args
    names = [] if given is None else [one.arg for one in (*given.args, *given.kwonlyargs)]
    sizes = (_argument(call, place) for place in (1, 2))
    if any(isinstance(one, ast.Name) and one.id in names for size in sizes for one in _parts(size)):
        return True
    return file.text(file.statement(call.node)).startswith(("branch", "tower"))


def _parts(size: ast.expr | None) -> list[ast.expr | None]:
    """What `[1, k, k, 1]` is written of; anything else is one part."""
    return [*size.elts] if isinstance(size, ast.List | ast.Tuple) else [size]


def _argument(call: Call, place: int) -> ast.expr | None:
    found = (call.argument(place, name) for name in _NAMES[place])
    return next((one for one in found if one is not None), None)


def _size(node: ast.expr | None) -> tuple[int, ...] | None:
    """The four sizes that an argument shows; None when it shows none."""
    try:
        value = None if node is None else ast.literal_eval(node)
    except ValueError:
        return None
    if isinstance(value, int):
        return (1, value, value, 1)
    if isinstance(value, tuple | list) and all(isinstance(one, int) for one in value):
        return (1, *value, 1) if len(value) == 2 else tuple(value)
    return None


def _edits(call: Call, file: File) -> tuple[Edit, ...] | None:
    function = _function(call, file)
    padding = _argument(call, 3)
    if function is None or call.has_star_arguments or len(call.node.args) > 5:
        return None
    if any(call.gives_twice(place, *names) for place, names in enumerate(_NAMES)):
        return None
    if _text(call.argument(4, "data_format"), "NHWC") not in _LAST:
        return None
    if _text(padding, "valid").upper() not in ("SAME", "VALID"):
        return None
    edits = [call.replace_function(function), *_argument_edits(call)]
    end = call.source.span(call.node)[1]
    edits.append(Edit(end, end, "[0]"))
    if padding is None:
        edits.append(call.add_keyword("padding='VALID'"))
    return tuple(edits)


def _argument_edits(call: Call) -> Iterator[Edit]:
    texts = {1: "(1, 3, 3, 1)", 2: "(1, 2, 2, 1)"}
    for place, text in texts.items() if call.name == _LAYER else ():
        value = _argument(call, place)
        assert value is not None
        yield call.replace_argument(value, text)
    for value in (_argument(call, 3), call.argument(4, "data_format")):
        text = _text(value, "SAME")
        if value is not None and text not in ("SAME", "VALID", "NHWC"):
            new = "NHWC" if text in _LAST else text.upper()
            yield call.replace_argument(value, f"'{new}'")
    for names in _NAMES:
        for name in names[1:]:
            if keyword := call.keyword(name):
                yield call.rename_keyword(keyword, names[0])


def _text(node: ast.expr | None, default: str) -> str:
    if node is None:
        return default
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _function(call: Call, file: File) -> str | None:
    """How the file spells `tf.nn.max_pool_with_argmax`; None where `tf` is not at hand."""
    if call.name not in (_LAYER, "tf.nn.max_pool"):
        return None
    function = call.node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute):
        above = function.value.value
        if file.full_name(above) == "tf":
            return f"{file.text(above)}.nn.max_pool_with_argmax"
    return "tf.nn.max_pool_with_argmax" if file.names.top_name(file.source, "tf") == "tf" else None

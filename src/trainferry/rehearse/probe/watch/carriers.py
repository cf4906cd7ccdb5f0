"""Carries shapes through loops, tensor arrays and stacks, where inference does not follow.

Each of these hands a value on whose shape TensorFlow's own inference forgets: into a loop, around
it, into an array and out of it. Where the script let a shape change on the way (a loop with another
shape than its input, an array whose elements differ), the shapes do not agree, and nothing is
carried: what is dynamic stays open.
"""

from .index import owner

_PASSING = {"Enter", "RefEnter", "Switch", "RefSwitch", "Merge", "Identity", "TensorArrayGradV3"}
_HOLDERS = {"TensorArrayV3", "StackV2"}
# Operators that put a value into a holder: which of their inputs is the value.
_WRITERS = {"TensorArrayWriteV3": 2, "TensorArrayScatterV3": 2, "StackPushV2": 1}
_READERS = {"TensorArrayReadV3", "TensorArrayGatherV3", "StackPopV2"}
_WHOLE = {"TensorArrayScatterV3", "TensorArrayGatherV3"}  # all elements at once


class Carriers:
    """The carriers of one run, found once."""

    def __init__(self, index, operators):
        self._nodes = index.nodes
        self._handed = []  # (tensor before, operator after)
        self._writers, self._readers = {}, {}
        for name in operators:
            node = self._nodes[name]
            if self._hands_on(node):
                self._handed.append((node.inputs[0], name))
            elif node.kind in _WRITERS:
                self._add(self._writers, name)
            elif node.kind in _READERS:
                self._add(self._readers, name)
        # An Enter before the Merge behind it: both learn in one pass.
        self._handed.sort(key=lambda pair: self._nodes[pair[1]].kind == "Merge")

    def __bool__(self):
        return bool(self._handed or self._readers)

    def learn(self, known, found):
        """What can be carried, {operator: shapes}, from the script's graph and what was found."""
        learnt = {}

        def now(tensor):
            name, number = _split(tensor)
            return learnt.get(name, found[name])[number]

        for before, name in self._handed:
            source, number = _split(before)
            if known[source][number] == known[name][0]:
                self._offer(learnt, found, name, now(before))
        for holder, readers in self._readers.items():
            element = self._element(holder, now)
            for name in readers:
                self._offer(learnt, found, name, self._seen_by(name, element, found))
        return learnt

    def _offer(self, learnt, found, name, shape):
        merged = _merge(found[name][0], shape)
        if merged != found[name][0]:
            learnt[name] = [merged, *found[name][1:]]

    def _element(self, holder, now):
        """The shape of everything in a holder, as far as those who write to it know."""
        element = None
        for name in self._writers.get(holder, ()):
            node = self._nodes[name]
            shape = now(node.inputs[_WRITERS[node.kind]])
            if shape is not None and node.kind in _WHOLE:
                shape = shape[1:]
            if not self._is_uniform(holder) and shape != (element or shape):
                return None
            if _contradict(element, shape):
                return None
            element = _merge(element, shape)
        return element

    def _is_uniform(self, holder):
        """Whether TensorFlow itself makes sure that all elements have one shape."""
        return self._nodes[holder].attributes.get("identical_element_shapes", False)

    def _seen_by(self, name, element, found):
        if element is None or self._nodes[name].kind not in _WHOLE:
            return element
        shape = found[name][0]
        return [shape[0] if shape else None, *element]

    def _add(self, groups, name):
        holder = self._holder(name)
        if holder is not None:
            groups.setdefault(holder, []).append(name)

    def _holder(self, name):
        """The array or stack behind an operator; the array of gradients is that of the values."""
        seen = set()
        name = owner(self._nodes[name].inputs[0])
        while self._nodes[name].kind in _PASSING and name not in seen:
            seen.add(name)
            name = owner(self._nodes[name].inputs[0])
        return name if self._nodes[name].kind in _HOLDERS else None

    def _hands_on(self, node):
        if node.kind == "Merge":  # one of a condition has other inputs
            return self._nodes[owner(node.inputs[0])].kind in ("Enter", "RefEnter")
        return node.kind in ("Enter", "RefEnter", "NextIteration")


def _split(tensor):
    name, _, number = tensor.partition(":")
    return name, int(number or 0)


def _merge(shape, other):
    """The dimensions that either of two shapes has; `shape` where they contradict each other."""
    if shape is None or other is None:
        return other if shape is None else shape
    if _contradict(shape, other):
        return shape
    return [theirs if ours is None else ours for ours, theirs in zip(shape, other)]


def _contradict(shape, other):
    if shape is None or other is None:
        return False
    if len(shape) != len(other):
        return True
    return any(None not in pair and pair[0] != pair[1] for pair in zip(shape, other))

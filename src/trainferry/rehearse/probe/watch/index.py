"""Knows the operators of a graph by name, and keeps up with a graph that grows."""

from .attributes import read_attributes
from .on_graphs import kept_on


class Node:
    """One operator: what it is, and what it needs."""

    __slots__ = ("attributes", "functions", "inputs", "kind", "stand_in")

    def __init__(self, proto):
        self.kind = proto.op
        self.inputs = tuple(proto.input)
        self.attributes, self.stand_in, self.functions = read_attributes(proto)


class Index:
    """The operators of one graph, read once."""

    def __init__(self):
        self.nodes = {}
        self.makers = {}  # {iterator: [operators that give it its data]}
        self._bodies = {}

    def read(self, graph):
        """Read what was added to the graph since."""
        operators = graph.get_operations()
        for operator in operators[len(self.nodes) :]:
            node = self.nodes[operator.name] = Node(operator.node_def)
            if node.kind == "MakeIterator":
                self.makers.setdefault(owner(node.inputs[1]), []).append(operator.name)

    def kinds_called(self, graph, functions):
        """The kinds of operators inside functions, and inside those that they call."""
        found, todo, seen = set(), list(functions), set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            for node in self.body(graph, name):
                found.add(node.kind)
                todo += node.functions
        return found

    def body(self, graph, function):
        """The nodes of a function's body, without names."""
        if function not in self._bodies:
            definition = graph._get_function(function)
            protos = definition.definition.node_def if definition is not None else ()
            self._bodies[function] = [Node(proto) for proto in protos]
        return self._bodies[function]

    def closure(self, starts, feeds=()):
        """The names of all operators that `starts` need; tensors in `feeds` need nothing."""
        nodes, reached = self.nodes, set()
        todo = [owner(name) for name in starts if tensor_name(name) not in feeds]
        while todo:
            name = todo.pop()
            if name in reached:
                continue
            reached.add(name)
            for source in nodes[name].inputs:
                if feeds and source[0] != "^" and tensor_name(source) in feeds:
                    continue
                before = owner(source)
                if before not in reached:
                    todo.append(before)
        return reached


def index_of(graph):
    """The index of a graph, up to date."""
    index = kept_on(graph, "index", Index)
    index.read(graph)
    return index


def owner(name):
    """The operator of an input such as `a`, `a:1` or `^a`."""
    if name[0] == "^":
        return name[1:]
    return name.split(":", 1)[0]


def tensor_name(name):
    """The full name of a tensor: its first output may be written without a number."""
    return name if ":" in name else name + ":0"

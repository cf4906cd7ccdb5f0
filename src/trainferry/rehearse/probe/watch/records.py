"""One kind of run, and one train step: what the other parts of the probe see of them."""


class Run:
    """A set of fetches and feeds of one graph, whatever their values."""

    def __init__(self, number, graph, fetches, feeds, operators):
        self.number = number
        self.session = 0  # the number of the session that ran it first
        self.graph = graph
        self.fetches = fetches
        self.feeds = feeds
        self.connected = {}  # {tensor that Keras feeds: tensor whose value it is}
        self.operators = operators
        self.train = False
        self.losses = []
        self.gradients = []
        self.inputs = {}  # {name of tensor: tensor} of iterators and queues, read at every step
        self.extra = {}  # {name: tensor} that other parts of the probe asked for
        self.version = graph.version
        self.wanted = []  # all tensors that are fetched beside the script's own
        self.file = None
        self.starts_device = self.ends_device = False
        self.loop = 1  # steps that the device makes in one such run
        self.shapes = None  # of the inputs, at the latest step
        self.shapes_told = []  # filled once it was told which shapes stay open; of one file

    def add_wanted(self, *groups):
        names = {tensor.name for tensor in self.wanted}
        for group in groups:
            for tensor in group:
                if tensor.name not in names:
                    names.add(tensor.name)
                    self.wanted.append(tensor)

    def can_fetch(self, tensor):
        """Whether the run computes `tensor` where a session can read it."""
        operator = tensor.op
        return (
            operator.graph is self.graph
            and operator.name in self.operators
            and tensor.dtype.base_dtype.name not in ("resource", "variant")
            and operator._get_control_flow_context() is None
            and self.graph.is_fetchable(operator)
        )


class Step:
    """One train step; `values` and `loss` are there when it has run."""

    def __init__(self, number, run, session, feeds, read):
        self.number = number
        self.run = run
        self.session = session
        self.feeds = feeds
        self.values = {}
        self.loss = None
        self._read = read

    def read(self, fetches, feed_dict=None):
        """Run something that is not part of the script: it is neither watched nor counted."""
        return self._read(self.session, fetches, feed_dict)

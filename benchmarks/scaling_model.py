"""How long a training step takes on many ranks, on paper: one page of arithmetic, no torch.

A step computes the rank's share of the batch, and waits for others twice: in every synchronised
norm, and for what of the gradient sums the backward pass did not hide. `docs/concepts/scaling.md`
explains it; `scaling.py` measures what goes in, and how far off it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BUCKET_BYTES = 25 * 2**20  # as in trainferry.train.gradients
BACKWARD_SHARE = 2 / 3  # of computing: two products for each one of the forward pass


@dataclass(frozen=True)
class Link:
    """One way of a connection, as a rank has it for itself."""

    bytes_per_second: float
    seconds_per_message: float

    def send(self, size: float, messages: float) -> float:
        return size / self.bytes_per_second + messages * self.seconds_per_message


@dataclass(frozen=True)
class Cluster:
    """Servers that are alike, with so many ranks each, and how these are connected.

    With `cores`, ranks are processes on so many cores that compute and carry messages both:
    nothing is hidden, and more ranks than cores take turns. `apart` is how many seconds ranks
    come one after the other to a sum in the midst of computing.
    """

    servers: int
    per_server: int
    inside: Link
    between: Link
    cores: float | None = None
    apart: float = 0.0

    @property
    def ranks(self) -> int:
        return self.servers * self.per_server

    @property
    def turns(self) -> float:
        """How many times longer everything takes because ranks share cores."""
        return 1.0 if self.cores is None else max(1.0, self.ranks / self.cores)

    def all_reduce(self, size: float) -> float:
        """Seconds until every rank has the sum of everybody's `size` bytes.

        In a server a ring: scatter, then gather. Between servers each rank sums its own part
        with its namesakes, halving and doubling where the servers are a power of two.
        """
        local, servers = self.per_server, self.servers
        seconds = self.inside.send(2 * (local - 1) / local * size, 2 * (local - 1))
        hops = math.log2(servers) if servers & (servers - 1) == 0 else servers - 1
        seconds += self.between.send(2 * (servers - 1) / servers * size / local, 2 * hops)
        return self.turns * seconds

    def all_gather(self, size: float) -> float:
        """Seconds until every rank has everybody's `size` bytes, first those between servers."""
        local, servers = self.per_server, self.servers
        hops = math.log2(servers) if servers & (servers - 1) == 0 else servers - 1
        seconds = self.between.send((servers - 1) * size, hops)
        seconds += self.inside.send((local - 1) * servers * size, local - 1)
        return self.turns * seconds


@dataclass(frozen=True)
class Network:
    """What of a network travels: its gradients, and two values for each channel of a norm."""

    weights: int
    norm_channels: tuple[int, ...] = ()
    bytes_per_value: int = 4

    @property
    def gradient_bytes(self) -> int:
        return self.weights * self.bytes_per_value


@dataclass(frozen=True)
class Step:
    """Seconds of a step by what they are spent on."""

    computing: float
    norms: float
    gradients: float

    @property
    def seconds(self) -> float:
        return self.computing + self.norms + self.gradients

    @property
    def efficiency(self) -> float:
        """The share of the time in which a rank computes."""
        return self.computing / self.seconds


def predict(
    network: Network,
    computing: float,
    cluster: Cluster,
    *,
    synchronised: bool = False,
    overlapping: bool = True,
) -> Step:
    """Predict a step of ranks that need `computing` seconds each for their shares, if alone."""
    computing *= cluster.turns
    if cluster.ranks == 1:
        return Step(computing, 0.0, 0.0)
    norms = 0.0
    if synchronised:
        for channels in network.norm_channels:
            size = 2 * channels * network.bytes_per_value
            norms += cluster.all_gather(size) + cluster.all_reduce(size)
            norms += 2 * cluster.turns * cluster.apart
    hidden = overlapping and cluster.cores is None
    backward = BACKWARD_SHARE * computing if hidden else 0.0
    return Step(computing, norms, _left_over(network.gradient_bytes, backward, cluster))


def _left_over(size: int, backward: float, cluster: Cluster) -> float:
    """Seconds from the end of the backward pass until the last bucket is summed.

    Buckets become ready evenly over the backward pass, and are summed one after the other.
    """
    buckets = max(1, math.ceil(size / BUCKET_BYTES))
    each = cluster.all_reduce(size / buckets)
    end = 0.0
    for number in range(1, buckets + 1):
        end = max(end, backward * number / buckets) + each
    return end - backward

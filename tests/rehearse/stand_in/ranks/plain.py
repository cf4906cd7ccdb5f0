"""Exchanges over the hub without TensorFlow: many threads at once, scalars, large arrays."""

import sys
import threading

import numpy as np

from trainferry_stand_in import client, exchange, ranks, state


class Call:
    """A collective with a name of its own."""

    kind, group, place = "allreduce", ranks.WORLD, "plain.py:1"

    def __init__(self, name):
        self.name = name

    def next_tag(self):
        return self.name


def together(count):
    """All threads meet, then ask for the line to the hub at the same moment."""
    barrier = threading.Barrier(count)
    lines, errors = set(), []

    def work(index):
        barrier.wait()
        lines.add(id(client.hub()))
        array = np.full([1000 * (index + 1)], index + ranks.world_rank(), np.float32)
        for step in range(5):
            (total,) = exchange.allreduce(Call(f"{index}/{step}"), [array], "sum")
            if not (total == 2 * index + 1).all():
                errors.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines) == 1, lines
    assert not errors, errors


def scalar():
    (total,) = exchange.allreduce(Call("scalar"), [np.float32(ranks.world_rank())], "sum")
    assert np.shape(total) == ()
    assert total == 1


if sys.argv[1] == "together":
    together(16)
elif sys.argv[1] == "scalar":
    scalar()
else:
    assert state.members_of(ranks.WORLD) == (0, 1)
    if ranks.world_rank() == 1:
        client.hub()
        sys.exit(0)
    exchange.allreduce(Call("alone"), [np.zeros(2)], "sum")
print("done")

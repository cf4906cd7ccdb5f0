"""What the documentation asks of a rank table for each generation of chips.

Source: CANN, HCCL user guide, "System constraints and limitations" and the three pages
"Rank table configuration"; TensorFlow migration guide, "Precautions". The guides differ over
the years about clusters of the 910: early ones ask for all eight devices of each server, later
ones for equally many, 1, 2, 4 or 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from trainferry.launch.ranktable.finding import Severity

ChipName: TypeAlias = Literal["910", "910b", "910c"]


@dataclass(frozen=True)
class Chip:
    """The rules that differ between chips.

    `ring` is how many neighbouring device ids share a network inside a server, where two or
    four devices may not lie in different ones; 0 where there is no such rule.
    """

    name: ChipName
    products: str
    device_ids: int
    devices_alone: frozenset[int]
    devices_in_cluster: frozenset[int]
    ring: int
    unequal_servers: Severity
    most_servers: int | None
    links: str

    @property
    def is_first_generation(self) -> bool:
        return self.name == "910"


CHIPS: dict[ChipName, Chip] = {
    "910": Chip(
        name="910",
        products="Atlas training products",
        device_ids=8,
        devices_alone=frozenset({1, 2, 4, 8}),
        devices_in_cluster=frozenset({1, 2, 4, 8}),
        ring=4,
        unequal_servers="error",
        most_servers=128,
        links="devices 0-3 are one network and devices 4-7 another",
    ),
    "910b": Chip(
        name="910b",
        products="Atlas A2 training products",
        device_ids=16,
        devices_alone=frozenset(range(1, 17)),
        devices_in_cluster=frozenset(range(1, 9)),
        ring=0,
        unequal_servers="warning",
        most_servers=None,
        links="any devices may work together",
    ),
    "910c": Chip(
        name="910c",
        products="Atlas A3 training products",
        device_ids=16,
        devices_alone=frozenset(range(1, 17)),
        devices_in_cluster=frozenset(range(1, 17)),
        ring=0,
        unequal_servers="warning",
        most_servers=None,
        links="any devices may work together; each chip is two devices",
    ),
}

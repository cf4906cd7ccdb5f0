"""An all-reduce of known numbers over all ranks: is the sum right, and how long does it take?

It runs in a thread of its own with its own connection to the store, because a library that
waits for a lost rank may never come back; the rank itself goes on and tells what it knows.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from trainferry.launch.preflight.board import Board, SilenceError, open_stores
from trainferry.launch.preflight.limited import start_limited
from trainferry.launch.preflight.place import Place

if TYPE_CHECKING:
    import torch
    from torch._C._distributed_c10d import Store

SIZES = {"1 MB": 1_000_000, "64 MB": 64_000_000}  # bytes of 32-bit numbers
_REPEATS = {"1 MB": 5, "64 MB": 2}
_PAIRS_BYTES = SIZES["1 MB"]
_PLACES = re.compile(r"\[(?:enforce fail at )?/[^\]]*:\d+\] |\$\d+")

Fill: TypeAlias = Callable[["torch.device", int, int], "torch.Tensor"]


def fill(device: torch.device, rank: int, numbers: int) -> torch.Tensor:
    """What a rank sends: its number plus one, so that no rank adds nothing."""
    import torch

    return torch.full((numbers,), rank + 1, dtype=torch.float32, device=device)


@dataclass(frozen=True)
class TrialPlan:
    """Over which backend, on which kind of device, and how long at most."""

    backend: str
    device: str
    seconds: float

    @property
    def patience(self) -> float:
        """When the library itself gives up: gloo in time to say why.

        Those of devices end the whole process then, so that it could say nothing.
        """
        return 0.8 * self.seconds if self.backend == "gloo" else 10 * self.seconds

    def key(self, name: str, rank: int | None = None) -> str:
        """Where a notice of this trial is posted."""
        return f"{name}/{self.backend}" + ("" if rank is None else f"/{rank}")


def start_trial(plan: TrialPlan, place: Place, fill: Fill) -> threading.Thread:
    """One rank's part. Posts `sum`, waits for rank 0's `pairs`, and posts `heard` if asked to."""

    def take_part() -> None:
        try:
            board, store = open_stores(place, plan.seconds, plan.backend)
            _take_part(plan, place, fill, board, store)
        except SilenceError:
            return  # rank 0 sees that nothing came from here

    return start_limited(take_part)


def _take_part(plan: TrialPlan, place: Place, fill: Fill, board: Board, store: Store) -> None:
    from torch import distributed

    try:
        device = _choose(plan.device, place.device)
        distributed.init_process_group(
            plan.backend,
            store=store,
            rank=place.rank,
            world_size=place.ranks,
            timeout=timedelta(seconds=plan.patience),
        )
        told = _measure(place, fill, device)
    except (RuntimeError, ValueError, OSError, AssertionError) as error:
        board.post(plan.key("sum", place.rank), {"error": _first_line(error)})
        return
    board.post(plan.key("sum", place.rank), told)
    if board.read(plan.key("pairs"), plan.seconds, "rank 0 to compare the sums"):
        board.post(plan.key("heard", place.rank), _hear_all(place, fill, device))
    distributed.destroy_process_group()


def _choose(kind: str, number: int) -> torch.device:
    import torch

    if kind == "cpu":
        return torch.device("cpu")
    torch.accelerator.set_device_index(number)
    return torch.device(kind, number)


def _measure(place: Place, fill: Fill, device: torch.device) -> dict[str, Any]:
    """Seconds of the quickest all-reduce of each size, and how many numbers were wrong."""
    from torch import distributed

    right = place.ranks * (place.ranks + 1) // 2
    seconds: dict[str, float] = {}
    wrong = 0
    distributed.all_reduce(fill(device, place.rank, 1))  # connections are made here
    for name, size in SIZES.items():
        times = []
        for _ in range(_REPEATS[name]):
            numbers = fill(device, place.rank, size // 4)
            _wait_for(device)
            started = time.perf_counter()
            distributed.all_reduce(numbers)
            _wait_for(device)
            times.append(time.perf_counter() - started)
            wrong = max(wrong, int((numbers != right).sum()))
        seconds[name] = min(times)
    return {"error": "", "seconds": seconds, "wrong": wrong, "first": float(numbers[0])}


def _hear_all(place: Place, fill: Fill, device: torch.device) -> list[int]:
    """Each rank sends its numbers to all; the ranks whose numbers arrive wrong here."""
    from torch import distributed

    wrong = []
    for sender in range(place.ranks):
        numbers = fill(device, place.rank, _PAIRS_BYTES // 4)
        distributed.broadcast(numbers, src=sender)
        if bool((numbers != sender + 1).any()):
            wrong.append(sender)
    return wrong


def _wait_for(device: torch.device) -> None:
    if device.type != "cpu":
        import torch

        torch.accelerator.synchronize(device)


def _first_line(error: BaseException) -> str:
    """What a library says, without the places in its source and the numbers of its pairs."""
    text = _PLACES.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__

"""Ranks that compute together: sums over all of them, and small messages between them.

Tensors of an accelerator travel by its own library; what is on the CPU, messages among it, by
gloo. A process that is alone is a group of one, for which nothing is sent and nothing copied.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

from trainferry.devices.place import ALONE_HERE, Place
from trainferry.errors import LaunchError, TrainferryError

Wait = Callable[[], None]


class Group:
    """The ranks of a run, as one of them sees them. All ranks must call the same in one order."""

    def __init__(self, place: Place, library: str, device: torch.device) -> None:
        self.place = place
        self.rank = place.rank
        self.ranks = place.ranks
        self.library = library
        # The emulated NPU has no library of its own: what it sums goes through the CPU.
        self._staged = library == "gloo" and device.type != "cpu"

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    @property
    def is_alone(self) -> bool:
        return self.ranks == 1

    def sum(self, tensor: Tensor) -> None:
        """Put the sum over all ranks into the tensor; the same bits on every rank."""
        self.start_sum(tensor)()

    def start_sum(self, tensor: Tensor) -> Wait:
        """Start to sum; the tensor holds the sum when what is returned was called."""
        if self.is_alone:
            return _nothing
        if self._staged and tensor.device.type != "cpu":
            here = tensor.cpu()
            self.start_sum(here)()
            tensor.copy_(here)
            return _nothing
        with self._explained():
            work = dist.all_reduce(tensor, async_op=True)
        return lambda: self._wait(work)

    def stack(self, tensor: Tensor) -> Tensor:
        """Return the tensors of all ranks on each other, R …, in the order of the ranks."""
        if self.is_alone:
            return tensor[None]
        if self._staged and tensor.device.type != "cpu":
            return self.stack(tensor.cpu()).to(tensor.device)
        rows = tensor.new_empty((self.ranks, *tensor.shape))
        with self._explained():
            dist.all_gather(list(rows.unbind()), tensor.contiguous())
        return rows

    def send_from_first(self, tensors: Iterable[Tensor]) -> None:
        """Give the tensors the values that they have on rank 0."""
        if self.is_alone:
            return
        for tensor in tensors:
            plain = tensor.detach().to("cpu" if self._staged else tensor.device).contiguous()
            with self._explained():
                dist.broadcast(plain, src=0)
            if plain.data_ptr() != tensor.data_ptr() or plain.stride() != tensor.stride():
                with torch.no_grad():
                    tensor.copy_(plain)

    def gather(self, fact: Any) -> list[Any]:  # noqa: ANN401  # whatever JSON holds
        """Return what every rank says, in their order, on every rank; for small things."""
        if self.is_alone:
            return [fact]
        message = _packed(fact)
        sizes = self.stack(torch.tensor(len(message))).tolist()
        padded = torch.zeros(max(sizes), dtype=torch.uint8)
        padded[: len(message)] = message
        rows = self.stack(padded)
        return [_unpacked(row[:size]) for row, size in zip(rows, sizes, strict=True)]

    def ask_first(self, act: Callable[[], Any]) -> Any:  # noqa: ANN401  # whatever JSON holds
        """Let rank 0 alone act, and return what came out of it on every rank.

        Where it fails there, every rank raises.
        """
        if self.is_alone:
            return act()
        if not self.is_first:
            return self._hear_first()
        try:
            result = act()
        except TrainferryError as error:
            self._tell({"problem": str(error), "hint": error.hint})
            raise
        self._tell({"result": result})
        return result

    def wait_for_all(self) -> None:
        """Go on when every rank is here."""
        self.sum(torch.zeros(1))

    def _tell(self, answer: dict[str, Any]) -> None:
        message = _packed(answer)
        self.send_from_first([torch.tensor(len(message)), message])

    def _hear_first(self) -> Any:  # noqa: ANN401  # whatever JSON holds
        size = torch.zeros((), dtype=torch.int64)
        self.send_from_first([size])
        message = torch.zeros(int(size), dtype=torch.uint8)
        self.send_from_first([message])
        answer = _unpacked(message)
        if "problem" in answer:
            raise LaunchError(f"rank 0: {answer['problem']}", hint=answer["hint"])
        return answer["result"]

    def _wait(self, work: dist.Work) -> None:
        with self._explained():
            work.wait()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the libraries raise into words."""
        try:
            yield
        except RuntimeError as error:
            raise LaunchError(
                f"rank {self.rank} of {self.ranks} lost the others: {what_was_seen(error)}",
                hint="a rank ended or does not answer: its own messages say why. The same command "
                "goes on from the last checkpoint; `trainferry launch` gives it again by itself",
            ) from error


def what_was_seen(error: RuntimeError) -> str:
    """Return what a library says, without the place in its source and without its advice."""
    line = re.sub(r"^\[\S+:\d+\] ", "", str(error).splitlines()[0])
    return line.partition(". This is typically")[0]


ALONE = Group(ALONE_HERE, "", torch.device("cpu"))


def _packed(fact: object) -> Tensor:
    return torch.frombuffer(bytearray(json.dumps(fact).encode()), dtype=torch.uint8)


def _unpacked(message: Tensor) -> Any:  # noqa: ANN401  # whatever JSON holds
    return json.loads(message.numpy().tobytes())


def _nothing() -> None:
    """There is nothing to wait for."""

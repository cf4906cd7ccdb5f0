"""The notice board of all ranks: a store of torch that rank 0 holds, with a limit to every wait.

Ranks need no file system in common: what one posts, all can read. Notices are JSON.
"""

from __future__ import annotations

import json
import socket
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from trainferry.errors import LaunchError, MissingPackageError
from trainferry.launch.preflight.limited import Answer, ask_within
from trainferry.launch.preflight.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch._C._distributed_c10d import Store

_PAUSE_SECONDS = 0.1
_ANSWER_SECONDS = 5.0  # for rank 0's machine to say anything at all
_ADDRESS_HINT = "give the address of rank 0's machine as all machines reach it, and a free port"
_LOCAL_NAMES = ("localhost", "127.", "::1")


class SilenceError(LaunchError):
    """Something that was waited for did not come in time."""


class Board:
    """Notices under names; waiting for one that does not come raises SilenceError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def post(self, name: str, notice: object) -> None:
        self._ask("it to take a notice", lambda: self._store.set(name, json.dumps(notice)))

    def read(self, name: str, seconds: float, what: str) -> Any:  # noqa: ANN401 (it is JSON)
        """The notice; `what` names it where it does not come."""
        limit = timedelta(seconds=max(seconds, 0.01))
        self._ask(what, lambda: self._store.wait([name], limit), seconds)
        return json.loads(self._ask(what, lambda: self._store.get(name)))

    def read_all(self, names: Iterable[str], seconds: float) -> dict[str, Any]:
        """Those notices that are there after `seconds`, or as soon as all are."""
        until = time.monotonic() + seconds
        found: dict[str, Any] = {}
        for name in names:
            while not self.has(name) and time.monotonic() < until:
                time.sleep(_PAUSE_SECONDS)
            if self.has(name):
                found[name] = self.read(name, 1.0, name)
        return found

    def add(self, name: str, number: int = 1) -> int:
        """Add to a count that all ranks share; the new count."""
        return int(self._ask("it to count", lambda: self._store.add(name, number)))

    def wait_for_count(self, name: str, number: int, seconds: float) -> int:
        """The count when it has reached `number`, or after `seconds`."""
        until = time.monotonic() + seconds
        while (count := self.add(name, 0)) < number and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        return count

    def has(self, name: str) -> bool:
        return bool(self._ask("it to look", lambda: self._store.check([name])))

    def _ask(self, what: str, question: Callable[[], Answer], seconds: float = 0.0) -> Answer:
        from torch.distributed import DistNetworkError, DistStoreError

        try:
            return ask_within(seconds + _ANSWER_SECONDS, question)
        except DistStoreError as error:
            raise SilenceError(
                f"waited {seconds:.0f} s in vain for {what}", hint="look at the output of that rank"
            ) from error
        except (DistNetworkError, TimeoutError) as error:
            raise SilenceError(
                f"lost the connection to rank 0 while waiting for {what}",
                hint="look at the output of rank 0: it ended, or its machine was cut off",
            ) from error


def open_board(place: Place, seconds: float) -> Board:
    """Hold the board on rank 0, and find it from the others, within `seconds`.

    Raises SilenceError where rank 0 is not there, LaunchError where its port is taken.
    """
    is_holder = place.rank == 0 and not place.has_agent_store
    return Board(_prefixed(_connect(place, seconds, is_holder), place))


def open_stores(place: Place, seconds: float, name: str) -> tuple[Board, Store]:
    """The board over a connection of its own, and a store called `name` beside it."""
    store = _connect(place, seconds, is_holder=False)
    return Board(_prefixed(store, place)), _prefixed(store, place, name)


def _prefixed(store: Store, place: Place, name: str = "board") -> Store:
    """What is called the same in an earlier attempt of the run, or by the run, is another."""
    from torch._C._distributed_c10d import PrefixStore

    return PrefixStore(f"preflight/{place.attempt}/{name}", store)


def _connect(place: Place, seconds: float, is_holder: bool) -> Store:
    try:
        from torch._C._distributed_c10d import TCPStore
        from torch.distributed import DistNetworkError
    except ModuleNotFoundError as error:
        raise MissingPackageError("torch", "a preflight") from error
    except (ImportError, OSError, RuntimeError) as error:  # a backend that torch loads on its own
        raise LaunchError(
            f"torch cannot be imported: {error}", hint="`trainferry doctor` here says why"
        ) from error

    if not is_holder:
        _find_rank_0(place, seconds)

    def open_it() -> Store:
        return TCPStore(
            place.address,
            place.port,
            is_master=is_holder,
            timeout=timedelta(seconds=seconds),
            wait_for_workers=False,
        )

    try:
        return ask_within(seconds + _ANSWER_SECONDS, open_it)
    except (DistNetworkError, TimeoutError) as error:
        if "EADDRINUSE" in str(error):
            raise LaunchError(
                f"port {place.port} of rank 0's machine is used by another program",
                hint="end that program, often an earlier run, or choose another port",
            ) from error
        raise SilenceError(_no_store(place, is_holder), hint=_ADDRESS_HINT) from error


def own_address(place: Place) -> str:
    """The address from which this machine reaches rank 0's, and so the one others can try."""
    try:
        with socket.create_connection((place.address, place.port), timeout=5) as connection:
            return str(connection.getsockname()[0])
    except OSError as error:
        raise _missing_rank_0(place, 5, error) from error


def _no_store(place: Place, is_holder: bool) -> str:
    if is_holder:
        return f"rank 0 holds port {place.port}, but does not reach itself at `{place.address}`"
    return f"what answers at `{place.address}` port {place.port} is not rank 0 of a preflight"


def _find_rank_0(place: Place, seconds: float) -> None:
    """Try its port until it answers: plain sockets say why they do not connect."""
    until = time.monotonic() + seconds
    while True:
        try:
            limit = max(until - time.monotonic(), 0.1)
            with socket.create_connection((place.address, place.port), timeout=limit):
                return
        except OSError as error:
            if time.monotonic() + _PAUSE_SECONDS >= until:
                raise _missing_rank_0(place, seconds, error) from error
        time.sleep(_PAUSE_SECONDS)


def _missing_rank_0(place: Place, seconds: float, error: OSError) -> SilenceError:
    why = error.strerror or str(error)
    message = (
        f"rank 0 is missing: `{place.address}` port {place.port} gave no answer "
        f"within {seconds:.0f} s ({why.lower()})"
    )
    if isinstance(error, socket.gaierror):
        return SilenceError(
            message, hint=f"the name `{place.address}` is not known here: use an IP"
        )
    if place.address.startswith(_LOCAL_NAMES) and place.planned_machine(place.rank) != 0:
        hint = f"`{place.address}` is each machine itself: give the address of rank 0's machine"
        return SilenceError(message, hint=hint)
    if isinstance(error, ConnectionRefusedError):
        hint = "its machine is up, the process is not: start rank 0, or read its output"
        return SilenceError(message, hint=hint)
    hint = "is its machine on, and does a firewall drop this port? start rank 0 with the others"
    return SilenceError(message, hint=hint)

"""How ranks meet: the library that fits their device, and time limits for those who do not come."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import socket
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

import torch
from torch import distributed as dist
from torch.distributed import Store, TCPStore  # type: ignore[attr-defined]  # not marked as public
from torch.distributed.rendezvous import rendezvous

from trainferry.devices.collectives import ALONE, Group, what_was_seen
from trainferry.devices.device import is_emulated
from trainferry.devices.place import Place
from trainferry.errors import DeviceError, LaunchError

JOIN_VARIABLE = "TRAINFERRY_JOIN_SECONDS"
WAIT_VARIABLE = "TRAINFERRY_WAIT_SECONDS"
_JOIN_SECONDS = 300
_WAIT_SECONDS = 600

_LIBRARIES = {"cpu": "gloo", "cuda": "nccl", "npu": "hccl"}


def library_of(device: torch.device) -> str:
    """Return which library sums tensors of a device over ranks."""
    return "gloo" if is_emulated(device) else _LIBRARIES[device.type]


@contextlib.contextmanager
def join(place: Place, device: torch.device) -> Iterator[Group]:
    """Meet the other ranks, and part from them when the block ends, however it ends."""
    if place.ranks == 1:
        yield ALONE
        return
    library = library_of(device)
    if not dist.is_available() or not dist.is_backend_available(library):
        raise DeviceError(
            f"this torch cannot connect ranks on `{device.type}`: it has no {library}",
            hint="install the torch that is built for this device, or pass --device cpu",
        )
    backend = "gloo" if library == "gloo" else f"cpu:gloo,{device.type}:{library}"
    # Connections must end before the interpreter does: that late, their threads abort the process.
    # Torch's compiler, which the first optimizer imports, would keep them if it found them; and a
    # run that failed is collected in the end only if somebody asks.
    importlib.import_module("torch._dynamo")
    atexit.register(gc.collect)
    _meet(place, backend)
    group = Group(place, library, device)
    try:
        _check_own_devices(group, device)
        yield group
    finally:
        dist.destroy_process_group()


def _meet(place: Place, backend: str) -> None:
    """Connect all ranks; say which are missing if they do not come in time."""
    seconds = _seconds(JOIN_VARIABLE, _JOIN_SECONDS)
    limit = timedelta(seconds=seconds)
    address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    names = [f"trainferry/{rank}" for rank in range(place.ranks)]
    who = f"rank {place.rank} of {place.ranks}"
    try:
        store = _open_store(place, seconds)
        store.set(names[place.rank], socket.gethostname())
    except (RuntimeError, OSError) as error:
        seen = what_was_seen(error) if isinstance(error, RuntimeError) else str(error)
        raise LaunchError(
            f"{who} found nobody at {address} within {seconds} s: {seen}",
            hint="start all ranks, and check that MASTER_ADDR is the machine of rank 0 and that "
            f"its port can be reached; {JOIN_VARIABLE} sets the time",
        ) from error
    try:
        store.wait(names, limit)
    except RuntimeError as error:
        missing = [rank for rank, name in enumerate(names) if not store.check([name])]
        raise LaunchError(
            f"{who} waited {seconds} s at {address} for {_named(missing)}",
            hint=f"look at the messages of those ranks; {JOIN_VARIABLE} sets the time to wait",
        ) from error
    wait = timedelta(seconds=_seconds(WAIT_VARIABLE, _WAIT_SECONDS))
    try:
        dist.init_process_group(
            backend, store=store, rank=place.rank, world_size=place.ranks, timeout=wait
        )
    except RuntimeError as error:
        raise LaunchError(
            f"{who} could not connect to the others: {what_was_seen(error)}",
            hint="`trainferry launch --check` looks at names, ports and versions of all ranks",
        ) from error


def _open_store(place: Place, seconds: int) -> Store:
    """Open the board where ranks leave word for each other, that of the launcher if it has one."""
    limit = timedelta(seconds=seconds)
    is_launchers = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if place.rank or is_launchers:
        _reach(seconds)
    if is_launchers:
        store, _, _ = next(rendezvous("env://", place.rank, place.ranks, timeout=limit))
        return store
    return TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        place.ranks,
        is_master=place.rank == 0,
        timeout=limit,
        wait_for_workers=False,  # so that the missing can be named
    )


def _reach(seconds: int) -> None:
    """Wait until somebody listens; torch would fill the screen with its inner life if nobody does.

    Raises the OSError of the last attempt.
    """
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(address, timeout=max(end - time.monotonic(), 0.1)).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def _check_own_devices(group: Group, device: torch.device) -> None:
    if device.type == "cpu" or is_emulated(device):
        return
    users: dict[tuple[str, str], int] = {}
    for rank, (host, name) in enumerate(group.gather([socket.gethostname(), str(device)])):
        first = users.setdefault((host, name), rank)
        if first != rank:
            raise DeviceError(
                f"ranks {first} and {rank} on `{host}` both want {name}",
                hint="start at most as many ranks per machine as it has devices, and unset "
                "ASCEND_DEVICE_ID where it is the same for all",
            )


def _named(missing: Sequence[int]) -> str:
    shown = ", ".join(map(str, missing[:8])) + (", …" if len(missing) > 8 else "")
    return f"{'rank' if len(missing) == 1 else 'ranks'} {shown}"


def _seconds(variable: str, usual: int) -> int:
    text = os.environ.get(variable, str(usual))
    if not text.isdecimal() or int(text) == 0:
        raise LaunchError(
            f"{variable} is `{text}`, not a number of seconds",
            hint=f"give a whole number, or unset it for {usual}",
        )
    return int(text)

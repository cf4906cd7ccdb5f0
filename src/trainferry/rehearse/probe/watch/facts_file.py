"""Writes facts, one JSON object per line, as soon as they are known."""

import json
import os
import threading

from .settings import settings

_lock = threading.Lock()
_state = {}


def open_facts():
    """Take the file of this process: the first has `facts.jsonl`, a second `facts-2.jsonl`."""
    folder = settings()["folder"]
    os.makedirs(os.path.join(folder, "graphs"), exist_ok=True)
    number = 1
    while True:
        name = "facts.jsonl" if number == 1 else f"facts-{number}.jsonl"
        try:
            file = open(os.path.join(folder, name), "x", encoding="utf-8")  # noqa: SIM115
        except FileExistsError:
            number += 1
            continue
        _state.update(file=file, number=number, process=os.getpid(), graphs=0)
        return


def is_ours():
    """Whether this is the process that opened the file; a fork of it writes nothing."""
    return bool(_state) and _state["process"] == os.getpid()


def write_fact(kind, **fields):
    """Write one fact; what the file holds is whole even if the script is killed."""
    if not is_ours():
        return
    line = json.dumps(dict(kind=kind, **fields), default=str) + "\n"
    with _lock:
        _state["file"].write(line)
        _state["file"].flush()


def write_graph(value):
    """Write one graph to a file of its own; gives its name, relative to the folder."""
    with _lock:
        _state["graphs"] += 1
        number = _state["graphs"]
    prefix = "" if _state["number"] == 1 else "{}-".format(_state["number"])
    name = f"graphs/{prefix}{number}.json"
    with open(os.path.join(settings()["folder"], name), "w", encoding="utf-8") as file:
        file.write(json.dumps(value, separators=(",", ":"), default=str))
    return name

"""Machines as network namespaces: a run over them, one cut off, the run resumed.

python benchmarks/launch_namespaces.py [--machines 4] [--cut 2] [--down 20] [--json FILE]

Each namespace has a network of its own and an address on a bridge; cutting one off takes its link
down, so that packets are lost and nothing tells the others. Needs root and `ip`; leaves nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NETWORK = "10.77.0"
PORT = 29555
WORKER = """\
import json, os, sys, time
from pathlib import Path
import torch
import torch.distributed as dist

steps, checkpoint = int(sys.argv[1]), Path(sys.argv[2])
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"step": 0, "sum": 0}
while state["step"] < steps:
    value = torch.tensor([float((rank + 1) * (state["step"] + 1))], dtype=torch.float64)
    dist.all_reduce(value)
    state = {"step": state["step"] + 1, "sum": state["sum"] + value.item()}
    dist.barrier()
    if rank == 0:
        part = checkpoint.with_suffix(".part")
        part.write_text(json.dumps(state))
        part.replace(checkpoint)
        print("step", state["step"], flush=True)
    time.sleep(0.2)
"""


@dataclass
class Line:
    """What a launcher said, and when it was read."""

    machine: int
    moment: float
    text: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=4)
    parser.add_argument("--devices", type=int, default=1, help="ranks on each")
    parser.add_argument("--cut", type=int, default=2, help="which machine; 0 holds the rendezvous")
    parser.add_argument("--down", type=float, default=20.0, help="seconds it stays cut off")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("network namespaces need root and the command `ip`", file=sys.stderr)
        return 1
    with namespaces(arguments.machines), tempfile.TemporaryDirectory() as folder:
        report = measure(arguments, Path(folder))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print("\n| | |\n|---|---|")
    for name, value in report.items():
        print(f"| {name.replace('_', ' ')} | {value} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    good = report["named_by_the_others_s"] is not None and report["result_is_right"]
    return 0 if good else 1


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, object]:
    lines: queue.Queue[Line] = queue.Queue()
    said: list[Line] = []
    started = time.monotonic()
    launchers = [launch(number, arguments, folder, lines) for number in range(arguments.machines)]
    try:
        wait_for(lines, said, lambda line: line.text == "step 10")
        first_steps = time.monotonic() - started
        cut = arguments.cut
        cut_at = time.monotonic()
        set_link(cut, "down")
        time.sleep(arguments.down)
        drain(lines, said)
        back_at = time.monotonic()
        set_link(cut, "up")
        codes = [launcher.wait(180) for launcher in launchers]
        ended = time.monotonic()
        time.sleep(0.2)
        drain(lines, said)
    finally:
        for launcher in launchers:
            launcher.kill()
    for line in said:
        if not line.text.startswith("step"):
            print(f"{line.moment - cut_at:7.2f} s  machine {line.machine}: {line.text}")
    address = f"{NETWORK}.{10 + cut}"
    others = [
        [line.moment - cut_at for line in said if line.machine == machine and names(line, address)]
        for machine in range(arguments.machines)
        if machine != cut
    ]
    own = [line.moment for line in said if line.machine == cut and "not answered" in line.text]
    again = [line for line in said if line.moment > back_at and "started rank" in line.text]
    steps = [line for line in said if line.moment > back_at and line.text.startswith("step")]
    state = json.loads((folder / "checkpoint.json").read_text())
    ranks = arguments.machines * arguments.devices
    expected = ranks * (ranks + 1) / 2 * arguments.steps * (arguments.steps + 1) / 2
    return {
        "machines": arguments.machines,
        "ranks": ranks,
        "cut_off": address,
        "down_s": arguments.down,
        "to_step_10_s": round(first_steps, 1),
        "named_by_the_others_s": worst(others),
        "ranks_stopped_on_the_machine_itself_s": round(own[0] - cut_at, 1) if own else None,
        "all_ranks_started_again_after_it_is_back_s": after(again[-1:], back_at),
        "first_step_after_it_is_back_s": after(steps, back_at),
        "whole_run_s": round(ended - started, 1),
        "exit_statuses": codes,
        "result_is_right": state == {"step": arguments.steps, "sum": expected},
    }


def names(line: Line, address: str) -> bool:
    """Whether a launcher said that the machine, or the rendezvous on it, is silent."""
    return address in line.text and "not answered" in line.text


def worst(moments: list[list[float]]) -> float | None:
    if not all(moments):
        return None
    return round(max(each[0] for each in moments), 1)


def after(lines: list[Line], moment: float) -> float | None:
    return round(lines[0].moment - moment, 1) if lines else None


def launch(
    number: int, arguments: argparse.Namespace, folder: Path, lines: queue.Queue[Line]
) -> subprocess.Popen[str]:
    worker = folder / "worker.py"
    worker.write_text(WORKER)
    command = ["ip", "netns", "exec", name_of(number), sys.executable, "-m", "trainferry"]
    command += ["launch", "--nodes", str(arguments.machines), "--devices", str(arguments.devices)]
    command += ["--rendezvous", f"{NETWORK}.10:{PORT}", "--restarts", "3", "--wait", "120"]
    command += ["--grace", "5", "--name", "namespaces", "--logs", str(folder / "logs"), "--"]
    command += [sys.executable, str(worker), str(arguments.steps), str(folder / "checkpoint.json")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    )

    def read() -> None:
        assert process.stdout is not None
        for text in process.stdout:
            lines.put(Line(number, time.monotonic(), text.rstrip()))

    threading.Thread(target=read, daemon=True).start()
    return process


def wait_for(lines: queue.Queue[Line], said: list[Line], condition: object) -> None:
    assert callable(condition)
    while True:
        said.append(lines.get(timeout=120))
        if condition(said[-1]):
            return


def drain(lines: queue.Queue[Line], said: list[Line]) -> None:
    while not lines.empty():
        said.append(lines.get())


@contextmanager
def namespaces(machines: int) -> Iterator[None]:
    """A bridge, and a namespace with an address on it for each machine."""
    remove(machines)
    ip("link", "add", "tfbridge", "type", "bridge")
    try:
        ip("link", "set", "tfbridge", "up")
        for number in range(machines):
            name, here = name_of(number), f"tflink{number}"
            ip("netns", "add", name)
            ip("link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", here, "master", "tfbridge", "up")
            ip("-n", name, "addr", "add", f"{NETWORK}.{10 + number}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        remove(machines)


def set_link(number: int, state: str) -> None:
    ip("link", "set", f"tflink{number}", state)


def name_of(number: int) -> str:
    return f"tfmachine{number}"


def remove(machines: int) -> None:
    leftovers = [("netns", "del", name_of(number)) for number in range(machines)]
    for words in (*leftovers, ("link", "del", "tfbridge")):
        subprocess.run(["ip", *words], check=False, stderr=subprocess.DEVNULL)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    sys.exit(main())

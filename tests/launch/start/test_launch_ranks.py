"""Ranks as real processes: what they see, how they fail, how they are stopped and start again."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.launch.ranktable.tables import server_list
from tests.launch.start.machines import free_port, launch, start_launcher
from trainferry.launch.environment import VARIABLES

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

# A migrated project that looks at its environment and nothing else.
LOOK = """\
import json, os, sys
names = sys.argv[2].split(",")
seen = {name: os.environ[name] for name in names if name in os.environ}
with open(os.path.join(sys.argv[1], os.environ["RANK"] + ".json"), "w") as file:
    json.dump({"environment": seen, "words": sys.argv[3:]}, file)
print("rank", os.environ["RANK"], "looked")
"""
# Starts a child, on rank 2 outside the rank's process group. Rank 1 does as it is told.
BEHAVE = """\
import os, signal, subprocess, sys, time
rank = os.environ["RANK"]
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(sleep, start_new_session=rank == "2")
with open(os.path.join(sys.argv[1], rank + ".pid"), "w") as file:
    file.write("%d %d" % (os.getpid(), child.pid))
if rank == "1":
    while len([name for name in os.listdir(sys.argv[1]) if name.endswith(".pid")]) < 3:
        time.sleep(0.01)
    print("about to", sys.argv[2], flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "raise":
        raise RuntimeError("the loss is not a number")
time.sleep(600)
"""
# Fails once on rank 1, then all ranks sum up over gloo.
AGAIN = """\
import os, sys, time
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    if os.environ["RANK"] == "1":
        sys.exit(5)
    time.sleep(600)
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
value = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(value)
print("sum", value.item(), os.environ["RANK_INDEX"])
dist.destroy_process_group()
"""


def test_each_of_eight_ranks_sees_exactly_its_variables(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps(server_list(8)))
    words = ["$HOME ${local_rank} $$", "it's", "", "--", "-n"]
    code, out, err = _look(tmp_path, words, "--devices", "8", "--rank-table", str(table))
    assert code == 0, err
    assert out == "rank 0 looked\n"
    seen = _seen(tmp_path)
    port = seen[0]["environment"]["MASTER_PORT"]
    for rank in range(8):
        assert seen[rank]["words"] == words
        assert seen[rank]["environment"] == {
            "RANK": str(rank),
            "WORLD_SIZE": "8",
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": "8",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "RANK_ID": str(rank),
            "RANK_SIZE": "8",
            "RANK_INDEX": "0",
            "DEVICE_ID": str(rank),
            "DEVICE_INDEX": str(rank),
            "ASCEND_DEVICE_ID": str(rank),
            "RANK_TABLE_FILE": str(table),
            "JOB_ID": "look",
            "HCCL_CONNECT_TIMEOUT": "600",
        }
    logs = sorted((tmp_path / "logs" / "look").rglob("*.log"))
    assert [path.name for path in logs] == [f"attempt-1-rank-{rank}.log" for rank in range(8)]
    assert [path.read_text() for path in logs] == [f"rank {rank} looked\n" for rank in range(8)]


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("raise", 1, "rank 1 failed with exit code 1"),
        ("die", 137, "rank 1 failed with signal SIGKILL"),
    ],
)
def test_the_rank_that_fails_is_named_and_nothing_is_left(
    tmp_path: Path, how: str, status: int, said: str
) -> None:
    words = ("--devices", "3", "--show", "none", "--", sys.executable, *_behave(tmp_path, how))
    code, out, err = launch(tmp_path, *words)
    assert (code, out) == (status, "")
    assert said in err
    assert f"| about to {how}" in err
    assert ("the loss is not a number" in err) == (how == "raise")
    assert _alive(tmp_path) == []


# Rank 1 fails as a training on NPUs does, with the code far above its last lines.
HCCL = """\
import os, sys, time
if os.environ["RANK"] == "1":
    print("[ERROR] 2024-05-21-11:57:54 (PID:9) ERR02200 DIST call hccl api failed")
    print("EJ0001: 2024-05-21-11:57:54.167.645 Failed to initialize the HCCP process.")
    print("frame\\n" * 100)
    sys.exit(1)
time.sleep(600)
"""


def test_a_code_of_the_vendor_in_the_log_is_explained(tmp_path: Path) -> None:
    program = tmp_path / "hccl.py"
    program.write_text(HCCL)
    words = ("--devices", "2", "--restarts", "1", "--", sys.executable, str(program))
    code, _, err = launch(tmp_path, *words)
    assert code == 1, err
    assert "| EJ0001" not in err
    told = "EJ0001 in its log: the process behind HCCL's connections did not start"
    assert f"launch: {told}" in err  # with the restart
    assert f"\n{told}" in err  # at the end
    assert "\n-> end what is left of the last run" in err


# The threads that see ranks end are late, as on a busy machine.
LATE = """\
import os, time
wait = os.waitid
def wait_late(*words):
    time.sleep(1.5)
    return wait(*words)
os.waitid = wait_late
"""
DEAF = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)"


@pytest.mark.parametrize("before", [LATE, DEAF], ids=["seen late", "children ignored"])
def test_the_rank_that_fails_is_named_however_late_it_is_seen(tmp_path: Path, before: str) -> None:
    words = ("--devices", "3", "--show", "none", "--", sys.executable, *_behave(tmp_path, "raise"))
    code, _, err = launch(tmp_path, *words, before=before)
    assert code == 1, err
    assert "rank 1 failed with exit code 1" in err
    assert _alive(tmp_path) == []


def test_a_signal_to_the_launcher_reaches_all_ranks_and_their_children(tmp_path: Path) -> None:
    words = ("--devices", "3", "--", sys.executable, *_behave(tmp_path, "wait"))
    process = start_launcher(tmp_path, *words)
    _until_written(tmp_path, 3)
    assert len(_alive(tmp_path)) == 6
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "stopped by SIGTERM" in err
    assert _alive(tmp_path) == []


# Ignores being asked to end, as a rank does that hangs in a collective.
STUBBORN = """\
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
with open(os.path.join(sys.argv[1], os.environ["RANK"] + ".pid"), "w") as file:
    file.write("%d" % os.getpid())
time.sleep(600)
"""


def test_a_second_ctrl_c_does_not_wait_for_ranks_that_ignore_the_first(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    program = tmp_path / "stubborn.py"
    program.write_text(STUBBORN)
    grace = ("--grace", "100000")  # far longer than the test may take
    words = ("--devices", "2", *grace, "--", sys.executable, str(program), str(tmp_path / "pids"))
    process = start_launcher(tmp_path, *words)
    _until_written(tmp_path, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT, err
    assert _alive(tmp_path) == []


def test_a_machine_that_is_not_let_in_says_why_when_it_gives_up(tmp_path: Path) -> None:
    meet = ("--nodes", "2", "--rendezvous", f"127.0.0.1:{free_port()}")
    host = start_launcher(tmp_path, *meet, "--", sys.executable, "-c", "pass")
    try:
        words = (*meet, "--devices", "2", "--wait", "4", "--", sys.executable, "-c", "pass")
        code, _, err = launch(tmp_path, *words, before="import time; time.sleep(3)")
    finally:
        host.send_signal(signal.SIGTERM)
        host.communicate(timeout=60)
    assert code == 1
    assert "does not let this machine in: it starts 2 ranks, the others 1" in err
    assert "hint: give the same options on all machines" in err


def test_two_machines_start_again_together_after_a_rank_failed(tmp_path: Path) -> None:
    program = tmp_path / "again.py"
    program.write_text(AGAIN)
    meet = ("--nodes", "2", "--devices", "1", "--rendezvous", f"127.0.0.1:{free_port()}")
    command = ("--restarts", "1", "--show", "all", "--", sys.executable, str(program))
    processes = [
        start_launcher(tmp_path, *meet, "--node-rank", str(number), *command) for number in (0, 1)
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == "[rank 0] sum 3.0 0\n"
    assert outputs[1][0] == "[rank 1] sum 3.0 1\n"
    assert "rank 1 on 127.0.0.1 failed with exit code 5" in outputs[0][1]
    assert "restart 1 of 1: rank 1 on 127.0.0.1 failed with exit code 5" in outputs[1][1]
    logs = sorted(path.name for path in (tmp_path / "logs" / "again").rglob("*.log"))
    assert logs == [f"attempt-{round}-rank-{rank}.log" for round in (1, 2) for rank in (0, 1)]


def test_a_check_tries_out_the_ranks_and_reports(tmp_path: Path) -> None:
    words = ("--devices", "2", "--option", "device=cpu", "--check", "--json")
    code, out, err = launch(tmp_path, *words)
    assert code == 0, err
    report = json.loads(out)
    assert (report["ok"], report["ranks"]) == (True, 2)
    assert not (tmp_path / "logs").exists()


def _look(folder: Path, words: list[str], *options: str) -> tuple[int, str, str]:
    program = folder / "look.py"
    program.write_text(LOOK)
    (folder / "seen").mkdir()
    names = ",".join(one.name for one in VARIABLES)
    command = (sys.executable, str(program), str(folder / "seen"), names, *words)
    return launch(folder, *options, "--", *command)


def _seen(folder: Path) -> dict[int, dict[str, Any]]:
    paths = (folder / "seen").glob("*.json")
    return {int(path.stem): json.loads(path.read_text()) for path in paths}


def _behave(folder: Path, how: str) -> tuple[str, str, str]:
    program = folder / "behave.py"
    program.write_text(BEHAVE)
    (folder / "pids").mkdir()
    return str(program), str(folder / "pids"), how


def _until_written(folder: Path, number: int) -> None:
    deadline = time.monotonic() + 60
    while len([path for path in (folder / "pids").iterdir() if path.read_text()]) < number:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _alive(folder: Path) -> list[int]:
    """Those of the ranks and their children that still run."""
    pids = [int(pid) for path in (folder / "pids").iterdir() for pid in path.read_text().split()]
    found = []
    for pid in pids:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            continue
        if state != "Z":
            found.append(pid)
    return found

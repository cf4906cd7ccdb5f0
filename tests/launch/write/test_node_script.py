"""The script of a machine, really run: what its ranks see, and what happens when one fails."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.launch.write.plans import NASTY, clean_environment, plan, recording_plan, seen_by_ranks
from trainferry.launch.environment import VARIABLES, rank_environment
from trainferry.launch.write.node_script import node_arguments, node_script, torchrun_words
from trainferry.launch.write.plan import LaunchPlan

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def script(plan: LaunchPlan, node: int, table: Path | None = None, machine: str = "m") -> list[str]:
    known = f"node={node} machine={machine} address=m0 port=29500 job_id=77\n"
    text = node_script(plan, PurePosixPath(table) if table else None)
    return ["bash", "-c", f"set -euo pipefail\n{known}{text}", "start", *node_arguments(plan)]


def run_node(
    plan: LaunchPlan, node: int, *where: Any, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        script(plan, node, *where),
        env=clean_environment(**more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_rank_sees_its_own_variables_and_the_command_as_typed(tmp_path: Path) -> None:
    two = recording_plan(tmp_path, working_folder=PurePosixPath(tmp_path))
    environment = dict(two.environment)
    for node in range(2):
        ended = run_node(two, node, **environment)
        assert ended.returncode == 0, ended.stderr
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == list(range(8))
    names = {one.name for one in VARIABLES}
    for rank, found in seen.items():
        expected = rank_environment(two, rank, address="m0", job_id="77")
        ours = {key: value for key, value in found["environment"].items() if key in names}
        assert {**environment, **ours} == expected
        assert found["words"] == list(NASTY)
        assert found["cwd"] == str(tmp_path)
        assert (
            f"rank {rank} was here" in (tmp_path / "output/logs" / f"rank-{rank}.log").read_text()
        )


def test_rank_0_is_shown_while_it_runs(tmp_path: Path) -> None:
    ended = run_node(recording_plan(tmp_path, nodes=1), 0)
    assert ended.stdout == "rank 0 was here\n"


def test_the_first_rank_that_fails_is_named_and_the_others_are_stopped(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text(
        "import os, sys, time\n"
        "if os.environ['RANK_ID'] == '2': sys.exit('no more memory') if len(sys.argv) > 1 else 0\n"
        "time.sleep(60)\n"
    )
    four = plan(
        command=(sys.executable, str(program), "x"),
        starter="ranks",
        device="cpu",
        nodes=1,
        output_folder=PurePosixPath(tmp_path),
    )
    started = time.monotonic()
    ended = run_node(four, 0)
    assert ended.returncode == 1
    assert "rank 2 failed with exit code 1" in ended.stderr
    assert "no more memory" in ended.stderr
    assert time.monotonic() - started < 20


def test_a_machine_that_is_stopped_leaves_nothing_running(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, pathlib, signal, sys, time\n"
        "def save(*_):\n"
        "    time.sleep(1)\n"
        "    print('saved', flush=True)\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, save)\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "(here / (os.environ['RANK_ID'] + '.pid')).write_text(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    two = plan(
        command=(sys.executable, str(program)),
        starter="ranks",
        device="cpu",
        devices_per_node=2,
        output_folder=PurePosixPath(tmp_path),
    )
    process = subprocess.Popen(
        script(two, 0), env=clean_environment(), stderr=subprocess.DEVNULL, start_new_session=True
    )
    pids = [tmp_path / f"{rank}.pid" for rank in range(2)]
    while not all(path.exists() and path.read_text() for path in pids):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    for rank, path in enumerate(pids):
        assert not is_running(int(path.read_text()))
        assert "saved" in (tmp_path / f"logs/rank-{rank}.log").read_text()


def is_running(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def rank_table(folder: Path, **changed: Any) -> Path:
    """Two servers; the second has the first ranks, as a table made by hand may have it."""
    servers = [
        {"server_id": name, "device": [{"rank_id": str(first + n)} for n in range(4)]}
        for name, first in (("10.0.0.2", 4), ("10.0.0.1", 0))
    ]
    path = folder / "hccl.json"
    table = {"version": "1.0", "status": "completed", "server_list": servers, **changed}
    path.write_text(json.dumps(table))
    return path


def test_the_rank_table_decides_which_ranks_a_machine_has(tmp_path: Path) -> None:
    table = rank_table(tmp_path)
    two = recording_plan(tmp_path)
    ended = run_node(two, 1, table, "10.0.0.2")
    assert ended.returncode == 0, ended.stderr
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == [4, 5, 6, 7]
    for found in seen.values():
        assert found["environment"]["RANK_TABLE_FILE"] == str(table)
        assert found["environment"]["RANK_INDEX"] == "0"


def test_a_pod_is_found_by_the_address_of_its_machine(tmp_path: Path) -> None:
    ended = run_node(recording_plan(tmp_path), 0, rank_table(tmp_path), "pod-0", XDL_IP="10.0.0.1")
    assert ended.returncode == 0, ended.stderr
    assert sorted(seen_by_ranks(tmp_path)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("changed", "machine", "said"),
    [
        ({}, "10.0.0.9", "is not one server of"),
        ({"status": "initializing"}, "10.0.0.1", "stays initializing"),
        ({"server_list": []}, "10.0.0.1", "is not one server of"),
        ({"server_list": [{"server_id": "10.0.0.1", "device": []}]}, "10.0.0.1", "has 0 devices"),
    ],
)
def test_a_table_that_does_not_fit_is_told(
    tmp_path: Path, changed: dict[str, Any], machine: str, said: str
) -> None:
    two = recording_plan(tmp_path)
    object.__setattr__(two, "connect_timeout_seconds", 0)
    ended = run_node(two, 0, rank_table(tmp_path, **changed), machine)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert seen_by_ranks(tmp_path) == {}


def test_a_missing_table_and_another_template_are_told(tmp_path: Path) -> None:
    two = recording_plan(tmp_path)
    assert "no rank table at" in run_node(two, 0, tmp_path / "none", "m").stderr
    other = tmp_path / "other.json"
    other.write_text('{"status": "completed", "group_list": []}')
    assert "ranktable convert" in run_node(two, 0, other, "m").stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("trainferry", "train", "crnn"), ["-m", "trainferry", "train", "crnn"]),
        (("python", "train.py", "--x"), ["train.py", "--x"]),
        (("/opt/bin/python3", "-m", "mine", "--x"), ["-m", "mine", "--x"]),
        (("python", "-u", "train.py"), ["--no-python", "python", "-u", "train.py"]),
        (("./train.sh", "a"), ["--no-python", "./train.sh", "a"]),
    ],
)
def test_torchrun_gets_each_kind_of_command(command: tuple[str, ...], words: list[str]) -> None:
    assert torchrun_words(command) == words


@pytest.mark.slow
@pytest.mark.cluster
def test_torchrun_joins_two_machines(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, pathlib, sys\n"
        "pathlib.Path(sys.argv[1], os.environ['RANK']).write_text(os.environ['WORLD_SIZE'])\n"
    )
    two = plan(
        command=("python", str(program), str(tmp_path)),
        device="cpu",
        devices_per_node=2,
        output_folder=PurePosixPath(tmp_path),
    )
    port = f"port={_free_port()}"
    commands = [script(two, node, None, "127.0.0.1") for node in range(2)]
    for words in commands:
        words[2] = words[2].replace("address=m0", "address=127.0.0.1").replace("port=29500", port)
    processes = [subprocess.Popen(words, env=clean_environment()) for words in commands]
    assert [process.wait(90) for process in processes] == [0, 0]
    assert {path.name: path.read_text() for path in tmp_path.glob("[0-9]")} == {
        str(rank): "4" for rank in range(4)
    }


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])

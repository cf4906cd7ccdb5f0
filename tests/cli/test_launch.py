"""The launch command says what it would start, writes files, and refuses what does not fit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.launch.ranktable.tables import server_list
from trainferry.cli.main import main


def test_a_dry_run_shows_every_rank_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--devices", "2", "--device-numbers", "4-5", "--env", "A=b c", "--dry-run"]
    assert main(["launch", *words, "--", "ls", "x y", "--", "-n"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["rank 0", "rank 1"]
    assert " DEVICE_ID=5 " in lines[1]
    assert " A='b c' " in f" {lines[1]} ".replace(": ", " ")
    assert lines[1].endswith("ls 'x y' -- -n")


def test_a_dry_run_for_programs_has_environment_and_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps(server_list(8, 8)))
    words = ["--rank-table", str(table), "--dry-run", "--json"]
    assert main(["launch", *words, "--", "python", "train.py"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["name"] == "train"
    last = shown["ranks"][15]
    assert (last["rank"], last["machine"], last["device"]) == (15, "node-001", 7)
    assert last["environment"]["RANK_TABLE_FILE"] == str(table)
    assert last["environment"]["RANK_INDEX"] == "1"
    assert last["command"] == ["python", "train.py"]


def test_ranks_share_the_cores_and_are_told_who_said_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(9)), raising=False)
    names = ("OMP_NUM_THREADS", "TRAINFERRY_CORES")
    found = []
    for asked in (None, "3"):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if asked is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert main(["launch", "--devices", "2", "--dry-run", "--json", "--", "ls"]) == 0
        environment = json.loads(capsys.readouterr().out)["ranks"][0]["environment"]
        found.append([environment.get(name) for name in names])
    assert found == [["4", "4"], [None, None]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--devices", "2"], "there is no command to start"),
        (["--devices", "2", "--"], "there is no command to start"),
        (["--nodes", "2", "--", "ls"], "2 machines have to find each other"),
        (["--nodes", "4:2", "--", "ls"], "not a number of machines"),
        (["--nodes", "2", "--rendezvous", "a:b", "--", "ls"], "not a host and a port"),
        (["--device-numbers", "a", "--", "ls"], "not numbers of devices"),
        (["--devices", "2", "--device-numbers", "1,2,3", "--", "ls"], "but numbers 1, 2, 3"),
        (["--node-rank", "3", "--", "ls"], "no machine 3 among 1"),
        (["--env", "A", "--", "ls"], "not a name and a value"),
        (["--env", "RANK_ID=3", "--", "ls"], "`RANK_ID` is set for each rank"),
        (["--to", "x", "--", "ls"], "there is no --write"),
        (["--write", "slurm", "--", "ls"], "where the files for slurm go"),
        (["--write", "slurm", "--dry-run", "--", "ls"], "do different things"),
        (["--write", "slurm", "--to", "x", "--option", "device=gpu", "--", "ls"], "`gpu`"),
        (["--write", "slurm", "--to", "x", "--nodes", "1:2", "--", "ls"], "one number of machines"),
        (["--", "no-such-command-here"], "there is no command `no-such-command-here`"),
        (["--json", "--", "ls"], "not JSON by itself"),
        (["--restarts", "-1", "--", "ls"], "cannot restart -1 times"),
        (["--", "--ls"], "there is no command `--ls`"),
        (["--device-numbers", "7-4", "--", "ls"], "`7-4` are not numbers of devices"),
        (["--device-numbers", "4-", "--", "ls"], "`4-` are not numbers of devices"),
        (["--device-numbers", "0-99999999", "--", "ls"], "not numbers of devices"),
        (["--nodes", "2:", "--", "ls"], "`2:` is not a number of machines"),
        (["--write", "slurm", "--to", "x", "--logs", "y", "--", "ls"], "--logs has no effect"),
        (["--write", "slurm", "--to", "x", "--node-rank", "1", "--", "ls"], "--node-rank has no"),
    ],
)
def test_what_cannot_be_launched_is_told(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["launch", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "hint: " in err


@pytest.mark.parametrize(("option", "value"), [("--grace", "nan"), ("--wait", "-3")])
def test_a_time_to_wait_is_a_number_of_seconds(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["launch", option, value, "--", "ls"])
    assert stopped.value.code == 2
    assert f"argument {option}: `{value}` is not a number of seconds" in capsys.readouterr().err


@pytest.mark.parametrize("scheduler", ["slurm", "kubernetes", "modelarts"])
def test_files_of_a_scheduler_are_written_and_how_to_submit_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str
) -> None:
    words = ["--write", scheduler, "--to", str(tmp_path), "--nodes", "2", "--devices", "8"]
    words += ["--option", "image=ours:1", "--option", "output_folder=/runs", "--name", "words"]
    assert main(["launch", *words, "--", "trainferry", "train", "crnn", "--run", "/runs/a"]) == 0
    shown = capsys.readouterr()
    paths = [Path(line) for line in shown.out.splitlines()]
    assert paths
    assert all(path.is_file() and path.parent == tmp_path for path in paths)
    said = [line for line in shown.err.splitlines() if ", in " in line]
    assert said[0].startswith("launch: then, in ")
    # Each file of Kubernetes is the whole job: submitting both would run it twice.
    assert all(line.startswith("launch: or, in ") for line in said[1:])
    assert (len(said) == 2) == (scheduler == "kubernetes")


def test_a_rank_table_travels_with_the_files(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps(server_list(8, 8)))
    words = ["--write", "kubernetes", "--to", str(tmp_path / "out"), "--rank-table", str(table)]
    assert main(["launch", *words, "--option", "image=a:1", "--", "python", "train.py"]) == 0
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert "node-001" in written

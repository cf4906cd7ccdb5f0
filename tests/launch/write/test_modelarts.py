"""The boot file, run in a sandbox with a stand-in for moxing: copies, variables, exit codes."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings, strategies

from tests.launch.write.plans import (
    NASTY,
    TEXTS,
    clean_environment,
    plan,
    recording_plan,
    seen_by_ranks,
)
from trainferry.errors import UsageError
from trainferry.launch.environment import rank_environment
from trainferry.launch.write.modelarts import ModelArtsOptions, modelarts_files
from trainferry.launch.write.plan import LaunchPlan

# obs://bucket/x is the folder $BUCKET/x; every copy is written down.
MOXING = """\
import json, os, shutil

class file:
    @staticmethod
    def _path(address):
        return os.path.join(os.environ["BUCKET"], address[6:]) if address.startswith("obs://") \\
            else address

    @classmethod
    def exists(cls, address):
        return os.path.exists(cls._path(address))

    @classmethod
    def list_directory(cls, address):
        return os.listdir(cls._path(address))

    @classmethod
    def copy_parallel(cls, source, target):
        with open(os.environ["BUCKET"] + "/copies", "a") as log:
            log.write(json.dumps([source, target]) + "\\n")
        if os.environ.get("BREAK") == source:
            raise OSError("bucket is gone")
        shutil.copytree(cls._path(source), cls._path(target), dirs_exist_ok=True)
"""
URLS = ("--data_url=obs://data", "--train_url=obs://out")


class Sandbox:
    """A container of ModelArts: a project folder, a bucket, and disks of its own."""

    def __init__(self, folder: Path, plan: LaunchPlan, **options: str) -> None:
        self.folder = folder
        self.bucket = folder / "bucket"
        (self.bucket / "data").mkdir(parents=True)
        (self.bucket / "data" / "train.tfrecords").write_text("records")
        (folder / "moxing.py").write_text(MOXING)
        entry, self.page = modelarts_files(plan, ModelArtsOptions(**options))
        self.entry = folder / entry.name
        self.entry.write_text(entry.text)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-W", "ignore::ResourceWarning", str(self.entry), *words]

    def environment(self, **more: str) -> dict[str, str]:
        return clean_environment(PYTHONPATH=str(self.folder), BUCKET=str(self.bucket), **more)

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def copies(self) -> list[list[str]]:
        path = self.bucket / "copies"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sandbox_plan(folder: Path, **changed: Any) -> LaunchPlan:
    changed = {"nodes": 1, "data_folder": PurePosixPath(folder / "cache/data"), **changed}
    changed.setdefault("output_folder", PurePosixPath(folder / "cache/output"))
    return recording_plan(folder, **changed)


def test_the_file_needs_nothing_newer_than_python_3_7(tmp_path: Path) -> None:
    entry, _ = modelarts_files(sandbox_plan(tmp_path), ModelArtsOptions())
    tree = ast.parse(entry.text, feature_version=(3, 7))
    imported = {
        alias.name for one in ast.walk(tree) if isinstance(one, ast.Import) for alias in one.names
    }
    assert imported <= {
        "argparse",
        "os",
        "signal",
        "subprocess",
        "sys",
        "threading",
        "time",
        "moxing",
    }


@settings(max_examples=60, deadline=None)
@given(
    strategies.lists(TEXTS, max_size=4),
    strategies.dictionaries(strategies.sampled_from(["A", "B"]), TEXTS),
)
def test_every_text_of_a_user_is_a_literal(words: list[str], environment: dict[str, str]) -> None:
    written = plan(command=("x", *words), environment=environment, starter="ranks")
    entry, page = modelarts_files(written, ModelArtsOptions())
    values: dict[str, Any] = {}
    for one in ast.parse(entry.text).body:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            values[one.targets[0].id] = ast.literal_eval(one.value)
    assert values["COMMAND"] == ["x", *words]
    assert values["ENVIRONMENT"] == environment
    assert len(page.text.splitlines()) == len(
        modelarts_files(plan(), ModelArtsOptions())[1].text.splitlines()
    )


def test_data_comes_in_the_output_goes_out_and_every_rank_has_its_variables(
    tmp_path: Path,
) -> None:
    eight = sandbox_plan(tmp_path, devices_per_node=8)
    box = Sandbox(tmp_path, eight)
    ended = box.run(*URLS, "--epochs=3", MA_VJ_NAME="job-1")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "cache/data/train.tfrecords").read_text() == "records"
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == list(range(8))
    for rank, found in seen.items():
        expected = rank_environment(eight, rank, address="127.0.0.1", job_id="job-1")
        assert {key: found["environment"].get(key) for key in expected} == expected
        assert found["words"] == [*NASTY, "--epochs=3"]
        assert found["cwd"] == str(tmp_path)
        log = (box.bucket / f"out/logs/rank-{rank}.log").read_text()
        assert f"rank {rank} was here" in log
    assert ended.stdout == "rank 0 was here\n"
    assert box.copies() == [
        ["obs://data", str(eight.data_folder)],
        [str(eight.output_folder), "obs://out"],
    ]


def test_the_exit_code_is_the_commands_and_the_output_is_kept(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, sandbox_plan(tmp_path))
    ended = box.run(*URLS, FAIL_RANK="2", FAIL_WITH="7")
    assert ended.returncode == 7
    assert "rank 2 failed with exit code 7" in ended.stderr
    assert (box.bucket / "out/logs/rank-2.log").exists()


def test_an_earlier_output_is_there_before_the_command_starts(tmp_path: Path) -> None:
    four = sandbox_plan(
        tmp_path, command=("cat", f"{tmp_path}/cache/output/run/step"), devices_per_node=1
    )
    box = Sandbox(tmp_path, four)
    (box.bucket / "out/run").mkdir(parents=True)
    (box.bucket / "out/run/step").write_text("1000\n")
    ended = box.run(*URLS)
    assert (ended.returncode, ended.stdout) == (0, "1000\n")


def test_the_second_machine_has_its_own_ranks_and_its_own_place(tmp_path: Path) -> None:
    two = sandbox_plan(tmp_path, nodes=2)
    box = Sandbox(tmp_path, two)
    said = {"MA_NUM_HOSTS": "2", "VC_TASK_INDEX": "1", "VC_WORKER_HOSTS": "w-0.x,w-1.x"}
    ended = box.run(*URLS, **said)
    assert ended.returncode == 0, ended.stderr
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == [4, 5, 6, 7]
    assert seen[4]["environment"]["MASTER_ADDR"] == "w-0.x"
    assert box.copies()[-1] == [str(two.output_folder), "obs://out/machine-1"]


def test_an_engine_that_starts_once_for_each_device_starts_one_rank_each(tmp_path: Path) -> None:
    two = sandbox_plan(tmp_path, devices_per_node=2, device="npu")
    box = Sandbox(tmp_path, two)
    said = {"RANK_SIZE": "2", "RANK_TABLE_FILE": "/user/config/hccl.json"}
    processes = [
        subprocess.Popen(
            box.command(*URLS),
            env=box.environment(RANK_ID=str(rank), ASCEND_DEVICE_ID=str(rank), **said),
        )
        for rank in (1, 0)
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    seen = seen_by_ranks(tmp_path)
    assert {rank: one["environment"]["DEVICE_ID"] for rank, one in seen.items()} == {0: "0", 1: "1"}
    for one in seen.values():
        assert one["environment"]["RANK_TABLE_FILE"] == "/user/config/hccl.json"
    assert len([one for one in box.copies() if one[0] == "obs://data"]) == 1


def test_torchrun_is_started_once_on_a_machine(tmp_path: Path) -> None:
    # A package `torch` that stands for torchrun and prints what it was asked to do.
    (tmp_path / "torch/distributed").mkdir(parents=True)
    (tmp_path / "torch/distributed/run.py").write_text(
        "import json, os, sys\nprint(json.dumps([sys.argv[1:], os.environ['JOB_ID']]))\n"
    )
    for folder in ("torch", "torch/distributed"):
        (tmp_path / folder / "__init__.py").write_text("")
    two = sandbox_plan(
        tmp_path,
        nodes=2,
        starter="torchrun",
        command=("trainferry", "train", "crnn"),
        restarts=5,
    )
    box = Sandbox(tmp_path, two)
    said = {"MA_NUM_HOSTS": "2", "VC_TASK_INDEX": "1", "VC_WORKER_HOSTS": "w-0.x,w-1.x"}
    ended = box.run(*URLS, **said)
    words, job = json.loads(ended.stdout)
    assert job == "read-words"
    assert words == [
        *("--nnodes", "2", "--nproc-per-node", "4"),
        *("--rdzv-backend", "c10d", "--rdzv-endpoint", "w-0.x:29500", "--rdzv-id", "read-words"),
        *("--rdzv-conf", "is_host=false,join_timeout=600", "--local-addr", "w-1.x"),
        *("--max-restarts", "5", "-m", "trainferry", "train", "crnn"),
    ]
    device = {"RANK_ID": "5", "RANK_SIZE": "8", "ASCEND_DEVICE_ID": "1", "RANK_TABLE_FILE": "x"}
    ended = box.run(*URLS, **said, **device)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_folders_of_the_platform_are_used_where_they_lie(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, sandbox_plan(tmp_path))
    (tmp_path / "inputs").mkdir()
    ended = box.run(f"--data_url={tmp_path}/inputs", f"--train_url={tmp_path}/outputs")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "cache/data").resolve() == tmp_path / "inputs"
    assert (tmp_path / "outputs/logs/rank-3.log").exists()
    assert box.copies() == []


@pytest.mark.parametrize(
    ("words", "said", "message"),
    [
        (URLS, {"MA_NUM_HOSTS": "4"}, "has 4 instances, and is planned for 1"),
        (URLS, {"RANK_ID": "0", "RANK_TABLE_FILE": "x", "RANK_SIZE": "16"}, "has 16 devices"),
        (["--data_url=/no/where"], {}, "there is no folder /no/where"),
        (URLS, {"BREAK": "obs://data"}, "bucket is gone"),
    ],
)
def test_a_job_that_cannot_start_says_why(
    tmp_path: Path, words: list[str], said: dict[str, str], message: str
) -> None:
    box = Sandbox(tmp_path, sandbox_plan(tmp_path))
    ended = box.run(*words, **said)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert seen_by_ranks(tmp_path) == {}


def test_output_that_cannot_be_copied_is_an_error(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, sandbox_plan(tmp_path))
    ended = box.run(*URLS, BREAK=str(tmp_path / "cache/output"))
    assert ended.returncode == 1
    assert "cannot copy" in ended.stderr


def test_a_job_that_is_stopped_stops_its_ranks_and_keeps_the_output(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    four = sandbox_plan(
        tmp_path,
        command=("bash", "-c", f"echo begun; touch {ready}; sleep 60; true"),
        devices_per_node=1,
    )
    box = Sandbox(tmp_path, four)
    process = subprocess.Popen(box.command(*URLS), env=box.environment(), stdout=subprocess.DEVNULL)
    while not ready.exists():
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(20) == 143
    assert (box.bucket / "out/logs/rank-0.log").read_text() == "begun\n"


def test_the_page_says_how_the_job_is_created(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, sandbox_plan(tmp_path))
    for word in ("data_url", "train_url", box.entry.name, "4 x CPU", "ma-cli ma-job submit"):
        assert word in box.page.text
    assert "SFS Turbo" not in box.page.text
    assert "SFS Turbo" in modelarts_files(plan(), ModelArtsOptions())[1].text


def test_minutes_are_a_number() -> None:
    with pytest.raises(UsageError, match="not a number of minutes"):
        ModelArtsOptions(upload_minutes="soon")

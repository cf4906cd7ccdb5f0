"""The batch script: directives Slurm knows, bash that parses, and a run under a stand-in Slurm."""

from __future__ import annotations

import re
import shutil
import subprocess
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
from trainferry.launch.write.node_script import node_arguments
from trainferry.launch.write.plan import LaunchPlan
from trainferry.launch.write.slurm import SlurmOptions, slurm_files

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

# The options of sbatch that we use, by hand, with the form of their values.
NUMBER = r"[1-9][0-9]*"
NAME = r"[A-Za-z0-9_.,:&|\[\]-]+"
KNOWN = {
    "job-name": r"[a-z]([-a-z0-9]*[a-z0-9])?",
    "nodes": NUMBER,
    "ntasks-per-node": "1",
    "gpus-per-node": NUMBER,
    "gres": rf"{NAME}:{NUMBER}",
    "cpus-per-task": NUMBER,
    "exclusive": None,
    "time": r"[0-9]+-[0-2][0-9]:[0-5][0-9]:00",
    "output": r"%x-%j\.out",
    "open-mode": "append|truncate",
    "requeue": None,
    "no-requeue": None,
    "partition": NAME,
    "account": NAME,
    "qos": NAME,
    "nodelist": NAME,
    "constraint": NAME,
}
ALL = SlurmOptions(
    partition="npu", account="ocr", qos="high", nodelist="n[1-2]", constraint="910b", cpus="96"
)


def text_of(plan: LaunchPlan, options: SlurmOptions | None = None) -> str:
    (file,) = slurm_files(plan, options or SlurmOptions())
    assert file.executable
    return file.text


def directives(text: str) -> dict[str, str | None]:
    """As sbatch reads them: up to the first line that is neither comment nor empty."""
    assert text.startswith("#!/bin/bash\n")
    found: dict[str, str | None] = {}
    ended = False
    for line in text.splitlines():
        if line.startswith("#SBATCH"):
            assert not ended, f"sbatch does not read {line}"
            (word,) = line.removeprefix("#SBATCH").split()
            key, _, value = word.removeprefix("--").partition("=")
            assert key not in found
            found[key] = value or None
        elif line and not line.startswith("#"):
            ended = True
    return found


def check_bash(text: str, *options: str) -> None:
    ended = subprocess.run(
        ["bash", "-n", *options], input=text, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def script_of_a_machine(text: str) -> str:
    found = re.search(r"<< 'ON_MACHINE'[^\n]*\n(.*?\n)ON_MACHINE\n", text, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("options", [SlurmOptions(), ALL], ids=["plain", "all"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"device": "cuda", "time_limit_seconds": 90_000},
        {"device": "cpu", "starter": "ranks", "restarts": 0},
        {"device_numbers": (4, 5, 6, 7)},
        {"starter": "ranks", "rank_table": PurePosixPath("/job/hccl.json")},
        {"image": "registry/tf:1.15", "working_folder": PurePosixPath("/code of mine")},
    ],
)
def test_slurm_knows_every_directive_and_bash_every_line(
    changed: dict[str, Any], options: SlurmOptions
) -> None:
    text = text_of(plan(**changed), options)
    for key, value in directives(text).items():
        assert key in KNOWN
        form = KNOWN[key]
        assert value is None if form is None else re.fullmatch(form, value or "")
    check_bash(text)
    check_bash(script_of_a_machine(text))


def test_the_job_asks_for_what_the_plan_needs() -> None:
    found = directives(text_of(plan(time_limit_seconds=90_000), ALL))
    assert found == {
        "job-name": "read-words",
        "nodes": "2",
        "ntasks-per-node": "1",
        "gres": "npu:4",
        "cpus-per-task": "96",
        "time": "1-01:00:00",
        "output": "%x-%j.out",
        "open-mode": "append",
        "requeue": None,
        "partition": "npu",
        "account": "ocr",
        "qos": "high",
        "nodelist": "n[1-2]",
        "constraint": "910b",
    }
    assert directives(text_of(plan(device="cuda")))["gpus-per-node"] == "4"
    assert "gres" not in directives(text_of(plan(device="cpu")))
    assert directives(text_of(plan(), SlurmOptions(gres="ascend:910b")))["gres"] == "ascend:910b:4"


@pytest.mark.parametrize(
    ("device", "line"),
    [
        ("npu", "export ASCEND_RT_VISIBLE_DEVICES=4,5,6,7"),
        ("cuda", "export CUDA_VISIBLE_DEVICES=4,5,6,7"),
    ],
)
def test_torchrun_sees_only_the_devices_of_the_plan(device: str, line: str) -> None:
    assert line in text_of(plan(device=device, device_numbers=(4, 5, 6, 7)))
    assert "VISIBLE_DEVICES" not in text_of(plan(device=device))


def test_the_file_says_how_it_is_submitted() -> None:
    (file,) = slurm_files(plan(), SlurmOptions())
    assert file.submit == "sbatch read-words.sbatch"
    assert f"# Submit: {file.submit}\n" in file.text


@settings(max_examples=40, deadline=None)
@given(
    strategies.lists(TEXTS, max_size=4),
    strategies.dictionaries(strategies.sampled_from(["A", "B_1"]), TEXTS),
)
def test_no_text_of_a_user_reaches_the_shell_unquoted(
    words: list[str], environment: dict[str, str]
) -> None:
    written = plan(command=("python", *words), environment=environment)
    text = text_of(written)
    assert directives(text) == directives(text_of(plan()))
    # Everything up to the machines' names, and the words; the rest needs Slurm.
    before, _, rest = text.partition("mapfile")
    array = rest[rest.index("command=(") : rest.index("\n)\n") + 3]
    shown = 'printf "%s\\0" "${A-}" "${B_1-}" "${command[@]}"'
    before = re.sub(r"(?m)^(mkdir|if \[ ! -d) .*$", "", before)
    ended = subprocess.run(
        [shutil.which("bash") or "", "-c", f"{before}\n{array}\n{shown}"],
        capture_output=True,
        check=False,
        env={"PATH": ""},
    )
    assert ended.stderr == b""
    got = ended.stdout.decode().split("\0")[:-1]
    expected = [environment.get("A", ""), environment.get("B_1", ""), *node_arguments(written)]
    assert got == expected


@pytest.mark.parametrize("value", ["a b", "x\n#SBATCH --uid=0", "$(id)", "--wrap", "", "a;b"])
def test_an_option_that_is_no_name_is_refused(value: str) -> None:
    if value:
        with pytest.raises(UsageError, match="cannot be the partition"):
            slurm_files(plan(), SlurmOptions(partition=value))
    else:
        assert "partition" not in directives(text_of(plan(), SlurmOptions(partition=value)))


def test_an_image_sees_the_folders() -> None:
    text = text_of(plan(image="registry/tf:1.15", rank_table=PurePosixPath("/job/hccl.json")))
    assert "--container-image=registry/tf:1.15" in text
    assert "--container-mounts=/data:/data,/runs:/runs,/job:/job" in text
    with pytest.raises(UsageError, match="cannot be mounted"):
        text_of(plan(image="a", data_folder=PurePosixPath("/a,b")))


SLURM = {
    "scontrol": '#!/bin/bash\n[ "$1 $2 $3" = "show hostnames n[0-1]" ] && printf "n0\\nn1\\n"\n',
    # Runs the task of each machine side by side; the first bad exit code is srun's.
    "srun": """\
#!/bin/bash
echo "$@" > "$SEEN_OPTIONS"
while [[ $1 == --* ]]; do shift; done
processes=()
for node in 0 1; do
  SLURM_NODEID=$node SLURMD_NODENAME=n$node "$@" & processes+=($!)
done
code=0
for process in "${processes[@]}"; do wait "$process" || code=$?; done
exit "$code"
""",
}


def run_job(folder: Path, plan: LaunchPlan, **more: str) -> subprocess.CompletedProcess[str]:
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name, text in SLURM.items():
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(0o755)
    environment = clean_environment(
        SLURM_JOB_ID="4711",
        SLURM_JOB_NODELIST="n[0-1]",
        SEEN_OPTIONS=str(folder / "options"),
        **more,
    )
    environment["PATH"] = f"{bin_folder}:{environment['PATH']}"
    (file,) = slurm_files(plan, SlurmOptions())
    script = folder / file.name
    script.write_text(file.text)
    return subprocess.run(
        ["bash", str(script)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_job_starts_every_rank_with_its_variables(tmp_path: Path) -> None:
    two = recording_plan(tmp_path)
    ended = run_job(tmp_path, two, SLURM_CPUS_PER_TASK="96")
    assert ended.returncode == 0, ended.stderr
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == list(range(8))
    for rank, found in seen.items():
        expected = rank_environment(two, rank, address="n0", job_id="4711")
        expected["MASTER_PORT"] = "24711"
        assert {key: found["environment"].get(key) for key in expected} == expected
        assert found["words"] == list(NASTY)
    options = (tmp_path / "options").read_text()
    assert "--kill-on-bad-exit=1" in options
    assert "--cpus-per-task=96" in options


def test_a_job_ends_with_the_code_of_the_rank_that_failed(tmp_path: Path) -> None:
    ended = run_job(tmp_path, recording_plan(tmp_path), FAIL_RANK="5", FAIL_WITH="7")
    assert ended.returncode == 7
    assert "rank 5 failed with exit code 7" in ended.stderr


def test_a_job_without_its_data_says_so(tmp_path: Path) -> None:
    lost = recording_plan(tmp_path, data_folder=PurePosixPath("/no/data's here"))
    ended = run_job(tmp_path, lost)
    assert ended.returncode == 1
    assert ended.stderr == "no data at /no/data's here\n"

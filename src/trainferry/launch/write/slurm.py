"""A batch script for Slurm: one task on each machine, which starts the ranks there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainferry.errors import UsageError
from trainferry.launch.write.files import LaunchFile, filled, on_one_line
from trainferry.launch.write.node_script import export_lines, node_arguments, node_script
from trainferry.launch.write.plan import LaunchPlan


@dataclass(frozen=True, kw_only=True)
class SlurmOptions:
    """What a cluster asks for beyond the plan; every value is one word."""

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    nodelist: str | None = None
    constraint: str | None = None
    gres: str | None = None  # the cluster's name of the devices, such as npu:910b
    cpus: str | None = None  # for each machine; without it the machines are the job's alone


def slurm_files(plan: LaunchPlan, options: SlurmOptions) -> tuple[LaunchFile, ...]:
    """The batch script of the plan."""
    name = f"{plan.name}.sbatch"
    submit = f"sbatch {name}"
    text = "".join(
        [
            "#!/bin/bash\n",
            *(f"#SBATCH --{key}{_given(value)}\n" for key, value in _directives(plan, options)),
            *(f"# {line}".rstrip() + "\n" for line in _explained(plan)),
            _body(plan),
            f"\n# Submit: {submit}\n# Watch:  squeue --me\n# Stop:   scancel JOB\n",
        ]
    )
    return (LaunchFile(name, text, submit, executable=True),)


def _directives(plan: LaunchPlan, options: SlurmOptions) -> Iterator[tuple[str, str | None]]:
    yield "job-name", plan.name
    yield "nodes", str(plan.nodes)
    yield "ntasks-per-node", "1"
    if plan.device == "cuda" and not options.gres:
        yield "gpus-per-node", str(plan.devices_per_node)
    elif plan.device != "cpu":
        yield "gres", f"{_word('gres', options.gres or 'npu')}:{plan.devices_per_node}"
    if options.cpus:
        yield "cpus-per-task", _word("cpus", options.cpus)
    else:
        yield "exclusive", None
    if plan.time_limit_seconds:
        yield "time", _time(plan.time_limit_seconds)
    yield "output", "%x-%j.out"
    yield "open-mode", "append"
    yield ("requeue" if plan.restarts else "no-requeue"), None
    for key in ("partition", "account", "qos", "nodelist", "constraint"):
        if value := getattr(options, key):
            yield key, _word(key, value)


def _given(value: str | None) -> str:
    return "" if value is None else f"={value}"


def _word(key: str, value: str) -> str:
    """`value` if it is safe in a line that Slurm reads."""
    if not re.fullmatch(r"[A-Za-z0-9_.,:&|\[\]-]+", value) or value.startswith("-"):
        raise UsageError(
            f"`{on_one_line(value)}` cannot be the {key} of a Slurm job",
            hint="use the name as `sinfo` or `sacctmgr` prints it",
        )
    return value


def _time(seconds: int) -> str:
    """Slurm's days-hours:minutes:seconds, whole minutes."""
    minutes = -(-seconds // 60)
    days, rest = divmod(minutes, 24 * 60)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00"


def _explained(plan: LaunchPlan) -> Iterator[str]:
    yield ""
    yield f"{plan.ranks} ranks: {plan.nodes} machines with {plan.devices_per_node} devices each."
    yield f"Command: {on_one_line(shlex.join(plan.command))}"
    if plan.device == "npu":
        yield "Slurm has no name of its own for NPUs: `--gres` must use the one in your slurm.conf."
    if plan.restarts:
        yield "A machine that is lost puts the job back into the queue (--requeue) and the command"
        yield "starts again; `trainferry train` then goes on from its last checkpoint."
    if plan.starter == "ranks":
        yield "A rank that fails ends the job on all machines; it is not started again."
    if plan.image:
        yield "Options --container-… of srun belong to the plugin pyxis; without it, remove them."


def _body(plan: LaunchPlan) -> str:
    words = "\n".join(f"  {shlex.quote(word)}" for word in node_arguments(plan))
    parts = {
        "EXPORTS": export_lines(plan),
        "PORT": _port(plan),
        "FOLDERS": _folders(plan),
        "WORDS": words,
        "CONTAINER": _container(plan),
        "NODE": node_script(plan, plan.rank_table),
    }
    return filled(_BODY, parts)


def _port(plan: LaunchPlan) -> str:
    """Jobs that share a machine must not share a port."""
    return str(plan.rendezvous_port or "$((20000 + SLURM_JOB_ID % 10000))")


def _folders(plan: LaunchPlan) -> str:
    text = ""
    if plan.data_folder:
        data = shlex.quote(str(plan.data_folder))
        text += f'if [ ! -d {data} ]; then echo "no data at "{data} >&2; exit 1; fi\n'
    if plan.output_folder:
        text += f"mkdir -p -- {shlex.quote(str(plan.output_folder))}\n"
    return text


def _container(plan: LaunchPlan) -> str:
    """Options of srun for an image; they belong to the pyxis plugin."""
    if plan.image is None:
        return ""
    folders = [plan.working_folder, plan.data_folder, plan.output_folder]
    folders.append(plan.rank_table.parent if plan.rank_table else None)
    mounts = list(dict.fromkeys(str(folder) for folder in folders if folder))
    for folder in mounts:
        _check_mount(folder)
    words = [f"--container-image={plan.image}"]
    if mounts:
        words.append("--container-mounts=" + ",".join(f"{one}:{one}" for one in mounts))
    return "".join(f"  {shlex.quote(word)}\n" for word in words)


def _check_mount(folder: str) -> None:
    if set(folder) & set(",:") or PurePosixPath(folder) == PurePosixPath("/"):
        raise UsageError(
            f"`{on_one_line(folder)}` cannot be mounted into a container by Slurm",
            hint="use a folder without comma and colon in its name, or no image",
        )


_BODY = """\
set -euo pipefail

@EXPORTS@@FOLDERS@
mapfile -t machines < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
export LAUNCH_ADDRESS=${machines[0]}
export LAUNCH_PORT=@PORT@
echo "job $SLURM_JOB_ID, start $((${SLURM_RESTART_COUNT:-0} + 1)): ${machines[*]}" >&2

# What the script of each machine is called with.
command=(
@WORDS@
)

# Runs on each machine; the shell of this file does not read it.
read -r -d '' on_machine << 'ON_MACHINE' || true
set -euo pipefail
node=$SLURM_NODEID
machine=$SLURMD_NODENAME
address=$LAUNCH_ADDRESS
port=$LAUNCH_PORT
job_id=$SLURM_JOB_ID

@NODE@ON_MACHINE

options=(
  --ntasks-per-node=1
  # The task holds all ranks of its machine: they share its cores.
  --cpu-bind=none
  # One machine that fails ends the job on all.
  --kill-on-bad-exit=1
@CONTAINER@)
# Since Slurm 22.05 srun does not take this from sbatch.
if [ -n "${SLURM_CPUS_PER_TASK:-}" ]; then options+=("--cpus-per-task=$SLURM_CPUS_PER_TASK"); fi

srun "${options[@]}" bash -c "$on_machine" on_machine "${command[@]}"
"""

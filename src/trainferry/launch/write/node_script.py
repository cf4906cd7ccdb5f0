"""The bash script that runs once on each machine and starts the ranks there.

The command's words are the script's arguments, so nothing a user wrote is read by the shell. What
a scheduler knows comes in as shell variables that its own lines set before:

    node      number of this machine, from 0
    machine   name under which the other machines reach this one
    address   name of machine 0
    port      port of the rendezvous on machine 0
    job_id    the scheduler's number or name of the job
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from trainferry.launch.environment import VARIABLES, Fact, known_facts
from trainferry.launch.write.files import filled
from trainferry.launch.write.plan import LaunchPlan


def node_script(plan: LaunchPlan, rank_table: PurePosixPath | None) -> str:
    """The script of one machine, without the lines of the scheduler that come first."""
    parts = [_working_folder(plan), _UNBUFFERED]
    if plan.device == "npu":
        parts.append(_TOOLKIT)
    if plan.starter == "torchrun":
        parts.append(_torchrun(plan))
    else:
        parts += [_ranks_here(plan, rank_table), _start(plan, rank_table), _WATCH]
    return "\n".join(part for part in parts if part)


def node_arguments(plan: LaunchPlan) -> list[str]:
    """The words that the script of a machine is called with."""
    return torchrun_words(plan.command) if plan.starter == "torchrun" else list(plan.command)


def torchrun_words(command: tuple[str, ...]) -> list[str]:
    """`command` as torchrun's last arguments: a module, a Python file, or any program."""
    program, *words = command
    if program == "trainferry":
        return ["-m", "trainferry", *words]
    is_python = PurePosixPath(program).name in ("python", "python3")
    if is_python and words and (words[0] == "-m" or not words[0].startswith("-")):
        return words
    return ["--no-python", program, *words]


def export_lines(plan: LaunchPlan) -> str:
    """The variables that the plan sets for all ranks, for a shell."""
    pairs = plan.environment.items()
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in pairs)


def _working_folder(plan: LaunchPlan) -> str:
    if plan.working_folder is None:
        return ""
    return f"cd -- {shlex.quote(str(plan.working_folder))}\n"


def _torchrun(plan: LaunchPlan) -> str:
    numbers = {
        "NODES": str(plan.nodes),
        "DEVICES": str(plan.devices_per_node),
        "RESTARTS": str(plan.restarts),
        "LOGS": shlex.quote(str(plan.logs_folder)),
        "EXPORTS": _for_all_ranks(plan),
    }
    return filled(_TORCHRUN, numbers)


def _for_all_ranks(plan: LaunchPlan) -> str:
    """What torchrun does not set itself."""
    exports = ['export JOB_ID="$job_id"']
    if plan.device == "npu":
        exports.append(f"export HCCL_CONNECT_TIMEOUT={plan.connect_timeout_seconds}")
    if plan.device_numbers and plan.device in _VISIBLE:
        numbers = ",".join(map(str, plan.device_numbers))
        exports.append(f"export {_VISIBLE[plan.device]}={numbers}")
    return "\n".join(exports)


def _ranks_here(plan: LaunchPlan, rank_table: PurePosixPath | None) -> str:
    if rank_table is None:
        first = f"node * {plan.devices_per_node}"
        return filled(_RANKS_IN_ORDER, {"FIRST": first, "COUNT": str(plan.devices_per_node)})
    numbers = {
        "TABLE": shlex.quote(str(rank_table)),
        "RANKS": str(plan.ranks),
        "COUNT": str(plan.devices_per_node),
        "SECONDS": str(plan.connect_timeout_seconds),
    }
    return filled(_RANKS_OF_TABLE, numbers)


def _start(plan: LaunchPlan, rank_table: PurePosixPath | None) -> str:
    words: dict[Fact, str | None] = {
        **{fact: str(value) for fact, value in known_facts(plan).items()},
        "rank": '"$rank"',
        "local_rank": '"$local_rank"',
        "node": '"$node"',
        "device": '"${devices[local_rank]}"',
        "job_id": '"$job_id"',
        "rank_table": shlex.quote(str(rank_table)) if rank_table else None,
        "address": '"$address"',
        "port": '"$port"',
    }
    exports = [f"    export {one.name}={words[one.fact]}" for one in VARIABLES if words[one.fact]]
    parts = {
        "NUMBERS": " ".join(map(str, plan.devices)),
        "LOGS": shlex.quote(str(plan.logs_folder)),
        "EXPORTS": "\n".join(exports),
    }
    return filled(_START, parts)


_VISIBLE = {"npu": "ASCEND_RT_VISIBLE_DEVICES", "cuda": "CUDA_VISIBLE_DEVICES"}

_UNBUFFERED = """\
# What a rank said last is in its log even when it is killed.
export PYTHONUNBUFFERED=1
"""

_TOOLKIT = """\
# The libraries of the NPU; the toolkit's script is not written for a strict shell.
toolkit=${ASCEND_TOOLKIT_HOME:-/usr/local/Ascend/ascend-toolkit}
if [ -f "$toolkit/set_env.sh" ]; then
  set +eu
  source "$toolkit/set_env.sh"
  set -eu
else
  echo "no $toolkit/set_env.sh: set ASCEND_TOOLKIT_HOME if the NPU is not found" >&2
fi
"""

_TORCHRUN = """\
@EXPORTS@

# Machine 0 holds the rendezvous; saying so here spares torchrun guessing from host names.
is_host=false
if [ "$node" -eq 0 ]; then is_host=true; fi

# A machine that does not come within join_timeout seconds is an error, not a hang.
exec "${PYTHON:-python3}" -m torch.distributed.run \\
  --nnodes @NODES@ --nproc-per-node @DEVICES@ \\
  --rdzv-backend c10d --rdzv-endpoint "$address:$port" --rdzv-id "$job_id" \\
  --rdzv-conf "is_host=$is_host,join_timeout=600" --local-addr "$machine" \\
  --max-restarts @RESTARTS@ --log-dir @LOGS@ --tee 3 \\
  "$@"
"""

_RANKS_IN_ORDER = """\
ranks=()
for ((one = 0; one < @COUNT@; one++)); do ranks+=("$((@FIRST@ + one))"); done
"""

# Python, because bash reads no JSON; runs with 3.7, which images of TensorFlow 1.15 have.
_RANKS_OF_TABLE = """\
# The rank table says which ranks are on which server; the scheduler's order may be another.
read -r -d '' reader << 'READER' || true
import json, sys, time

path, ranks, count, seconds, *names = sys.argv[1:]
deadline = time.time() + int(seconds)
table = {}
while table.get("status") != "completed":
    try:
        with open(path) as file:
            table = json.load(file)
    except FileNotFoundError:
        sys.exit("there is no rank table at " + path)
    except ValueError:
        table = {"status": "not JSON"}
    if table.get("status") != "completed":
        if time.time() > deadline:
            sys.exit("the rank table %s stays %s" % (path, table.get("status")))
        time.sleep(1)
if "server_list" not in table:
    sys.exit(path + " has no server_list: run `trainferry ranktable convert` on it")
servers = table["server_list"]
here = [one for one in servers if {one.get("server_id"), one.get("host_ip")} & set(names)]
if len(here) != 1:
    known = ", ".join(str(one.get("server_id")) for one in servers)
    sys.exit("this machine (%s) is not one server of %s, which has %s: ask for those machines, "
             "or run `trainferry ranktable make` for these" % (", ".join(names), path, known))
total = sum(len(one["device"]) for one in servers)
mine = sorted(int(device["rank_id"]) for device in here[0]["device"])
if total != int(ranks) or len(mine) != int(count):
    sys.exit("%s has %d devices, %d of them here; the job has %s, and %s a machine"
             % (path, total, len(mine), ranks, count))
print(servers.index(here[0]), *mine)
READER
names=("$machine" "$(hostname)" ${XDL_IP:-} $(hostname -I 2> /dev/null || true))
found=$("${PYTHON:-python3}" -c "$reader" @TABLE@ @RANKS@ @COUNT@ @SECONDS@ "${names[@]}")
read -r node numbers <<< "$found"
read -r -a ranks <<< "$numbers"
"""

_START = """\
devices=(@NUMBERS@)
logs=@LOGS@
mkdir -p -- "$logs"
logs=$(cd -- "$logs" && pwd)
failed=$logs/failed-on-machine-$node
: > "$failed"

start_rank() {
  local local_rank=$1 rank=${ranks[$1]} code=0
  shift
  (
    trap : TERM INT # stays until its command has ended
@EXPORTS@
    log=$logs/rank-$rank.log
    echo "== rank $rank on $machine, $(date)" >> "$log"
    if [ "$rank" -eq 0 ]; then
      "$@" 2>&1 | (trap '' TERM INT; exec tee -a -- "$log") || code=$?
    else
      "$@" >> "$log" 2>&1 || code=$?
    fi
    if [ "$code" -ne 0 ]; then echo "$rank $code" >> "$failed"; fi
    exit "$code"
  ) &
  processes+=("$!")
}
"""

_WATCH = """\
# Every rank is a process group of its own, so that stopping it stops what it started.
stop_ranks() {
  trap '' TERM INT
  local process
  for process in "${processes[@]}"; do kill -TERM -- "-$process" 2> /dev/null || true; done
  for ((second = 0; second < 30; second++)); do
    if [ -z "$(jobs -rp)" ]; then return; fi
    sleep 1
  done
  for process in "${processes[@]}"; do kill -KILL -- "-$process" 2> /dev/null || true; done
}

set -m
processes=()
trap 'stop_ranks; exit 143' TERM INT
for local_rank in "${!ranks[@]}"; do start_rank "$local_rank" "$@"; done
echo "machine $node ($machine): ranks ${ranks[*]} started, logs in $logs" >&2

# One rank that fails leaves the others waiting: stop them, and name the first.
while [ ! -s "$failed" ] && [ -n "$(jobs -rp)" ]; do sleep 1; done
if [ -s "$failed" ]; then
  read -r rank code < "$failed"
  echo "rank $rank failed with exit code $code; the end of $logs/rank-$rank.log:" >&2
  tail -n 20 -- "$logs/rank-$rank.log" >&2
  stop_ranks
  exit "$code"
fi
for process in "${processes[@]}"; do wait "$process"; done
"""

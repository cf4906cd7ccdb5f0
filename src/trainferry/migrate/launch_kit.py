"""Run scripts for the project's own programs: one device, eight devices, a rank table.

    npu_launch/train_1p.sh   --data_dir /data
    npu_launch/train_8p.sh   --data_dir /data
    npu_launch/rank_table_8p.json

The scripts need bash alone. They pass all arguments on to the program.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainferry.migrate.entries import Argument, Entry, programs
from trainferry.migrate.migration import Migration

FOLDER = PurePosixPath("npu_launch")
_MOST_ENTRIES = 12
_DEVICES = 8
_TO_FILL_IN = "FILL-IN"


def launch_kit(migration: Migration) -> list[tuple[PurePosixPath, bytes]]:
    """The files of the kit, for every program that trains; without one, for all programs."""
    entries = programs(migration.entries)
    if not entries:
        return []
    files = [(FOLDER / "rank_table_8p.json", _rank_table())]
    for name, entry in _named(entries[:_MOST_ENTRIES]):
        files.append((FOLDER / f"{name}_1p.sh", _script(entry, _ONE_DEVICE)))
        files.append((FOLDER / f"{name}_8p.sh", _script(entry, _EIGHT_DEVICES)))
    return files


def _named(entries: list[Entry]) -> Iterator[tuple[str, Entry]]:
    """A name for each: the file's, with its folders where two are called the same."""
    stems = [_stem(entry) for entry in entries]
    for entry in entries:
        stem = _stem(entry)
        alone = stems.count(stem) == 1
        yield stem if alone else "_".join(entry.path.with_suffix("").parts), entry


def _stem(entry: Entry) -> str:
    folder = entry.path.parent.name
    return folder if folder and entry.path.stem == "__main__" else entry.path.stem


def _script(entry: Entry, body: str) -> bytes:
    module = entry.module
    program = shlex.quote(str(entry.path)) if module is None else f"-m {shlex.quote(module)}"
    required = [one.name for one in entry.arguments if one.is_required]
    shown = str(entry.path).replace("\n", "?")
    head = ["#!/usr/bin/env bash", f"# Runs {shown} on NPUs; arguments go to the program."]
    head += list(_described(entry.arguments))
    check = ""
    if required:
        needs = " ".join(shlex.quote(name) for name in required if name.startswith("-"))
        check = _CHECK.replace("@NEEDS@", needs) if needs else ""
    text = "\n".join(head) + "\n" + _COMMON + check + body
    text = text.replace("@PROGRAM@", program).replace("@DEVICES@", str(_DEVICES))
    return text.encode("utf-8", "surrogateescape")  # a name that is not UTF-8 keeps its bytes


def _described(arguments: tuple[Argument, ...]) -> Iterator[str]:
    if arguments:
        yield "#"
        yield "# The program's own arguments:"
    for one in arguments:
        default = "required" if one.is_required else f"default {one.default}"
        described = f"  {one.help}" if one.help else ""
        yield f"#   {one.name}  ({default}){described}"[:160]


def _rank_table() -> bytes:
    devices = [
        {"device_id": str(number), "device_ip": _TO_FILL_IN, "rank_id": str(number)}
        for number in range(_DEVICES)
    ]
    table = {
        "version": "1.0",
        "server_count": "1",
        "server_list": [{"server_id": _TO_FILL_IN, "device": devices}],
        "status": "completed",
    }
    return (json.dumps(table, indent=2) + "\n").encode()


_COMMON = """\
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-python3}
toolkit=${ASCEND_TOOLKIT_HOME:-/usr/local/Ascend/ascend-toolkit}
if [ -f "$toolkit/set_env.sh" ]; then
  set +u
  # shellcheck disable=SC1091
  source "$toolkit/set_env.sh"
  set -u
else
  echo "no $toolkit/set_env.sh: set ASCEND_TOOLKIT_HOME, or source it yourself" >&2
fi
export JOB_ID=${JOB_ID:-10087}
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
"""

_CHECK = """
for needed in @NEEDS@; do
  case " $* " in
    *" $needed "* | *" $needed="*) ;;
    *) echo "the program needs $needed" >&2; exit 2 ;;
  esac
done
"""

_ONE_DEVICE = """
export ASCEND_DEVICE_ID=${ASCEND_DEVICE_ID:-0} DEVICE_ID=${ASCEND_DEVICE_ID:-0}
export RANK_ID=0 RANK_SIZE=1
exec "$python" @PROGRAM@ "$@"
"""

_EIGHT_DEVICES = """
devices=@DEVICES@
export RANK_SIZE=$devices
export RANK_TABLE_FILE=${RANK_TABLE_FILE:-$PWD/npu_launch/rank_table_8p.json}
if grep -q FILL-IN "$RANK_TABLE_FILE"; then
  echo "fill in $RANK_TABLE_FILE: server_id is this machine's address," >&2
  echo "device_ip what \\`hccn_tool -i N -ip -g\\` prints for device N" >&2
  exit 1
fi

logs=${LOG_DIR:-npu_launch/logs}
mkdir -p "$logs"
cores=$(nproc)
share=$((cores / devices))
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true' EXIT INT TERM
for ((rank = 0; rank < devices; rank++)); do
  bind=()
  if [ "$share" -gt 0 ] && command -v taskset > /dev/null; then
    bind=(taskset -c "$((rank * share))-$(((rank + 1) * share - 1))")
  fi
  RANK_ID=$rank ASCEND_DEVICE_ID=$rank DEVICE_ID=$rank DEVICE_INDEX=$rank \\
    ${bind[@]+"${bind[@]}"} "$python" @PROGRAM@ "$@" > "$logs/rank_$rank.log" 2>&1 &
  processes+=($!)
done
echo "$devices processes started; logs in $logs"

# One rank that fails leaves the others waiting for ever: stop them all.
for ((left = devices; left > 0; left--)); do
  if ! wait -n; then
    echo "a rank failed; the last lines of each log:" >&2
    tail -n 3 "$logs"/rank_*.log >&2
    exit 1
  fi
done
trap - EXIT
"""

"""The command that each rank of a plan runs for its preflight."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from trainferry.launch.ranktable.chips import ChipName
from trainferry.launch.write.plan import LaunchPlan


def preflight_command(
    plan: LaunchPlan,
    seconds: float,
    *,
    backend: str | None = None,
    facts: Mapping[str, str] | None = None,
    report: Path | None = None,
    folders: Sequence[Path] = (),
    chip: ChipName | None = None,
) -> tuple[str, ...]:
    """Ranks may take `seconds` to come; each runs this with its environment, on its machine.

    `backend` is the one of the plan's device, `facts` are versions of this machine's drivers,
    `report` is a folder of this machine for what the ranks find, and `folders` are looked at
    beside the working folder, the plan's output and the one for temporary files. `chip` says by
    whose rules the rank table is checked.
    """
    command = [sys.executable, "-m", "trainferry.launch.preflight", "--seconds", f"{seconds:g}"]
    command += ["--device", plan.device]
    if backend is not None:
        command += ["--backend", backend]
    for name, version in (facts or {}).items():
        command += ["--fact", f"{name}={version}"]
    output = [Path(plan.logs_folder)] if plan.output_folder else []
    for folder in dict.fromkeys([*output, *folders]):
        command += ["--folder", str(folder)]
    if chip is not None:
        command += ["--chip", chip]
    if report is not None:
        command += ["--report", str(report)]
    return tuple(command)

"""Two ranks with half the batch against one rank with the whole: are their numbers equal?

    python benchmarks/half_batch.py PYTHON [--style NAME] [--ranks 2] [--steps 5] [--json]

PYTHON has TensorFlow 1.15 or 2.x. Each script of examples/ranks is rehearsed twice: on all ranks
with their share of 16 samples, then on one rank with all 16, from the same weights. The scripts
for Horovod are migrated first. Told is the largest difference of gradients and of weights over all
steps, as it is and in parts of the largest number of its kind in that step; the exit status is 1 if
one is beyond 1e-5. Not in parts of each tensor's own numbers: the gradient of the last bias is a
sum that passes through zero, and what is left of it then is rounding.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.write import write_tree
from trainferry.rehearse.check import check_run
from trainferry.rehearse.comparing.arrays import Array, Difference, difference
from trainferry.rehearse.comparing.folder import read_recorded
from trainferry.rehearse.comparing.tensors import PREFIXES
from trainferry.rehearse.facts import read_facts
from trainferry.rehearse.interpreter import find_interpreter
from trainferry.rehearse.plan import Plan, Wishes
from trainferry.rehearse.prepare.tiny import Cutter
from trainferry.rehearse.ranks import State
from trainferry.rehearse.run import make_folder
from trainferry.rehearse.sides import run_side
from trainferry.rehearse.tasks import Task

SCRIPTS = Path(__file__).resolve().parents[1] / "examples/ranks"
STYLES = ("session", "estimator", "keras", "horovod_hooks", "horovod_keras")
BATCH = 16
TOLERANCE = 1e-5


@dataclasses.dataclass(frozen=True)
class Apart:
    """The numbers of one kind in two runs."""

    steps: int
    variables: int
    absolute: float
    """The largest difference of any step."""
    relative: float
    """The same, in parts of the largest number of this kind in the step."""

    @property
    def is_equal(self) -> bool:
        return self.variables > 0 and max(self.absolute, self.relative) <= TOLERANCE


@dataclasses.dataclass(frozen=True)
class Result:
    """What a style came to."""

    style: str
    gradients: Apart
    weights: Apart
    between_ranks: float
    """The largest difference of gradients and weights between rank 0 and any other."""
    findings: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        return self.gradients.is_equal and self.weights.is_equal and self.between_ranks == 0


class Quiet:
    """Shows nothing while the ranks run."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr)

    def tell(self, side: str, states: Sequence[State], steps: int) -> None:
        """The table at the end says it."""

    def pause(self) -> None:
        """There is nothing to tidy."""


def compare_style(
    style: str, python: Path, folder: Path, *, ranks: int = 2, steps: int = 5
) -> Result:
    """Rehearse one script both ways; `folder` gets what the runs wrote."""
    project = _project(style, folder)
    plan = Plan(
        project=project,
        entry=PurePosixPath(f"{style}.py"),
        arguments=("--batch", str(BATCH // ranks)),
        interpreter=find_interpreter(python),
        folder=folder / "run",
        wishes=Wishes(ranks=ranks, steps=steps, timeout_seconds=600),
    )
    make_folder(plan, Quiet())
    cutter = Cutter(plan.folder / "data", 0)
    many = Task("shared", "shared", project, plan.entry, ranks, is_compared=True)
    one = Task("alone", "alone", project, plan.entry, is_compared=True, follows="shared")
    went = run_side(many, plan, cutter, Quiet())
    alone = run_side(
        one, dataclasses.replace(plan, arguments=("--batch", str(BATCH))), cutter, Quiet()
    )
    for rank in (*went.side.ranks, *alone.side.ranks):
        if rank.error:
            raise SystemExit("\n".join([f"{style}: {rank.error}", *rank.last_lines]))
    found = check_run([read_facts(home) for home in went.homes], list(went.hub))
    first = went.homes[0]
    others = [apart(kind, first, home) for home in went.homes[1:] for kind in PREFIXES]
    return Result(
        style,
        apart("gradient", alone.homes[0], first),
        apart("weight", alone.homes[0], first),
        max(other.absolute for other in others),
        tuple(f"{finding.check}: {finding.message}" for finding in found),
    )


def _project(style: str, folder: Path) -> Path:
    """The script and its data, in a folder of their own; migrated where it is for Horovod."""
    project = folder / "project"
    project.mkdir(parents=True)
    for name in (f"{style}.py", "samples.py"):
        shutil.copy(SCRIPTS / name, project)
    if not style.startswith("horovod"):
        return project
    migrated = folder / "migrated"
    write_tree(migrate_project(project, Options()), migrated)
    return migrated


def apart(kind: str, first: Path, second: Path) -> Apart:
    """Compare what two ranks recorded of one kind; all their steps must have it."""
    one, other = read_recorded(first), read_recorded(second)
    steps = [number for number in one.steps if number > 0]
    if steps != [number for number in other.steps if number > 0]:
        raise SystemExit(f"{first} and {second} have other steps")
    found = [_differences(kind, one.values(step), other.values(step)) for step in steps]
    scales = [max((each.scale for each in step), default=0.0) for step in found]
    largest = [max((each.largest for each in step), default=math.inf) for step in found]
    return Apart(
        len(steps),
        min(map(len, found), default=0),
        max(largest, default=math.inf),
        max((a / (b or 1.0) for a, b in zip(largest, scales, strict=True)), default=math.inf),
    )


def _differences(kind: str, first: dict[str, Array], second: dict[str, Array]) -> list[Difference]:
    names = [name for name in first if name.startswith(PREFIXES[kind])]
    if names != [name for name in second if name.startswith(PREFIXES[kind])]:
        raise SystemExit(f"the runs have other variables: {names}")
    return [difference(first[name], second[name]) for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", type=Path, metavar="PYTHON")
    parser.add_argument("--style", choices=STYLES, action="append")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = []
    for style in args.style or STYLES:
        with tempfile.TemporaryDirectory() as folder:
            results.append(
                compare_style(style, args.python, Path(folder), ranks=args.ranks, steps=args.steps)
            )
    if args.json:
        print(json.dumps([dataclasses.asdict(one) for one in results], indent=1))
    else:
        print(table(results, args.ranks))
    return 0 if all(one.is_equal for one in results) else 1


def table(results: Sequence[Result], ranks: int) -> str:
    """The results as a Markdown table."""
    rows = [
        f"| {one.style} | {one.gradients.steps} | {one.gradients.variables} "
        f"| {one.gradients.absolute:.1e} | {one.gradients.relative:.1e} "
        f"| {one.weights.absolute:.1e} | {one.between_ranks:g} | {len(one.findings)} |"
        for one in results
    ]
    head = f"| script | steps | variables | gradients, {ranks} ranks against 1 | of the largest "
    return "\n".join([head + "| weights | between ranks | findings |", "|---" * 8 + "|", *rows])


if __name__ == "__main__":
    raise SystemExit(main())

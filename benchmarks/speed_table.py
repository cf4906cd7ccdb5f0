"""All networks beside their peers on one GPU: the table of RESULTS.md, made again.

    python benchmarks/speed_table.py --clovaai CHECKOUT --json speed.json

Each row is `trainferry benchmark RECIPE --against PEER`: whole training steps in bf16 on made-up
data, ours and theirs in turn. A row that fails is told and left out, and the exit code is 1. Rows
without a peer have the figures that their authors publish. Every row's first peer comes before all
second ones, so that `--seconds`, after which nothing more is begun, leaves out what matters least.
`floor.py` says what is possible.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "triton", "timm", "torchvision")


@dataclass(frozen=True)
class Row:
    """A recipe at a batch, its peers with the modes they run in, and the rate that is our goal."""

    recipe: str
    batch: int
    goal: int
    peers: tuple[tuple[str, str], ...] = ()
    published: str = ""


Job = tuple[Row, str | None, str]  # a row, a peer and its mode

ROWS = (
    Row("crnn", 64, 34_000, (("clovaai", "eager"),)),
    Row("crnn", 512, 70_000, (("clovaai", "eager"), ("clovaai", "compile"))),
    Row("attention_ocr", 32, 5_000, (), "246 on one NPU, 100 on a 2080 Ti"),
    Row("resnet50", 32, 5_500, (("torchvision", "eager"), ("timm", "reduce-overhead"))),
    Row("resnet50", 256, 8_000, (("torchvision", "eager"), ("timm", "compile"))),
    Row("densenet121", 32, 3_300, (("torchvision", "eager"), ("timm", "reduce-overhead"))),
    Row("densenet121", 256, 4_300, (("torchvision", "eager"), ("timm", "compile"))),
    Row("hrnet_w18", 32, 2_000, (("timm", "eager"), ("timm", "reduce-overhead"))),
    Row("hrnet_w18", 256, 3_000, (("timm", "eager"),)),
    Row("hrnet_w30", 32, 1_400, (("timm", "eager"),), "325 on one NPU"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--clovaai", type=Path, help="checkout of deep-text-recognition-benchmark")
    parser.add_argument("--modes", default="eager,compile,reduce-overhead", help="of the peers")
    parser.add_argument("--only", help="RECIPE or RECIPE:BATCH, separated by commas")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="for our side of all rows")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    results: list[dict[str, Any]] = []
    for row, peer, mode in _jobs(arguments):
        if time.monotonic() > deadline:
            print(f"no time for {row.recipe}, {row.batch}, {peer}, {mode}", file=sys.stderr)
            continue
        found = _measure(row, peer, mode, arguments)
        results.append({"recipe": row.recipe, "batch": row.batch, "goal": row.goal, **found})
        _keep(results, arguments.json)
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    _show(results)
    return 1 if any("error" in each for each in results) else 0


def _jobs(arguments: argparse.Namespace) -> list[Job]:
    """Return what to measure: with the first peer of every row, then with the second ones."""
    numbered = [
        (number, (row, *peer))
        for row in ROWS
        if _is_asked(row, arguments.only)
        for number, peer in enumerate(_peers(row, arguments))
    ]
    return [job for _, job in sorted(numbered, key=lambda each: each[0])]


def _is_asked(row: Row, only: str | None) -> bool:
    names = {row.recipe, f"{row.recipe}:{row.batch}"}
    return only is None or bool(names & set(only.split(",")))


def _peers(row: Row, arguments: argparse.Namespace) -> list[tuple[str | None, str]]:
    """Return the peers to ask; one that is not here cannot be, and ours is timed alone."""
    modes = arguments.modes.split(",")
    found: list[tuple[str | None, str]] = []
    for peer, mode in row.peers:
        if mode not in modes or (peer == "clovaai" and arguments.clovaai is None):
            continue
        found.append((f"clovaai:{arguments.clovaai}" if peer == "clovaai" else peer, mode))
    return found or [(None, "eager")]


def _measure(
    row: Row, peer: str | None, mode: str, arguments: argparse.Namespace
) -> dict[str, Any]:
    command = [
        *(sys.executable, "-m", "trainferry", "benchmark", row.recipe),
        *("--batch", str(row.batch), "--precision", "bf16", "--device", arguments.device),
        *("--steps", str(arguments.steps), "--json"),
        *(word for each in arguments.set for word in ("--set", each)),
    ]
    if peer is not None:
        command += ["--against", peer, "--peer-mode", mode, "--rounds", str(arguments.rounds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"peer": peer, "mode": mode, "error": done.stderr[-2000:]}
    told = json.loads(done.stdout)
    if peer is None:
        return {"ours": told, "published": row.published}
    told["peer"]["mode"] = mode
    return {**told, "published": row.published}


def _keep(results: Sequence[dict[str, Any]], path: Path | None) -> None:
    """Write what there is so far: a measurement may be cut short."""
    if path is not None:
        facts = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "versions": _versions()}
        path.write_text(json.dumps({**facts, "rows": results}, indent=1), encoding="utf-8")


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # a package that is not here is no peer
    return found


def _show(results: Sequence[dict[str, Any]]) -> None:
    facts = [" ".join(fact) for fact in _versions().items()]
    print(f"{datetime.now(UTC):%Y-%m-%d}, {', '.join(facts)}\n")
    ours = "ours, images/s | ms | GiB | taken | first step"
    theirs = "images/s | GiB | taken | first step | ratio"
    print(f"| recipe | batch | {ours} | goal | peer | {theirs} |")
    print("|---|" + 7 * "---:|" + "---|" + 5 * "---:|")
    for row in results:
        start = f"| {row['recipe']} | {row['batch']} |"
        if "error" in row:
            print(f"{start} failed with {row['peer']}, {row['mode']} |")
            continue
        cells = [*_cells(row["ours"], speed=True), f"{row['goal']:,}"]
        if "peer" in row:
            cells += [row["peer"]["name"], *_cells(row["peer"], speed=False), f"{row['ratio']:.2f}"]
        else:
            cells += [row["published"] or "none", *5 * [""]]
        print(f"{start} {' | '.join(cells)} |")


def _cells(side: dict[str, Any], *, speed: bool) -> list[str]:
    rate = f"{side['images_per_second']:,.0f}"
    memory = [f"{side[each] / 2**30:.2f}" for each in ("peak_memory_bytes", "taken_memory_bytes")]
    step = [f"{side['milliseconds_per_step']:.2f}"] if speed else []
    return [rate, *step, *memory, f"{side['first_step_seconds']:.0f} s"]


if __name__ == "__main__":
    sys.exit(main())

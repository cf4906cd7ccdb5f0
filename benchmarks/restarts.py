"""A run whose ranks are killed one after the other, and whether it ends as if nothing had been.

Ranks are started by `trainferry launch` on the CPU and note every update with the samples they
used. Random ranks get SIGKILL at random moments. In the end the weights must be those of a run
that nobody disturbed, bit for bit, and the updates that led to them must have used every sample
of the stream once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SETS = (
    "network.channels=[8,8,16,16,16,16,16]",
    "network.hidden=16",
    "loop.norms=synchronised",
    "loop.log_every=10",
    "loop.evaluate_every=20",
    "loop.save_every=10",
    "loop.average=0.9",
    "data.workers=1",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0, help="decides who is killed, and when")
    if sys.argv[1:2] == ["--train"]:
        return _train_and_note(Path(sys.argv[2]), sys.argv[3:])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make_words(folder / "data")
        calm = _run(arguments, folder, "calm", kills=0)
        wild = _run(arguments, folder, "wild", kills=arguments.kills)
        return _report(arguments, folder, calm, wild)


def _run(arguments: argparse.Namespace, folder: Path, name: str, kills: int) -> dict[str, Any]:
    """Train to the end; kill ranks on the way, each behind a checkpoint that is new."""
    run, notes = folder / name, folder / f"{name}-notes"
    notes.mkdir()
    sets = [*SETS, f"loop.batch={arguments.batch}", f"schedule.steps={arguments.steps}"]
    given = [f"--set={each}" for each in sets]
    launch = ("-m", "trainferry", "launch", "--devices", str(arguments.ranks))
    worker = (sys.executable, __file__, "--train", str(notes))
    place = (f"--data={folder / 'data'}", f"--run={run}", "--device=cpu")
    process = subprocess.Popen(
        [
            *(sys.executable, *launch, "--restarts", str(kills), "--logs", str(folder / "logs")),
            *("--", *worker, "crnn_small", *place, *given),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    dice = random.Random(arguments.seed)
    started, killed = time.monotonic(), []
    for _ in range(kills):
        # Wait until the ranks of this attempt train, then a little longer.
        while process.poll() is None and not _all_train(notes, len(killed), arguments.ranks):
            time.sleep(0.05)
        time.sleep(dice.uniform(0, 2))
        victim = dice.randrange(arguments.ranks)
        pid = int((notes / f"{len(killed)}-{victim}.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        killed.append(victim)
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{name}: exit {process.returncode}\n{output[-4000:]}")
    return {"killed": killed, "seconds": time.monotonic() - started, "notes": _read(notes)}


def _all_train(notes: Path, attempt: int, ranks: int) -> bool:
    files = [notes / f"{attempt}-{rank}.jsonl" for rank in range(ranks)]
    return all(file.is_file() and file.stat().st_size for file in files)


def _train_and_note(notes: Path, command: list[str]) -> int:
    """Be one rank of `trainferry train`; write a line for every update that was made."""
    from trainferry.cli.main import main as trainferry
    from trainferry.train import loop
    from trainferry.train.data.batch import Batch
    from trainferry.train.run import Run

    attempt, rank = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), os.environ["RANK"]
    (notes / f"{attempt}-{rank}.pid").write_text(str(os.getpid()))
    file = (notes / f"{attempt}-{rank}.jsonl").open("a", buffering=1)
    step = loop.train_step

    def noted(run: Run, batch: Batch) -> loop.StepResult:
        result = step(run, batch)
        line = {"position": run.position - 1, "samples": batch.positions.tolist()}
        file.write(json.dumps(line) + "\n")
        return result

    loop.train_step = noted
    return trainferry(["train", *command])


def _read(notes: Path) -> dict[int, dict[int, dict[int, list[int]]]]:
    """Return the samples of every update: by attempt, position and rank."""
    found: dict[int, dict[int, dict[int, list[int]]]] = {}
    for path in notes.glob("*.jsonl"):
        attempt, rank = map(int, path.stem.split("-"))
        for line in path.read_text().splitlines():
            if line.endswith("}"):  # a killed rank may have left half a line
                note = json.loads(line)
                updates = found.setdefault(attempt, {}).setdefault(note["position"], {})
                updates[rank] = note["samples"]
    return found


def _report(
    arguments: argparse.Namespace, folder: Path, calm: dict[str, Any], wild: dict[str, Any]
) -> int:
    import torch

    from trainferry.train.checkpoint import find_checkpoint, load_checkpoint, read_facts
    from trainferry.train.data.batches import stream_positions

    ends = [load_checkpoint(find_checkpoint(folder / name, "last")) for name in ("calm", "wild")]
    differing = [
        name
        for part in ("weights", "training", "average")
        for name, value in (getattr(ends[0], part) or {}).items()
        if not torch.equal(value, (getattr(ends[1], part) or {})[name])
    ]
    # An attempt goes on from a checkpoint: of an update that was made again, the last one counts.
    used: dict[int, dict[int, list[int]]] = {
        position: shares
        for _, updates in sorted(wild["notes"].items())
        for position, shares in updates.items()
        if len(shares) == arguments.ranks
    }
    samples = int(read_facts(find_checkpoint(folder / "wild", "last"))["samples"])
    wrong = [
        position
        for position in range(arguments.steps)
        if [sample for _, share in sorted(used.get(position, {}).items()) for sample in share]
        != stream_positions(samples, arguments.batch, 0, position).tolist()
    ]
    times = Counter(sample for share in used.values() for own in share.values() for sample in own)
    made = sum(len(updates) for updates in wild["notes"].values())
    least, most = min(times.values()), max(times.values())
    print(
        f"\n{arguments.ranks} ranks, {arguments.steps} steps of {arguments.batch} samples, gloo\n"
    )
    print("| | |\n|---|---|")
    print(f"| ranks killed | {', '.join(map(str, wild['killed']))} |")
    print(f"| updates begun, updates that count | {made}, {len(used)} |")
    print(f"| samples used, of {samples} each | {sum(times.values())}, {least} or {most} times |")
    print(f"| batches that are not those of the stream | {len(wrong)} |")
    print(f"| tensors that differ from the undisturbed run | {len(differing)} |")
    print(f"| seconds, undisturbed | {wild['seconds']:.0f}, {calm['seconds']:.0f} |")
    return 1 if wrong or differing or len(used) != arguments.steps or most - least > 1 else 0


def _make_words(folder: Path) -> None:
    for split, count in (("train", "200"), ("val", "40")):
        command = ("data", "words", "--count", count, "--to", str(folder), "--split", split)
        subprocess.run(
            [sys.executable, "-m", "trainferry", *command, "--processes", "1"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    sys.exit(main())

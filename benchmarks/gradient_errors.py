"""How exact are the gradients of the fast path? Both paths against double precision, on one GPU.

    python benchmarks/gradient_errors.py --json errors.json

One step of each recipe in bf16 from the same weights on the same batch: `plain`, torch's own
operators; and `fast`, our kernels as a whole step has them. Errors are norms of differences from
the gradient in double precision, as parts of its norm: of all weights together, and the median
over weights. Beside them, how much of the error both share: 1 where it comes from bf16 itself.
Nothing is dropped out and no gradient is clipped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from trainferry.devices.device import seed_device
from trainferry.devices.precision import full_precision
from trainferry.train.benchmark import synthetic_batches
from trainferry.train.build import synthetic_run
from trainferry.train.data.batch import Batch
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run
from trainferry.train.step import step_seed, train_step

CASES = ("hrnet_w18:32", "densenet121:32", "attention_ocr_signs:32", "resnet50:32", "crnn:64")
MODES = ("double", "plain", "fast")
SETS = {"crnn": ["network.dropout=0"]}

Gradients = dict[str, Tensor]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", default=",".join(CASES), help="RECIPE:BATCH, separated by commas")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--set", action="append", default=[], help="for all runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--mode", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mode:
        save_file(gradients(arguments), arguments.to)
        return 0
    print("| recipe, batch | plain | fast | median of weights, plain | fast | shared |")
    print("|---|---:|---:|---:|---:|---:|")
    found = {}
    for case in arguments.only.split(","):
        found[case] = compare(*(apart(case, mode, arguments) for mode in MODES))
        cells = [f"{100 * each:.3f} %" for each in list(found[case].values())[:4]]
        print(f"| {case.replace(':', ', ')} | {' | '.join(cells)} | {found[case]['shared']:.2f} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def apart(case: str, mode: str, arguments: argparse.Namespace) -> Gradients:
    """Make the gradients in a process of its own, as the switch for kernels is read once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gradients.safetensors"
        command = [sys.executable, __file__, "--only", case, "--mode", mode]
        command += ["--device", arguments.device, "--precision", arguments.precision]
        command += [word for each in arguments.set for word in ("--set", each)]
        environment = os.environ | ({} if mode == "fast" else {"TRAINFERRY_KERNELS": "off"})
        subprocess.run([*command, "--to", str(path)], env=environment, check=True)
        return load_file(path)


def gradients(arguments: argparse.Namespace) -> Gradients:
    name, _, batch = arguments.only.partition(":")
    mode, device = arguments.mode, arguments.device
    fast = str(mode == "fast").lower()
    sets = [
        *(f"precision.name={arguments.precision}", "precision.loss_scale=none"),
        f"loop.batch={batch}",
        *(f"loop.captured={fast}", f"loop.whole_step={fast}", "optimizer.clip_norm=0"),
        *SETS.get(name, []),
        *arguments.set,
    ]
    run, _ = synthetic_run(read_recipe(name, sets), torch.device(device), samples=int(batch))
    run.network.train()
    first = synthetic_batches(run, pinned=False)[0]
    if mode == "double":
        learn_exactly(run, first)
    else:
        train_step(run, first)
    return {
        name: weight.grad.double().cpu().contiguous()
        for name, weight in run.network.named_parameters()
        if weight.grad is not None
    }


def learn_exactly(run: Run, batch: Batch) -> None:
    """Make the gradient that the step would make, in double precision, and no update."""
    seed_device(step_seed(run.recipe.loop.seed, run.position), run.device)
    inputs, varied = run.task.vary(batch.to(run.device))
    with full_precision(run.device):
        logits = run.network.double()(inputs.double(), *run.task.hints(varied))
        run.task.losses(logits, varied).mean().backward()


def compare(exact: Gradients, plain: Gradients, fast: Gradients) -> dict[str, float]:
    names = [name for name, value in exact.items() if value.norm() > 0]
    wrong = [
        {name: found[name].view_as(exact[name]) - exact[name] for name in names}
        for found in (plain, fast)
    ]
    whole = [torch.cat([each[name].flatten() for name in names]) for each in wrong]
    size = torch.cat([exact[name].flatten() for name in names]).norm()
    medians = [
        torch.stack([each[name].norm() / exact[name].norm() for name in names]).median()
        for each in wrong
    ]
    return {
        "plain": float(whole[0].norm() / size),
        "fast": float(whole[1].norm() / size),
        "median plain": float(medians[0]),
        "median fast": float(medians[1]),
        "shared": float(torch.nn.functional.cosine_similarity(whole[0], whole[1], dim=0)),
    }


if __name__ == "__main__":
    sys.exit(main())

"""The scaling model read out for 8 and 1,024 devices that were never here.

Weights and norms are counted from our networks; link speeds are published ones, of which four
fifths are taken. Seconds of one device are published (Ascend 910) or measured (H200).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaling_model import Cluster, Link, Network, Step, predict

REACHED = 0.8  # of a link's published speed; 376 of 450 GB/s were measured on NVLink
PER_SERVER = 8


@dataclass(frozen=True)
class Device:
    """Links of a device, and how long it computes: for each network a share and its seconds."""

    name: str
    inside: Link
    between: Link
    overlapping: bool
    computing: dict[str, tuple[int, float]]


DEVICES = (
    Device(
        "Ascend 910",
        inside=Link(REACHED * 30e9, 10e-6),  # one HCCS port of 240 Gb/s
        between=Link(REACHED * 12.5e9, 10e-6),  # 100 Gb/s RoCE for each NPU
        overlapping=True,
        computing={
            "resnet50": (256, 256 / 1802),
            "densenet121": (32, 8 * 32 / 4216.5),
            "hrnet_w30": (32, 32 / 324.63),
            "crnn": (64, 0.168),
            "attention_ocr": (32, 0.130),
        },
    ),
    Device(
        "H200",
        inside=Link(REACHED * 450e9, 10e-6),  # NVLink, one direction
        between=Link(REACHED * 50e9, 10e-6),  # 400 Gb/s InfiniBand for each GPU
        overlapping=False,  # recorded graphs give all gradients at once
        computing={
            "resnet50": (128, 128 / 3104),
            "densenet121": (128, 128 / 2655),
            "hrnet_w18": (128, 128 / 1914),
            "crnn": (64, 0.0145),
            "attention_ocr": (32, 0.0219),
        },
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--plot", type=Path, help="draw it, too")
    parser.add_argument(
        "--measured", type=Path, help="what `scaling.py --json` wrote, for the plot"
    )
    arguments = parser.parse_args()
    names = {name for device in DEVICES for name in device.computing}
    networks = {name: _count(name) for name in names}
    for device in DEVICES:
        _show(device, networks)
    if arguments.plot:
        measured = json.loads(arguments.measured.read_text()) if arguments.measured else None
        _draw(networks, measured, arguments.plot)
    return 0


def step_on(
    device: Device, network: Network, name: str, devices: int, *, synchronised: bool = False
) -> Step:
    """Predict a step in which every device has the same share, whatever their number."""
    local = min(devices, PER_SERVER)
    cluster = Cluster(devices // local, local, device.inside, device.between)
    _, seconds = device.computing[name]
    return predict(
        network, seconds, cluster, synchronised=synchronised, overlapping=device.overlapping
    )


def _count(name: str) -> Network:
    """Count weights and norms of a recipe's network; views have statistics of their own."""
    import torch
    from torch import nn

    from trainferry.train.build import build_network, without_data
    from trainferry.train.networks.view_norm import ViewNorm
    from trainferry.train.recipe.read import read_recipe

    recipe, _ = without_data(read_recipe(name, []))
    network = build_network(recipe, torch.device("cpu"))
    channels: list[int] = []
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            channels.append(module.num_features)
        elif isinstance(module, ViewNorm):
            channels += [module.bias.numel()] * module.views
    weights = sum(each.numel() for each in network.parameters() if each.requires_grad)
    return Network(weights, tuple(channels))


def _show(device: Device, networks: dict[str, Network]) -> None:
    print(f"\n{device.name}\n")
    print(
        "| network | weights | gradient | norms | share | computing | step of 8 | efficiency "
        "| step of 1,024 | efficiency | synchronised norms: 8, 1,024 |"
    )
    print("|---|" + 10 * "---:|")
    for name, (share, seconds) in device.computing.items():
        network = networks[name]
        cells = [
            name,
            f"{network.weights / 1e6:.1f} M",
            f"{network.gradient_bytes / 1e6:.0f} MB",
            str(len(network.norm_channels)),
            str(share),
            f"{1e3 * seconds:.1f} ms",
        ]
        waits = []
        for devices in (PER_SERVER, 1024):
            step = step_on(device, network, name, devices)
            cells += [f"{1e3 * step.seconds:.1f} ms", f"{step.efficiency:.1%}"]
            norms = step_on(device, network, name, devices, synchronised=True).norms
            waits.append(f"+{1e3 * norms:.1f} ms")
        print(f"| {' | '.join(cells)} | {', '.join(waits)} |")


def _draw(networks: dict[str, Network], measured: dict[str, Any] | None, picture: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
    colours = ("#2563eb", "#15803d", "#a16207", "#be123c", "#7c3aed")
    counts = [2**power for power in range(11)]
    for device, dashes in zip(DEVICES, ("-", "--"), strict=True):
        for name, colour in zip(device.computing, colours, strict=True):
            steps = [step_on(device, networks[name], name, count) for count in counts]
            shares = [100 * step.efficiency for step in steps]
            axes[0].plot(
                counts, shares, dashes, color=colour, label=f"{name}, {device.name}", lw=1.3
            )
    axes[0].set(title="predicted: time spent computing, %", xlabel="devices", xscale="log")
    axes[0].set_ylim(89, 100.3)
    axes[0].set_xticks([1, 8, 64, 1024], ["1", "8", "64", "1,024"])
    axes[0].legend(frameon=False, fontsize=7)
    for row, colour in zip(_by_case(measured), colours, strict=False):
        ranks = [each["ranks"] for each in row]
        label = f"{row[0]['network']}, {row[0]['norms']}"
        axes[1].plot(ranks, [each["predicted"] for each in row], color=colour, lw=1.2)
        axes[1].plot(ranks, [each["measured"] for each in row], "o", color=colour, label=label)
    axes[1].set(title="a step on two cores, s: lines predicted", xlabel="ranks", ylim=(0, None))
    axes[1].legend(frameon=False, fontsize=7)
    for each in axes:
        each.grid(alpha=0.25)
        each.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)


def _by_case(measured: dict[str, Any] | None) -> list[list[dict[str, Any]]]:
    cases: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in measured["steps"] if measured else []:
        cases.setdefault((row["network"], row["norms"]), []).append(row)
    return list(cases.values())


if __name__ == "__main__":
    sys.exit(main())

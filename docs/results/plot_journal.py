"""Draw the curves of a run from its journal: python docs/results/plot_journal.py RUN PICTURE."""

from __future__ import annotations

import sys
from pathlib import Path

from trainferry.train.journal import read_journal

SHOWN = {
    "sequence_accuracy": "#15803d",
    "character_accuracy": "#a16207",
    "top1": "#15803d",
    "top5": "#a16207",
}


def main(run: Path, picture: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    entries = list(read_journal(run))
    logged = [entry for entry in entries if entry["event"] == "logged"]
    evaluated = [entry for entry in entries if entry["event"] == "evaluated"]
    figure, (loss, score) = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
    loss.plot([e["step"] for e in logged], [e["loss"] for e in logged], color="#2563eb", lw=1)
    loss.set(title="loss of a training batch", xlabel="step", yscale="log")
    loss.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    loss.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    loss.yaxis.set_minor_locator(NullLocator())
    for name, colour in SHOWN.items():
        if name in evaluated[0]["scores"]:
            values = [100 * e["scores"][name] for e in evaluated]
            steps = [e["step"] for e in evaluated]
            score.plot(steps, values, "o-", color=colour, label=name.replace("_", " "))
    score.set(title="held-out samples, %", xlabel="step")
    score.legend(frameon=False)
    for axes in (loss, score):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""All figures of the foundation in one run: reading records and pictures, then CRNN training.

Runs `input_pipeline.py` and `crnn_speed.py` one after the other and puts what they say
into one folder: `input_pipeline.json`, `crnn_speed.json`, and the tables in `tables.md`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--device", default="auto", help="device of the training steps")
    parser.add_argument("--tensorflow-python", metavar="EXE", help="for the figures of tf.data")
    parser.add_argument("--batches", nargs="+", default=["64", "512"], metavar="N")
    parser.add_argument(
        "--precisions",
        nargs="+",
        default=["fp32", "bf16"],
        metavar="P",
        help="on a CPU take fp32 alone: bf16 is many times slower there",
    )
    parser.add_argument("--count", default="4000", metavar="N", help="words to render and read")
    parser.add_argument("--rounds", default="5", metavar="N", help="measurements of each figure")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)

    reading = ["--count", arguments.count, "--rounds", arguments.rounds]
    if arguments.tensorflow_python:
        reading += ["--tensorflow-python", arguments.tensorflow_python]
    training = ["--device", arguments.device, "--rounds", arguments.rounds]
    training += ["--batches", *arguments.batches, "--precisions", *arguments.precisions]
    tables = [
        _run("input_pipeline", reading, arguments.to),
        _run("crnn_speed", training, arguments.to),
    ]
    (arguments.to / "tables.md").write_text("\n\n".join(tables), encoding="utf-8")
    return 0


def _run(name: str, options: list[str], folder: Path) -> str:
    command = [sys.executable, str(HERE / f"{name}.py"), *options]
    command += ["--json", str(folder / f"{name}.json")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

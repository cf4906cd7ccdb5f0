"""Writes the options of the NPU adapter beside the stand-ins, which cannot read TOML.

The user's interpreter has neither `tomllib` nor `trainferry`, so what `migrate` knows of
`parameter_map` and `NPURunConfig` is copied into a JSON file.

    python tools/make_stand_in_options.py
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/trainferry/migrate"
TARGET = ROOT / "src/trainferry/rehearse/stand_in/trainferry_stand_in/options.json"
FACTS = ("type", "choices", "least", "most", "pattern", "checked", "default")


def text() -> str:
    """The file as it has to be."""
    parameters = tomllib.loads((SOURCE / "parameters.toml").read_text("utf-8"))
    run_config = tomllib.loads((SOURCE / "run_config.toml").read_text("utf-8"))
    table = {
        "parameters": {
            name: {fact: row[fact] for fact in FACTS if fact in row}
            for name, row in parameters.items()
        },
        "run_config": run_config["same"],
        "objects": run_config["objects"],
    }
    return json.dumps(table, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")

"""Runs scripts pinned and recorded, in the TensorFlow interpreters of this machine."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.rehearse.stand_in.tensorflows import ENTRY, STAND_IN, environment, python_for

INSIDE = Path(__file__).parent / "inside"


@dataclass(frozen=True)
class Pinned:
    """How to run: which TensorFlow, where runs go, and how many steps."""

    version: str
    folder: Path
    steps: int = 4

    def run(
        self,
        name: str,
        script: Path,
        *arguments: str,
        follow: Path | None = None,
        precision: str | None = None,
        cwd: Path | None = None,
    ) -> Path:
        """Run `script`; gives the folder `name` that it recorded into."""
        home = self.folder / name
        (home / "work").mkdir(parents=True)
        watch = {
            "folder": str(home),
            "steps": self.steps,
            "values": {"variables": 20, "every": 1},
            "seed": 1,
            "precision": precision,
            "follow": str(follow) if follow else None,
        }
        (home / "watch.json").write_text(json.dumps(watch))
        done = subprocess.run(
            [python_for(self.version), str(script), *arguments],
            cwd=cwd or home / "work",
            env=environment(
                self.version,
                PYTHONPATH=f"{ENTRY}:{STAND_IN}",
                PYTHONHASHSEED="1",
                TRAINFERRY_WATCH=str(home / "watch.json"),
                TRAINFERRY_NOTES=str(home / "notes.jsonl"),
            ),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        assert "Exception in thread" not in done.stderr
        return home

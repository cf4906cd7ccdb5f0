"""Folders such as recorded runs leave behind, written with the standard library alone."""

from __future__ import annotations

import json
import math
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Numbers = float | Sequence[float]


@dataclass
class Run:
    """A run with two weights, `a` and `b`, three numbers each, unless told otherwise."""

    folder: Path
    start: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "values").mkdir(parents=True)
        self.variables({"a": [3], "b": [3]})

    def variables(self, shapes: Mapping[str, Sequence[int]]) -> None:
        known = {name: ["float32", list(shape)] for name, shape in shapes.items()}
        self.told(variables=known, follows=self.start.get("follows"))

    def told(self, **fields: Any) -> None:
        self.start.update(fields)
        (self.folder / "start.json").write_text(json.dumps(self.start))

    def step(self, number: int, loss: float | None = None, **tensors: Numbers) -> None:
        """Names such as `gradients__a` stand for `gradients/a`."""
        arrays = {name.replace("__", "/"): value for name, value in tensors.items()}
        if loss is not None:
            arrays["loss"] = loss
        write_npz(self.folder / "values" / f"step_{number}.npz", arrays)

    def batch(self, step: int, crc: int) -> None:
        self._add("facts.jsonl", {"kind": "batch", "step": step, "crc": crc})

    def pin(self, name: str, by: str) -> None:
        self._add("pins.jsonl", {"graph": 1, "kind": "RandomUniform", "key": f"{name}#1", "by": by})

    def _add(self, name: str, entry: dict[str, Any]) -> None:
        with (self.folder / name).open("a") as file:
            file.write(json.dumps(entry) + "\n")


def write_npz(path: Path, arrays: Mapping[str, Numbers], kind: str = "<f8") -> None:
    letter = {"<f8": "<{}d", "<f4": "<{}f", ">f4": ">{}f", "<f2": "<{}e", "<i8": "<{}q"}[kind]
    with zipfile.ZipFile(path, "w") as file:
        for name, value in arrays.items():
            flat = list(value) if isinstance(value, Sequence) else [value]
            shape = (len(flat),) if isinstance(value, Sequence) else ()
            data = struct.pack(letter.format(len(flat)), *flat)
            file.writestr(name + ".npy", _header(kind, shape) + data)


def _header(kind: str, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def two_runs(folder: Path) -> tuple[Run, Run]:
    """An original and a migrated run that agree in one step."""
    runs = Run(folder / "original"), Run(folder / "migrated")
    for run in runs:
        run.step(0, weights__a=[1, 2, 3], weights__b=[1, 1, 1])
        run.step(1, 0.5, gradients__a=[1, 0, -1], weights__a=[0.9, 2, 3.1])
    return runs


NAN, INFINITE = math.nan, math.inf

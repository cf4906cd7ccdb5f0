"""Writes which TensorFlow operators the NPU has a prototype for, and for which dtypes.

The vendor's own list ships with its runtime only. Three public, Apache-2.0 sources say the
same by name; only these facts are kept:

- plugins: files with `REGISTER_CUSTOM_OP("Ge").OriginOpType("Tf")…ImplyType(…)`;
  `ops/built-in/framework/tf_plugin` of canndev, 2022-04-25 (284d882d542a)
- parser: the map of operators that need no plugin;
  `parser/common/op_map.cc` of github.com/Ascend/parser, 2021-02-20 (fc02ad76d289)
- prototypes: headers with `REG_OP(Ge).INPUT(x, TensorType({DT_FLOAT}))…`;
  `third_party/fwkacllib/inc/ops` of github.com/mindspore-ai/graphengine, branch `release`,
  2023-03-07 (52260d6c4319)

    python tools/make_operator_table.py --plugins DIR --parser op_map.cc --prototypes DIR
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src/trainferry/rehearse/operators.csv"
HEAD = """\
# Operators of TensorFlow 1.15 that the NPU has a prototype for. Written by
# tools/make_operator_table.py from public sources of 2021 to 2023; facts only.
# runs_on  core: the NPU's own cores; cpu: its small processors; compiler: dissolved when the
#          graph is compiled; hccl: between devices
# dtypes   what the prototype takes, over all inputs; empty: any, or not said
"""
_RUNS_ON = {"TVM": "core", "AI_CPU": "cpu", "GELOCAL": "compiler", "HCCL": "hccl"}
_ORDER = ("core", "cpu", "hccl", "compiler")
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_REAL = f"{_INTEGERS} float16 float32 float64 bfloat16"
_NUMBERS = f"{_REAL} complex64 complex128 qint8 qint32 quint8"
# Groups of dtypes that the prototypes name; the vendor's graph/types.h says what is in them.
_GROUPS = {
    "NumberType": _NUMBERS,
    "BasicType": f"{_NUMBERS} qint16 quint16",
    "RealNumberType": _REAL,
    "IndexNumberType": "int32 int64",
    "IntegerDataType": _INTEGERS,
    "FloatingDataType": "float16 float32 float64",
    "UnaryDataType": "float16 float32 float64 bfloat16 complex64 complex128",
    "FLOAT": "float16 float32 bfloat16",
}
_NAMES = {"FLOAT": "float32", "DOUBLE": "float64", "BF16": "bfloat16"}


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--plugins", type=Path, required=True)
    parser.add_argument("--parser", type=Path, required=True)
    parser.add_argument("--prototypes", type=Path, required=True)
    arguments = parser.parse_args()
    prototypes = dict(_read_prototypes(arguments.prototypes))
    rows: dict[str, tuple[set[str], set[str] | None]] = {}
    registered = [*_read_plugins(arguments.plugins), *_read_map(arguments.parser)]
    for name, vendor_name, runs_on in registered:
        kinds, dtypes = rows.get(name, (set(), set()))
        found = prototypes.get(vendor_name)
        rows[name] = (kinds | {runs_on}, None if dtypes is None or not found else dtypes | found)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        file.write(HEAD)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("operator", "runs_on", "dtypes"))
        for name in sorted(rows):
            kinds, dtypes = rows[name]
            best = min(kinds, key=_ORDER.index)
            writer.writerow((name, best, " ".join(sorted(dtypes or ()))))
    sys.stderr.write(f"{len(rows)} operators, {len(prototypes)} prototypes\n")
    return 0


def _read_plugins(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield TensorFlow's name, the vendor's name, and who runs it."""
    for path in sorted(folder.glob("*.cc")):
        text = path.read_text("utf-8", errors="replace")
        for entry in re.finditer(r'REGISTER_CUSTOM_OP\("(\w+)"\)(.*?);', text, re.DOTALL):
            kind = re.search(r"ImplyType::(\w+)", entry[2])
            origin = re.search(r"OriginOpType\(([^)]*)\)", entry[2])
            if kind and origin and "TENSORFLOW" in entry[2]:
                for name in re.findall(r'"(\w+)"', origin[1]):
                    yield name, entry[1], _RUNS_ON[kind[1]]


def _read_map(path: Path) -> Iterator[tuple[str, str, str]]:
    """What the parser takes over by itself in training: most of it dissolves in compiling."""
    text = path.read_text("utf-8")
    _, _, train = text.partition("tensorflow_train_op_map")
    for name in re.findall(r'\{"(\w+)",', train.partition("};")[0]):
        yield name, name, "compiler"


def _read_prototypes(folder: Path) -> Iterator[tuple[str, set[str] | None]]:
    """Yield an operator and the dtypes of its inputs; None where one of them takes any."""
    for path in sorted(folder.glob("*.h")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\\\n", " ", path.read_text("utf-8"), flags=re.DOTALL)
        for entry in re.finditer(r"REG_OP\((\w+)\)(.*?)OP_END_FACTORY_REG", text, re.DOTALL):
            inputs = re.findall(r"\.\w*INPUT\(\w+,(.*?)\)\s*(?=\.)", entry[2], re.DOTALL)
            groups = [_dtypes(one) for one in inputs]
            known = [group for group in groups if group is not None]
            yield entry[1], set().union(*known) if groups and len(known) == len(groups) else None


def _dtypes(text: str) -> set[str] | None:
    found = {_NAMES.get(name, name.lower()) for name in re.findall(r"\bDT_(\w+)", text)}
    for group in re.findall(r"\b(\w+)\(\)", text):
        if group not in _GROUPS:
            return None
        found |= set(_GROUPS[group].split())
    return found or None


if __name__ == "__main__":
    sys.exit(main())

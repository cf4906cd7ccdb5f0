"""Make src/trainferry/migrate/support.csv from the vendor's list and our judgements.

    python tools/make_support_table.py LIST.csv --date 2026-07

LIST.csv has the columns `api`, `status` and `contradictory` (one row per name of the
vendor's workbook). Three things are put right on the way. Rows for `tf.compat.*` carry no
verdict: they are left out, because the lookup answers them through the canonical name.
Rows that say both yes and no become DISPUTED unless `support_judgements.csv`, beside this
file, says better. A judgement for a whole family (`tf.tpu.*`) answers for all its rows;
one of DEPRECATED (`tf.contrib.*`) only for those that the list calls deprecated.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "src" / "trainferry" / "migrate" / "support.csv"
JUDGEMENTS = HERE / "support_judgements.csv"

VERDICT_OF_STATUS = {
    "supported-no-migration": "SUPPORTED",
    "supported-after-tool-migration": "SUPPORTED_AFTER_MIGRATION",
    "training-works-after-tool-migration": "SUPPORTED_AFTER_MIGRATION",
    "unsupported-no-impact": "HARMLESS",
    "unsupported-no-plan": "UNSUPPORTED",
    "deprecated": "DEPRECATED",
    "under-analysis": "UNKNOWN",
}
NO_VERDICT = "compat-alias"
CONTRADICTION = "the vendor's list says both yes and no"
UNDECIDED = "the vendor has not decided yet"

Row = tuple[str, str, str, str]  # name, verdict, note, source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list", type=Path, help="the vendor's list as CSV")
    parser.add_argument("--date", required=True, help="year and month of the list")
    parser.add_argument("--to", type=Path, default=TABLE, help="file to write")
    arguments = parser.parse_args()
    rows = build_rows(read_list(arguments.list), read_judgements())
    arguments.to.write_text(format_table(rows, arguments.date), encoding="utf-8", newline="\n")
    counts = Counter(row[1] for row in rows)
    sys.stderr.write(f"{len(rows)} rows: {dict(counts.most_common())}\n")
    return 0


def read_list(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def read_judgements(path: Path = JUDGEMENTS) -> dict[str, tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["name"]: (row["verdict"], row["note"]) for row in rows}


def build_rows(listed: list[dict[str, str]], judgements: dict[str, tuple[str, str]]) -> list[Row]:
    rows: dict[str, Row] = {}
    for entry in listed:
        name = canonical(entry["api"])
        if entry["status"] == NO_VERDICT or name in judgements or f"{name}.*" in judgements:
            continue
        family = family_of(name, judgements)
        verdict = VERDICT_OF_STATUS[entry["status"]]
        if entry["contradictory"]:
            rows[name] = (name, "DISPUTED", CONTRADICTION, "list")
        elif family is None or judgements[family][0] == "DEPRECATED" != verdict:
            rows[name] = (name, verdict, UNDECIDED if verdict == "UNKNOWN" else "", "list")
    for name, (verdict, note) in judgements.items():
        rows[name] = (name, verdict, note, "judged")
    return [rows[name] for name in sorted(rows)]


def canonical(name: str) -> str:
    """The list writes `hvd.elastic.run(func)`; the lookup asks for whole, plain names."""
    name = name.partition("(")[0]
    return f"horovod.tensorflow.{name[4:]}" if name.startswith("hvd.") else name


def family_of(name: str, judgements: dict[str, tuple[str, str]]) -> str | None:
    """The nearest judgement for a whole family that `name` belongs to."""
    parts = name.split(".")
    families = (".".join(parts[:end]) + ".*" for end in range(len(parts) - 1, 0, -1))
    return next((family for family in families if family in judgements), None)


def format_table(rows: list[Row], date: str) -> str:
    lines = [
        "# Which TensorFlow 1.15 name the NPU runs. Made by tools/make_support_table.py: edit",
        "# tools/support_judgements.csv instead. A name that ends in .* is a whole family.",
        f"# list: the vendor's tf1.15_api_support_list of the TF Adapter, {date}; no condition on",
        "# type, shape, argument or chip. judged: by trainferry, from the vendor's migration guide",
        "# and code of the same month.",
        "name,verdict,note,source",
    ]
    lines += [",".join(quoted(field) for field in row) for row in rows]
    return "\n".join(lines) + "\n"


def quoted(field: str) -> str:
    return f'"{field}"' if "," in field else field


if __name__ == "__main__":
    sys.exit(main())

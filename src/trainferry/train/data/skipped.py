"""What reports say of the samples that were left out: the name of each, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Listed: TypeAlias = Sequence[tuple[str, str]]

_SHOWN = 5


def count_reasons(listed: Listed) -> Counter[str]:
    """Count by what stands before the colon of a reason."""
    return Counter(reason.partition(":")[0] for _, reason in listed)


def summarise_skipped(skipped: Listed, reasons: Mapping[str, int] | None = None) -> list[str]:
    """Return lines for people; with `reasons`, of a command that also writes all to a file."""
    if not skipped:
        return []
    where = "" if reasons is None else "; all are listed in *.skipped.tsv"
    return [
        f"skipped {len(skipped):,}{where}",
        *(f"    {count:,}  {reason}" for reason, count in (reasons or {}).items()),
        *(f"    {name}  {reason}" for name, reason in skipped[:_SHOWN]),
    ]


def skipped_to_json(skipped: Listed, reasons: Mapping[str, int] | None = None) -> dict[str, Any]:
    return {
        "skipped": len(skipped),
        **({} if reasons is None else {"reasons": reasons}),
        "examples": [list(item) for item in skipped[:_SHOWN]],
    }

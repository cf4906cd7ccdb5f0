"""The values of `dump_path` and `dump_debug_mode` are swapped.

`dump_path` is a folder that exists, `dump_debug_mode` one of `all`, `aicore_overflow` and
`atomic_overflow`. Swapped, the program ends when the dump of overflows is turned on.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import are_swapped, npu_options
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, options in npu_options(rank):
        if are_swapped(options):
            yield Finding(
                "swapped-dump-keys",
                Severity.REFUSED,
                f"`dump_path` is {options['dump_path']!r} and `dump_debug_mode` is"
                f" {options.get('dump_debug_mode', options.get('dump_mode'))!r}:"
                " they are swapped",
                "give each the value of the other",
                places,
            )

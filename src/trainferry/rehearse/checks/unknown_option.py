"""An option that the adapter does not know.

`parameter_map` takes any key. The adapter reads the keys it knows and passes over all others
without a word: the setting does nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.option_table import option_table
from trainferry.rehearse.tracing.options import npu_options
from trainferry.rehearse.tracing.rank import Rank

# Keys that people set and nothing reads: what they were after.
_MEANT = {
    "min_group_size": "leave it out; no adapter reads it any more",
    "enable_auto_mix_precision": "set `precision_mode` to `allow_mix_precision`",
    "allow_mix_compile": "set `mix_compile_mode`",
    "fp_point": "put it into the JSON of `profiling_options`",
    "bp_point": "put it into the JSON of `profiling_options`",
    "master_slave_mode": "leave it out; no adapter reads it",
}


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, options in npu_options(rank):
        for name in options:
            if name not in option_table():
                yield Finding(
                    "unknown-option",
                    Severity.RISK,
                    f"the adapter knows no option `{name}` and passes over it",
                    _MEANT.get(name) or _nearest(name),
                    places,
                )


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, option_table(), 1)
    return f"did you mean `{near[0]}`?" if near else "leave it out"

"""An option has a value that it cannot have.

Some options are looked at by the adapter, and a wrong value ends the program when the session
is made or runs first; others are handed on as they are, and what comes of them is not defined.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.option_table import Option, option_table
from trainferry.rehearse.tracing.options import are_swapped, npu_options
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, options in npu_options(rank):
        swapped = ("dump_path", "dump_debug_mode") if are_swapped(options) else ()
        for name, value in options.items():
            option = option_table().get(name)
            if option is None or name in swapped or not option.has_type(value):
                continue
            if not option.allows(value):
                yield Finding(
                    "option-value",
                    Severity.REFUSED if option.is_checked else Severity.RISK,
                    f"`{name}` cannot be {value!r}",
                    _hint(option, value),
                    places,
                )


def _hint(option: Option, value: object) -> str:
    choices = [str(choice) for choice in option.row.get("choices", ())]
    near = difflib.get_close_matches(str(value), choices, 1)
    return f"did you mean `{near[0]}`?" if near else f"it is {option.allowed}"

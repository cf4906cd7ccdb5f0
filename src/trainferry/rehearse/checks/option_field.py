"""An option is written to a field that the adapter does not read.

An option of `parameter_map` has a field for each type: `.b` for True and False, `.i` for whole
numbers, `.s` for text. The adapter reads the one it expects and does not look at the others, so a
value in the wrong field counts as False, 0 or an empty text.

    config_entry.parameter_map["jit_compile"].b = True              # not read
    config_entry.parameter_map["jit_compile"].s = b"true"
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding
from trainferry.rehearse.tracing.option_table import option_table
from trainferry.rehearse.tracing.options import npu_options
from trainferry.rehearse.tracing.rank import Rank

_WRITTEN = {bool: "b", int: "i", str: "s", float: "f"}


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, options in npu_options(rank):
        for name, value in options.items():
            option = option_table().get(name)
            if option is None or option.has_type(value):
                continue
            written = _WRITTEN.get(type(value))
            what = f"`.{written}`" if written else f"none of them, but {value!r}"
            yield Finding(
                "option-field",
                option.when_empty,
                f"`{name}` is read from field `.{option.field}`, and was written to {what}",
                f'write `parameter_map["{name}"].{option.field} = ...`',
                places,
            )

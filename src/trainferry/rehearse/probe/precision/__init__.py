"""Emulates the device's modes of lower precision, and tells where they bite.

Values that layers hand on, forward and backward, are rounded to the type and back; weights,
scalars and the optimizer keep 32 bits, as in the device's mixed precision. `precision.jsonl` tells:

    emulated   type, operators (rounded), late (not rounded: a session had them already)
    constant   operator, place, value, becomes: what the type cannot hold
    rounded    step, operator, type, place, overflow, underflow, nonzero: counts of numbers that
               became infinite, that became zero, and that were not zero before
"""

from ..after_import import call_after_import
from ..watch import after_step, before_step

TYPES = ("fp16", "bf16")


def emulate(settings):
    """Emulate the precision that `settings`, the rehearsal's watch file, names."""
    kind = settings.get("precision")
    if kind is None:
        return
    if kind not in TYPES:
        raise ValueError("precision is {}, not {!r}".format(" or ".join(TYPES), kind))
    call_after_import("tensorflow", lambda _: _begin(settings["folder"], kind))


def _begin(folder, kind):
    from .counts import Counts
    from .rewrite import round_sessions
    from .types import TYPES_BY_NAME

    counts = Counts(folder)
    before_step(lambda step: counts.clear())
    after_step(lambda step: counts.write(step.number))
    round_sessions(TYPES_BY_NAME[kind], counts)

    def answer_truly(overflow):
        _let_overflows_be_seen(overflow, counts)

    call_after_import("trainferry_stand_in.overflow", answer_truly)


def _let_overflows_be_seen(overflow, counts):
    """The device's overflow status, which loss scales ask for, tells of our overflows too."""
    ask = overflow.OverflowStatus._ask

    def ask_both(self):
        told = ask(self)
        return type(told)(max(told, counts.overflowed))

    overflow.OverflowStatus._ask = ask_both

"""From the switches of `--debug` to those who look on while a run trains."""

from __future__ import annotations

from collections.abc import Sequence

from trainferry.counted import counted
from trainferry.devices.precision import PRECISIONS
from trainferry.train.debug.dump import DumpObserver
from trainferry.train.debug.observer import NOBODY, Observer, Observers
from trainferry.train.debug.overflow import OverflowObserver
from trainferry.train.debug.profile import ProfileObserver
from trainferry.train.debug.switches import DumpSwitch, OverflowSwitch, ProfileSwitch, Switch
from trainferry.train.journal import Said
from trainferry.train.loop import Tell
from trainferry.train.run import Run


def attach_observers(run: Run, switches: Sequence[Switch], tell: Tell) -> Observers:
    """Let observers look at the run; recorded graphs are off, for nobody sees into them."""
    if not switches:
        return NOBODY
    graphs = ""
    if run.captures:
        run.captures = False
        graphs = "; recorded graphs (loop.captured) are off, so steps take longer"
    usual = run.recipe.precision.name
    what = ", ".join(_describe(switch, usual) for switch in switches)
    tell(Said(run.step, f"debugging: {what}{graphs}"))
    # Who does steps again comes last: the others have seen the step by then.
    ordered = sorted(switches, key=lambda switch: isinstance(switch, OverflowSwitch))
    return Observers([_open(run, switch, tell) for switch in ordered])


def _open(run: Run, switch: Switch, tell: Tell) -> Observer:
    match switch:
        case OverflowSwitch():
            chosen = next((each for each in PRECISIONS if each == switch.format), None)
            return OverflowObserver(run, chosen, tell)
        case DumpSwitch():
            return DumpObserver(run, switch, tell)
        case ProfileSwitch():
            return ProfileObserver(run, switch, tell)


def _describe(switch: Switch, precision: str) -> str:
    match switch:
        case OverflowSwitch():
            return f"every step is watched for overflows of {switch.format or precision}"
        case DumpSwitch():
            count = sum(map(len, switch.steps))
            return f"{counted(count, 'step')} will be dumped"
        case ProfileSwitch():
            return f"the steps {switch.start} to {switch.last} will be profiled"

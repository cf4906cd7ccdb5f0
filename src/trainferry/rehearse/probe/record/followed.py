"""The run that this one follows: it starts with its weights, and records the same variables."""

import json
import os

import numpy as np

from .files import read_arrays
from .match import match

FILE = "start.json"
FIRST = os.path.join("values", "step_0.npz")
_ASSIGN = ("Assign", "AssignVariableOp")
_NO_INITIALISER = "no operator of its own initialises it"


class Followed:
    """What the earlier run wrote into its folder."""

    def __init__(self, folder):
        self._folder = folder
        self._told = {"variables": {}, "kinds": []}
        self._partners = {}
        path = os.path.join(folder, FILE)
        if os.path.exists(path):  # a run without a train step writes none
            with open(path, encoding="utf-8") as file:
                self._told.update(json.load(file))

    def match(self, kinds):
        """Find the partners of our variables, {name: [dtype, shape]}."""
        self._partners = match(self._told["variables"], kinds)

    def chosen(self, place):
        """Those of our variables that it recorded in train steps of this kind, from 0."""
        if place >= len(self._told["kinds"]):
            return []
        names = set(self._told["kinds"][place]["chosen"])
        return [name for name, partner in self._partners.items() if partner in names]

    def start_alike(self, step, found):
        """Copy its first weights into ours where they differ, in `found` too; tell about it."""
        theirs = read_arrays(os.path.join(self._folder, FIRST)) if self._partners else {}
        copied, kept, feeds, assigns = [], {}, {}, []
        for name, (variable, value) in found.items():
            partner = "weights/" + self._partners.get(name, "")
            if partner not in theirs or _equal(theirs[partner], value):
                continue
            assign = getattr(variable, "initializer", None)
            if getattr(assign, "type", None) not in _ASSIGN or _key(assign) in feeds:
                kept[name] = _NO_INITIALISER
                continue
            feeds[_key(assign)] = theirs[partner]
            assigns.append(assign)
            copied.append(name)
            found[name] = variable, theirs[partner]
        if assigns:
            step.read(assigns, feeds)
        return {
            "copied": copied,
            "kept": kept,
            "partners": {name: other for name, other in self._partners.items() if name != other},
            "only_here": [name for name in found if name not in self._partners],
            "only_there": sorted(set(self._told["variables"]) - set(self._partners.values())),
        }


def _key(assign):
    """The tensor whose value the variable is given."""
    return assign.inputs[1].name


def _equal(theirs, ours):
    return theirs.tobytes() == np.ascontiguousarray(ours).tobytes()

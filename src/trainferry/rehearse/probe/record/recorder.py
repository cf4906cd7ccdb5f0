"""Chooses what to record of a run, and writes it step by step."""

import json
import os

import numpy as np

from . import variables
from .files import joined_rows, sampled, write_arrays
from .followed import FILE, FIRST, Followed
from .match import spread
from .updates import find_updates

GRADIENT, ROWS, WEIGHT = "gradients/", "rows/", "weights/"


class Recorder:
    """Records the train steps of one process."""

    def __init__(self, settings):
        self._folder = settings["folder"]
        self._count = settings["values"].get("variables", 20)
        self._every = settings["values"].get("every", 1)
        follow = settings.get("follow")
        self._followed = Followed(follow) if follow else None
        self._chosen = {}
        self._started = False
        self._told = {"follows": follow, "kinds": []}

    def choose(self, run):
        """The gradients to fetch in the train steps of this kind."""
        known = variables.by_name(run.graph)
        updates = {update.name: update for update in find_updates(run) if update.name in known}
        names = list(updates) or variables.trainable(run.graph)
        names = self._of_followed(run, names) or spread(names, self._count)
        self._chosen[run.number] = names
        found = {name: updates[name].found for name in names if name in updates}
        self._told["kinds"].append({"chosen": names, "gradients": found})
        self._tell()
        fetches = {}
        for name in names:
            if name in updates:
                fetches[GRADIENT + name] = updates[name].values
                if updates[name].rows is not None:
                    fetches[ROWS + name] = updates[name].rows
        return fetches

    def _of_followed(self, run, names):
        if self._followed is None:
            return None
        self._followed.match(variables.kinds(run.graph))
        chosen = set(self._followed.chosen(len(self._told["kinds"])))
        return [name for name in names if name in chosen]

    def begin(self, step):
        """Before the first step: the weights that training starts with."""
        if self._started:
            return
        self._started = True
        found = variables.read_all(step)
        self._told["variables"] = variables.kinds(step.run.graph)
        if self._followed is not None:
            self._told.update(self._followed.start_alike(step, found))
        self._tell()
        arrays = {WEIGHT + name: np.asarray(value) for name, (_, value) in found.items()}
        write_arrays(os.path.join(self._folder, FIRST), arrays)

    def end(self, step):
        """After each step: loss, gradients and the updated weights."""
        if step.number % self._every:
            return
        names = self._chosen[step.run.number]
        arrays = {} if step.loss is None else {"loss": np.float64(step.loss)}
        for name in names:
            arrays.update(_gradient(step.values, name))
        by_name = variables.by_name(step.run.graph)
        for name, value in zip(names, step.read([by_name[name] for name in names])):
            arrays.update(sampled(WEIGHT + name, value))
        path = os.path.join(self._folder, "values", f"step_{step.number}.npz")
        write_arrays(path, arrays)

    def _tell(self):
        path = os.path.join(self._folder, FILE)
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(self._told, file)
        os.replace(path + ".part", path)


def _gradient(values, name):
    gradient = values.get(GRADIENT + name)
    if gradient is None:
        return {}
    if ROWS + name not in values:
        return sampled(GRADIENT + name, gradient)
    total, rows = joined_rows(gradient, values[ROWS + name])
    found = sampled(GRADIENT + name, total)
    found.update(sampled(ROWS + name, rows))
    return found

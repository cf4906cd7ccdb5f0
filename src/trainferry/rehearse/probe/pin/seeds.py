"""Chooses seeds by name, and keeps a ledger of them for the run that follows."""

import hashlib
import json
import os
import threading

LEDGER = "pins.jsonl"
_LARGEST = 0x7FFFFFFF


class Seeds:
    """The seeds of one run; `follow` is the folder of the run to follow, if there is one."""

    def __init__(self, seed, folder, follow=None):
        self.seed = int(seed) & _LARGEST or 1
        self._path = os.path.join(folder, LEDGER)
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._seen = {}
        self._follows = follow is not None
        self._theirs = _read(follow)

    def of(self, *words):
        """A number that depends on the words alone: never zero, below 2**31."""
        text = "\n".join([str(self.seed)] + [str(word) for word in words])
        return int(hashlib.md5(text.encode("utf-8")).hexdigest()[:8], 16) & _LARGEST or 1

    def next_of(self, *words):
        """As `of`; another number each time it is asked for the same words."""
        with self._lock:
            count = self._count(words)
        return self.of(*words, count)

    def of_draw(self, graph, kind, name, shape, given=None):
        """The seed of a random operator: the number of its graph, its kind, name and shape.

        `given` is the seed that the user chose; it stays, unless the first run had another.
        """
        with self._lock:
            key = f"{name}#{self._count((graph, kind, name))}"
            seed, by = self._choose(graph, kind, key, shape, given)
            self._write(
                {"graph": graph, "kind": kind, "key": key, "shape": shape, "seed": seed, "by": by}
            )
        return seed

    def _choose(self, graph, kind, key, shape, given):
        entries = self._theirs.get((graph, kind), {})
        theirs = entries.get(key)
        if given is not None:
            if theirs is None or theirs["by"] != "user" or theirs["seed"] == given:
                return given, "user"
            return theirs["seed"], "followed"
        if theirs is not None and "taken" not in theirs:
            theirs["taken"] = key
            return theirs["seed"], "name"
        # Weights are told apart by their names: what another one drew is of no use to them.
        if "/Initializer/" not in key:
            for entry in entries.values():
                if "taken" not in entry and entry["shape"] == shape and entry["by"] != "user":
                    entry["taken"] = key
                    return entry["seed"], "order"
        return self.of(kind, key), "own" if self._follows else "name"

    def _count(self, words):
        self._seen[words] = self._seen.get(words, 0) + 1
        return self._seen[words]

    def _write(self, entry):
        if os.getpid() != self._process:
            return  # a child process draws for itself
        with open(self._path, "a", encoding="utf-8") as ledger:
            ledger.write(json.dumps(entry) + "\n")


def _read(folder):
    """Entries by graph and kind, then by key in the order in which they were made."""
    found = {}
    path = os.path.join(folder or "", LEDGER)
    if folder is None or not os.path.exists(path):
        return found  # a run that draws nothing writes none
    with open(path, encoding="utf-8") as ledger:
        for line in ledger:
            entry = json.loads(line)
            found.setdefault((entry["graph"], entry["kind"]), {})[entry["key"]] = entry
    return found

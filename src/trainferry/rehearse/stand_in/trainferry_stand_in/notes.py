"""Tells the rehearsal what the device would not do as the script expects."""

import json
import os
import sys
import threading

from trainferry_stand_in import places, ranks

NOTES = "TRAINFERRY_NOTES"
_lock = threading.Lock()
_told = set()


def note(name, message, place=None):
    """Write one note to the file the rehearsal gave, or to stderr; each only once."""
    place = places.user_line() if place is None else place
    if (name, message, place) in _told:
        return
    _told.add((name, message, place))
    entry = {"name": name, "message": message, "place": place, "rank": ranks.world_rank()}
    path = os.environ.get(NOTES)
    with _lock:
        if path:
            with open(path, "a", encoding="utf-8") as notes:
                notes.write(json.dumps(entry) + "\n")
        else:
            sys.stderr.write(f"rehearsal: {place}: {message} ({name})\n")

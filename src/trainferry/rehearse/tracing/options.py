"""The options that sessions were given, and where those sessions were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainferry.rehearse.facts import Session
from trainferry.rehearse.tracing.rank import Rank

_DEBUG_MODES = ("all", "aicore_overflow", "atomic_overflow")


def session_places(rank: Rank) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Each different configuration with the places of the sessions that have it."""
    found: dict[str, tuple[dict[str, None], Mapping[str, Any]]] = {}
    for session in rank.facts.sessions:
        places, _ = found.setdefault(repr(session.config), ({}, session.config))
        places.update(dict.fromkeys(places_of_session(session)))
    for places, config in found.values():
        yield tuple(places), config


def npu_options(rank: Rank) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Each different set of options for the NPU; of several entries the last value holds."""
    found: dict[str, tuple[dict[str, None], dict[str, Any]]] = {}
    for places, config in session_places(rank):
        options: dict[str, Any] = {}
        for entry in config.get("npu_entries", ()):
            options.update(entry)
        known, _ = found.setdefault(repr(sorted(options.items(), key=str)), ({}, options))
        known.update(dict.fromkeys(places))
    for known, options in found.values():
        yield tuple(known), options


def places_of_session(session: Session) -> tuple[str, ...]:
    return (session.place,) if session.place else ()


def are_swapped(options: Mapping[str, Any]) -> bool:
    """Whether `dump_path` and `dump_debug_mode` have each other's value."""
    mode = options.get("dump_debug_mode")
    if options.get("dump_path") in _DEBUG_MODES:
        return True
    return isinstance(mode, str) and mode not in _DEBUG_MODES and "/" in mode

"""Runs all checks over what the ranks of a rehearsal did, and over what was told meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.facts import Note, RunFacts
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.hub_checks import HubFinding
from trainferry.rehearse.tracing.rank import Rank


def check_run(facts: Sequence[RunFacts], hub: Iterable[HubFinding] = ()) -> list[Finding]:
    """Everything found, the gravest first; `hub` is what stopped the ranks."""
    ranks = [Rank(one) for one in facts]
    found = [finding for rank in ranks for finding in _check_rank(rank)]
    if len(ranks) > 1:
        for check in all_checks().values():
            found += check.on_ranks(ranks) if check.on_ranks else ()
    found += (_from_hub(one) for one in hub)
    order = list(Severity)
    return sorted(joined(found), key=lambda one: (order.index(one.severity), one.check))


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for the same thing on several ranks, or in several kinds of train step."""
    found: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        words = re.sub(r"\d+", "#", one.message)
        key = (one.check, one.severity, words, frozenset(one.places))
        known = found.setdefault(key, one)
        larger = max(known, one, key=lambda each: len(each.operators))
        ranks = tuple(sorted({*known.ranks, *one.ranks}))
        found[key] = replace(larger, ranks=ranks)
    return list(found.values())


def _check_rank(rank: Rank) -> Iterator[Finding]:
    for check in all_checks().values():
        for finding in check.on_rank(rank) if check.on_rank else ():
            yield replace(finding, ranks=(rank.number,))
    for note in rank.facts.notes:
        yield replace(_from_note(note), ranks=(rank.number,))


def _from_note(note: Note) -> Finding:
    """What a stand-in noted; one that the catalogue does not know is still told."""
    check = all_checks().get(note.name)
    places = (note.place,) if note.place else ()
    if check is None or check.told is None:
        return Finding(note.name, Severity.NOTE, note.message, "see the message", places)
    return Finding(note.name, check.told.severity, note.message, check.told.hint, places)


def _from_hub(told: HubFinding) -> Finding:
    known = all_checks()[told.name].told
    assert known is not None
    return Finding(
        told.name,
        known.severity,
        told.message,
        known.hint,
        tuple(dict.fromkeys(place for place in told.places if place)),
        told.operators,
        told.ranks,
    )

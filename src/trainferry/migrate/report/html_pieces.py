"""The pieces that only the page of a migration has."""

from __future__ import annotations

from trainferry.migrate.report import chinese
from trainferry.migrate.rule import Outcome
from trainferry.report.pieces import both


def badge(outcome: Outcome) -> str:
    words = both(*chinese.OUTCOME_WORDS[outcome])
    return f'<span class="badge {outcome.name.lower()}">{words}</span>'

"""One rehearsal: what ran, how it ended, what was found, and what all of that means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from trainferry.rehearse.finding import Finding, Severity

ONLY_ORIGINAL_RUNS = (
    "the original script runs, in one process: look for the cause in what migration changed, or in"
    " what several ranks share"
)


class Verdict(Enum):
    """What the device would make of the project, as far as this machine can tell."""

    RUNS = "runs"
    REFUSED = "would be refused"
    DIFFER = "numbers differ"
    DID_NOT_RUN = "did not run"


class Outcome(Enum):
    """How the script of one rank ended."""

    GOOD = "ended well"
    REFUSED = "was stopped by what the device would refuse"
    FAILED = "failed"
    STOPPED = "was ended because another rank had failed"


@dataclass(frozen=True)
class RankRun:
    """The script of one rank, from start to end."""

    rank: int
    outcome: Outcome
    ending: str
    """A sentence without its subject: `ended with exit status 1 after 3 s`."""
    seconds: float
    losses: tuple[float | None, ...]
    """One for each train step."""
    step_seconds: float | None
    """Of a step that is not the first; None with fewer than two."""
    error: str = ""
    hint: str = ""
    last_lines: tuple[str, ...] = ()
    output: str = ""
    """Path of what it printed, within the run folder."""

    @property
    def steps(self) -> int:
        return len(self.losses)


@dataclass(frozen=True)
class Side:
    """All ranks of one project: the migrated one, or its original."""

    name: str
    project: str
    ranks: tuple[RankRun, ...]

    @property
    def failed(self) -> RankRun | None:
        """The first rank that failed for a reason of its own."""
        return next((rank for rank in self.ranks if rank.outcome is Outcome.FAILED), None)

    @property
    def steps(self) -> int:
        """Train steps that every rank has done."""
        return min(rank.steps for rank in self.ranks)


@dataclass(frozen=True)
class Compared:
    """Two sides step by step."""

    what: str
    steps: int
    agrees: bool
    is_claim: bool
    """Migration promises that they agree; a lower precision does not."""
    summary: str
    parts_at: int | None = None
    """The first step that differs; 0 is before the first, None is never."""
    parts_in: str = ""
    """What differs there first: `batch`, `loss`, `gradient NAME` or `weight NAME`."""
    rows: tuple[dict[str, Any], ...] = ()
    is_noise: bool = False
    """They differ no more than the original does from itself."""

    @property
    def breaks_claim(self) -> bool:
        return self.is_claim and not self.agrees and not self.is_noise


@dataclass(frozen=True)
class Rehearsal:
    """The whole of it; every report is made from this."""

    plan: dict[str, Any]
    sides: tuple[Side, ...]
    findings: tuple[Finding, ...]
    compared: tuple[Compared, ...] = ()
    prepared: tuple[str, ...] = ()
    """What was linked, cut or moved before the scripts ran."""
    lines: tuple[tuple[str, str], ...] = ()
    """The text of each line that findings point to, by place."""
    seconds: float = 0.0

    @property
    def project(self) -> str:
        return str(self.plan["project"])

    @property
    def verdict(self) -> Verdict:
        if any(self._troubles()):
            return Verdict.DID_NOT_RUN
        if self.count(Severity.REFUSED):
            return Verdict.REFUSED
        if any(one.breaks_claim for one in self.compared):
            return Verdict.DIFFER
        return Verdict.RUNS

    @property
    def only_original_runs(self) -> bool:
        """The migrated script failed, and its original, run by itself, did not."""
        migrated, *others = self.sides
        runs = any(one.name == "original" and one.steps and not one.failed for one in others)
        return migrated.failed is not None and runs

    def fails_alike(self, side: Side) -> bool:
        """Whether a script fails as the first one does."""
        first = self.sides[0]
        if side is first or side.failed is None or first.failed is None:
            return False
        return side.failed.error == first.failed.error != ""

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)

    def of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is severity]

    def reasons(self) -> list[str]:
        """Why the verdict is what it is, a sentence each; nothing for one that runs."""
        if troubles := list(self._troubles()):
            return troubles
        refused = [f"{one.check}: {one.message}" for one in self.of(Severity.REFUSED)]
        return refused + [one.summary for one in self.compared if one.breaks_claim]

    def _troubles(self) -> Iterator[str]:
        for side in self.sides:
            if side.failed is not None:
                who = f"rank {side.failed.rank} of " if len(side.ranks) > 1 else ""
                alike = ", with the same error" if self.fails_alike(side) else ""
                yield f"{who}the {side.name} script {side.failed.ending}{alike}"
            elif side.steps == 0 and not self.count(Severity.REFUSED):
                yield f"the {side.name} script ended without a train step"
        if self.only_original_runs:
            yield ONLY_ORIGINAL_RUNS

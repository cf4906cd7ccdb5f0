"""The verdict of a rehearsal follows from what ran, what was found and what was compared."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rehearse.rehearsals import (
    LOOP,
    OPEN_BATCH,
    OTHER,
    SAME,
    STRINGS,
    failed_rank,
    rank_run,
    rehearsal,
    side,
)
from trainferry.errors import RehearsalError
from trainferry.rehearse.rehearsal import Outcome, Rehearsal, Verdict
from trainferry.rehearse.rehearsal_json import read_rehearsal, write_rehearsal


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (rehearsal(), Verdict.RUNS),
        (rehearsal(STRINGS, LOOP), Verdict.RUNS),
        (rehearsal(compared=(SAME,)), Verdict.RUNS),
        (rehearsal(OPEN_BATCH), Verdict.REFUSED),
        (rehearsal(OPEN_BATCH, compared=(OTHER,)), Verdict.REFUSED),
        (rehearsal(compared=(SAME, OTHER)), Verdict.DIFFER),
        (rehearsal(compared=(SAME, replace(OTHER, is_claim=False))), Verdict.RUNS),
        (rehearsal(OPEN_BATCH, sides=(side(failed_rank()),)), Verdict.DID_NOT_RUN),
        (rehearsal(sides=(side(), side(failed_rank(), name="original"))), Verdict.DID_NOT_RUN),
        (rehearsal(sides=(side(rank_run(losses=())),)), Verdict.DID_NOT_RUN),
    ],
)
def test_a_verdict_names_the_first_thing_to_mend(made: Rehearsal, verdict: Verdict) -> None:
    assert made.verdict is verdict
    assert bool(made.reasons()) == (verdict is not Verdict.RUNS)


def test_a_script_that_the_device_refuses_before_its_first_step_is_refused() -> None:
    stopped = side(rank_run(outcome=Outcome.REFUSED, losses=()))
    assert rehearsal(OPEN_BATCH, sides=(stopped,)).verdict is Verdict.REFUSED


def test_the_rank_that_failed_is_named() -> None:
    made = rehearsal(sides=(side(rank_run(0, Outcome.STOPPED), failed_rank(1)),))
    assert made.reasons() == ["rank 1 of the migrated script ended with exit status 1 after 3 s"]


def test_a_rehearsal_comes_back_from_its_file(tmp_path: Path) -> None:
    made = rehearsal(
        OPEN_BATCH,
        STRINGS,
        sides=(side(rank_run(), failed_rank(1)), side(name="original")),
        compared=(SAME,),
        prepared=("data is linked",),
        lines=(("train.py:12", "data = data.batch(4)"),),
    )
    write_rehearsal(made, tmp_path)
    assert read_rehearsal(tmp_path) == made


def test_a_loss_that_is_no_number_is_written_as_json_has_it(tmp_path: Path) -> None:
    made = rehearsal(sides=(side(rank_run(losses=(1.0, math.nan, math.inf))),))
    path = write_rehearsal(made, tmp_path)
    json.loads(path.read_text(), parse_constant=pytest.fail)
    losses = read_rehearsal(tmp_path).sides[0].ranks[0].losses
    assert losses[1] is not None
    assert math.isnan(losses[1])
    assert losses[2] == math.inf


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"plan": {}}'])
def test_a_folder_without_a_rehearsal_is_told(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "rehearsal.json").write_text(text)
    with pytest.raises(RehearsalError):
        read_rehearsal(tmp_path)

"""What a run shows while it trains: a bar that fits the terminal, or plain lines."""

from __future__ import annotations

import re

import pytest

from trainferry.cli.progress import PlainShow, describe, duration, open_show
from trainferry.train.journal import Ended, Evaluated, Logged, Said, Saved, Started
from trainferry.train.tasks.task import Example

LOGGED = Logged(120_000, 1.2345, 0.00123, 23_456.0, 0.05, 4_000.0)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            80,
            [
                "step 120000/240000",
                "loss 1.234",
                "23,456 images/s",
                "5% waiting",
                "1 h 06 min left",
            ],
        ),
        (120, ["step 120000/240000", "rate 1.23e-03", "5% waiting for data", "1 h 06 min left"]),
    ],
)
def test_the_bar_fits_the_terminal(
    columns: int,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    show = open_show(240_000)
    show.write(Started(119_000, 240_000, "cpu"))
    show.write(LOGGED)
    show.write(Said(120_000, "the loss [does not] fall"))
    show.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.err)
    assert "going on from step 119000" in plain
    assert "note: the loss [does not] fall" in plain
    assert all(each in plain for each in words)


def test_a_line_longer_than_the_terminal_is_left_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    scores = {"sequence_accuracy": 0.5, "character_accuracy": 0.7, "edit_similarity": 0.8}
    event = Evaluated(5, {**scores, "loss": 2.0, "samples": 8.0}, True, ())
    show = open_show(10)
    show.write(event)
    show.close()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert len(describe(event, 10)) > 80
    assert describe(event, 10) in plain


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    show = open_show(240_000)
    assert isinstance(show, PlainShow)
    show.write(LOGGED)
    show.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "step 120000/240000  loss 1.2345  rate 1.23e-03  23,456 images/s  "
        "5% waiting for data  1 h 06 min left\n"
    )


def test_every_event_has_its_words() -> None:
    scores = {"sequence_accuracy": 0.5, "loss": 2.0, "samples": 8.0, "unreadable": 2.0}
    examples = (Example(0, "ferry", "fery", 0.5),)
    told = describe(Evaluated(5, scores, True, examples), 10)
    assert "sequence accuracy 50.00%  loss 2.0000  8 samples, 2 could not be read" in told
    assert "(best so far)" in told
    assert "'ferry' read as 'fery'" in told
    assert describe(Started(0, 10, "cpu"), 10) == ""
    assert describe(Saved(5, "here"), 10) == "step 5  saved here"
    assert describe(Ended(10, "all steps done", 61.0), 10).endswith("1 min 01 s of training")


def test_a_photograph_that_is_named_right_is_not_taken_for_itself() -> None:
    scores = {"top1": 0.5, "loss": 2.0, "samples": 2.0}
    examples = (Example(0, "church", "church", 0.9), Example(1, "church", "tench", 0.5))
    told = describe(Evaluated(5, scores, False, examples), 10)
    assert "'church' is right, 'church' taken for 'tench'" in told


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (3600, "1 h 00 min")]
)
def test_durations_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words

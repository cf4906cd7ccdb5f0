"""trainferry doctor prints what is here, and its exit code says whether training can run."""

from __future__ import annotations

import json

import pytest

from trainferry.cli import doctor
from trainferry.cli.parser import Parser
from trainferry.devices import facts
from trainferry.devices.torch_probe import TorchFacts


def run(arguments: list[str]) -> int:
    parser = Parser()
    doctor.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["doctor", *arguments])
    return int(parsed.run(parsed))


@pytest.fixture(params=["torch", "no torch"])
def has_torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    here: bool = request.param == "torch"
    absent = TorchFacts(error="ModuleNotFoundError: No module named 'torch'")
    answer = TorchFacts("2.13.0+cpu") if here else absent
    monkeypatch.setattr(facts, "probe_torch", lambda: answer)
    return here


def test_every_line_has_a_state_and_problems_say_what_to_do(
    has_torch: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([]) == (0 if has_torch else 1)
    output = capsys.readouterr().out
    assert "\033" not in output
    assert "machine\n  ok       python" in output
    if has_torch:
        assert "training can run here" in output
    else:
        assert "problem  torch" in output
        assert "-> pip install 'trainferry[train]'" in output
        assert "training cannot run here yet: 1 problem to look at" in output


def test_programs_read_json(has_torch: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--json"]) == (0 if has_torch else 1)
    answer = json.loads(capsys.readouterr().out)
    assert answer["can_train"] is has_torch
    assert {"group", "name", "state", "value", "advice"} == answer["facts"][0].keys()


@pytest.mark.usefixtures("has_torch")
def test_a_terminal_gets_colour_unless_it_declines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    run([])
    assert "\033[32mok" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    run([])
    assert "\033" not in capsys.readouterr().out

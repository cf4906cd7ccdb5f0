"""trainferry doctor --explain: codes, logs, and words that are neither."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from trainferry.cli.main import main

LOG = """\
step 1/20 loss 3.2
[W compiler_depend.ts:487] Warning: NPU warning, error code is 507048[Error]:
EI0002: [PID: 7277] 2024-11-28-11:59:30.645.648 The wait execution of the Notify register times out
EZ0099: [PID: 7277] 2024-11-28-11:59:31.000.000 something new
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "rank-3.log"
    path.write_text(LOG)
    return path


def test_a_code_is_explained_also_in_small_letters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain", "ei0006"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("EI0006  HCCL, communication between devices\n\nTwo ranks could not")
    assert "\nWhat to do:\n  1. " in told
    assert "\nSource:\n" in told


def test_several_codes_are_read_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain", "ERR02200", "507035", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in told] == ["ERR02200", "507035"]
    assert told[0]["is_outer"]
    assert {"family", "says", "causes", "what_to_do", "sources", "seen"} <= told[1].keys()


def test_a_log_is_told_from_its_first_code_on(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--explain", str(log)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"codes in {log}, the earliest first:\n\n  line 2  507048  a task")
    assert "\n                  | EI0002: [PID: 7277] 2024" in shown.out
    assert "\nEI0002 is the likely root" in shown.out
    assert "\nEI0002  HCCL, communication between devices\n" in shown.out
    assert f"note: EZ0099 ({log}, line 4) is not in the table; it comes from op" in shown.err


def test_programs_read_what_a_log_holds(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain", str(log), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["likely_root"] == "EI0002"
    assert [(one["code"], one["line"]) for one in told["codes"]] == [("507048", 2), ("EI0002", 3)]
    assert [(one["code"], one["line"]) for one in told["unknown"]] == [("EZ0099", 4)]


def test_logs_of_several_ranks_are_told_together(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "rank-0.log"
    other.write_text("EJ0001: 2024-11-28-11:58:00.000.000 Failed to initialize the HCCP process\n")
    assert main(["doctor", "--explain", str(log), str(other)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"codes in 2 logs, the earliest first:\n\n  {other} line 1")
    assert "\nEJ0001 is the likely root" in told


def test_a_log_comes_from_a_pipe_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(b"EH9999: Inner Error!\n"))
    monkeypatch.setattr("sys.stdin", pipe)
    assert main(["doctor", "--explain", "-"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("in standard input:\n\n  line 1  EH9999")
    assert "such codes only say which layer noticed" in told


def test_a_log_without_codes_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"all well \xff\n")
    assert main(["doctor", "--explain", str(path)]) == 0
    assert capsys.readouterr().out == f"no code of the table in {path}\n"


@pytest.mark.parametrize(
    ("word", "said", "hint"),
    [
        ("EI0099", "`EI0099` is not in the table; it comes from HCCL", "near it: EI00"),
        ("EX0001", "is not in the table, nor is its beginning", "near it: "),
        ("libhccl", "is neither a code of the table nor a log file", "near it: libhccl.so"),
        ("no/such.log", "is neither a code of the table nor a log file", "lists all"),
    ],
)
def test_what_is_unknown_fails_with_what_is_near(
    word: str, said: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--explain", word]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert hint in shown.err.partition("hint: ")[2]


def test_codes_and_logs_are_not_asked_together(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--explain", "EI0006", str(log)]) == 2
    assert "give either codes or logs" in capsys.readouterr().err


def test_all_codes_are_listed_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 40
    assert any(line.startswith("EI0006 ") for line in lines)
    assert main(["doctor", "--explain", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(lines)


def test_neither_torch_nor_a_device_is_needed() -> None:
    program = (
        "import sys; from trainferry.cli.main import main;"
        "main(['doctor', '--explain', '507011']); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""Codes are found in real forms of logs, nowhere else, and the likely root among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainferry.launch.codes.explain import explain_end
from trainferry.launch.codes.find import find_codes, in_order, likely_root

TIMEOUT = """\
step 100/2000  loss 3.2
[W compiler_depend.ts:487] Warning: NPU warning, error code is 507048[Error]:
        Rectify the fault based on the error information in the ascend log.
EI0002: [PID: 7277] 2024-11-28-11:59:30.645.648 The wait execution of the Notify register times out
[ERROR] 2024-11-28-11:59:31 (PID:7277, Device:0, RankID:0) ERR02200 DIST call hccl api failed.
EI0002: [PID: 7278] 2024-11-28-11:59:32.000.001 The wait execution of the Notify register times out
""".splitlines()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("RuntimeError: Initialize NPU function error: aclrtSet, error code is 107002", "107002"),
        ("EZ9999[PID: 55986] 2025-12-15-11:30:10.420.394 (EZ9999):  [AIC_INFO]", "EZ9999"),
        ("[PID: 3] 2026-07-21-09:16:41.017.602 Invalid_Argument(EE1001): The argument", "EE1001"),
        ("wait for compute device to finish failed, runtime result = 507018.[FUNC:R]", "507018"),
        ("rtEventSynchronize:ErrCode=507035, desc=[vector core exception]", "507035"),
        ("Task fail infos device_id: 0, retcode: 507011 ( model execute failed)", "507011"),
        ("[ERROR] aclrtSetDevice(deviceId) failed: 507033 (main.cpp:98)", "507033"),
        ("rtGeneralCtrl failed, runtime error code: 507015", "507015"),
        ("(PID:116072, Device:0, RankID:-1) ERR00002 PTA invalid type", "ERR00002"),
    ],
)
def test_a_code_is_found_in_the_forms_that_logs_have(line: str, word: str) -> None:
    assert [one.word for one in find_codes([line], "a.log")] == [word]


@pytest.mark.parametrize(
    "line",
    [
        "step 107002/200000  loss 0.1  507011 images/s",
        "read 200000 samples, failed 100000 of them",
        "0xEI0006AB EI0006x xEI0006 sha E40021f0 1.5E10001",
        "error code is 7",
        "retCode=0x7020010",
        "the ERROR of E2E tests",
    ],
)
def test_numbers_and_words_that_only_look_like_codes_are_none(line: str) -> None:
    assert find_codes([line], "a.log") == []


def test_each_code_is_told_once_with_its_first_line_and_its_time() -> None:
    found = find_codes(TIMEOUT, "a.log")
    assert [(one.word, one.line, one.times) for one in found] == [
        ("507048", 2, 1),
        ("EI0002", 4, 2),
        ("ERR02200", 5, 1),
    ]
    assert found[0].moment == "2024-11-28-11:59:30.645.648"  # the next time that is told
    assert found[1].text.startswith("EI0002: [PID: 7277]")


def test_the_root_is_the_first_that_says_more_than_which_layer_noticed() -> None:
    root = likely_root(find_codes(TIMEOUT, "a.log"))
    assert root is not None
    assert root.word == "EI0002"


def test_where_all_only_name_layers_the_first_is_taken() -> None:
    root = likely_root(find_codes(["EH9999: Inner Error!", "ERR00100 PTA"], "a.log"))
    assert root is not None
    assert root.word == "EH9999"
    assert likely_root(find_codes(["EI0999: new"], "a.log")) is None


def test_codes_of_several_logs_come_in_the_order_of_their_times() -> None:
    late = find_codes(["2026-01-01-10:00:05 EI0002: waits"], "rank-0.log")
    early = find_codes(["Traceback", "2026-01-01 10:00:04,120 EJ0001: busy"], "rank-1.log")
    assert [one.log for one in in_order([late, early])] == ["rank-1.log", "rank-0.log"]


def test_a_code_after_a_bar_is_shown_without_the_bar() -> None:
    bar = "".join(f"\r{done}% of all" for done in range(100))
    found = find_codes([f"{bar}\rerror code is 507035 of an operator\r{bar}"], "a.log")
    assert [one.text for one in found] == ["error code is 507035 of an operator"]


def test_a_code_in_a_very_long_line_is_shown_with_what_is_around_it() -> None:
    (one,) = find_codes(["x" * 5000 + " EI0006: no socket " + "y" * 5000], "a.log")
    assert "EI0006: no socket" in one.text
    assert len(one.text) < 300


def test_the_end_of_a_process_is_explained_from_its_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("EJ0001: Failed to initialize\n" + "frame\n" * 1000)
    what, do = explain_end(log)
    assert what.startswith("EJ0001 in its log: the process behind HCCL's connections")
    assert do.startswith("-> end what is left of the last run")


def test_a_log_without_codes_or_without_a_file_explains_nothing(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    assert explain_end(log) == ()
    log.write_bytes(b"\xff\xfe Traceback\nEI0999: new\n")
    assert explain_end(log) == ()

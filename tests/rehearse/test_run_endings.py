"""The end of a script is told apart: good, refused by the device, or a fault of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainferry.rehearse.endings import judge, user_frame
from trainferry.rehearse.finding import Severity
from trainferry.rehearse.rehearsal import Outcome
from trainferry.rehearse.start import Ending

GOOD = Ending(
    code=0,
    signal=None,
    timed_out=False,
    stopped=False,
    error=None,
    seconds=3.0,
    output=Path("/run/output.txt"),
    output_bytes=10,
    left_behind=0,
)
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/run/project/train.py", line 40, in <module>',
    "    main()",
    '  File "/run/project/train.py", line 31, in main',
    "    config = NPURunConfig(nothing=1)",
    '  File "/src/trainferry/rehearse/stand_in/npu_bridge/estimator/npu/npu_config.py", line 9',
    "    raise RefusedType(name)",
)


def failed(*lines: str, **fields: object) -> Ending:
    return replace(GOOD, code=1, last_lines=lines, **fields)  # type: ignore[arg-type]


def test_a_good_end_needs_no_words(tmp_path: Path) -> None:
    assert judge(GOOD, 0, tmp_path).outcome is Outcome.GOOD


def test_a_refusal_of_the_adapter_is_a_finding_at_the_users_line(tmp_path: Path) -> None:
    error = "trainferry_stand_in.errors.RefusedType: NPURunConfig has no argument `nothing`"
    judgement = judge(failed(*TRACEBACK, error), 1, tmp_path)
    assert judgement.outcome is Outcome.REFUSED
    assert judgement.finding is not None
    assert judgement.finding.severity is Severity.REFUSED
    assert judgement.finding.message == "NPURunConfig has no argument `nothing`"
    assert judgement.finding.places == ("/run/project/train.py:31",)
    assert judgement.finding.ranks == (1,)


def test_a_refusal_inside_a_session_is_found_too(tmp_path: Path) -> None:
    line = "tensorflow.python.framework.errors_impl.UnknownError: WouldHang: rank 1 left"
    judgement = judge(failed(*TRACEBACK, line), 0, tmp_path)
    assert judgement.outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    "error",
    [
        "TypeError: __init__() got an unexpected keyword argument 'nothing'",
        "ImportError: cannot import name 'npu_magic' from 'npu_bridge.npu_init' (/x/npu_init.py)",
        "ModuleNotFoundError: No module named 'npu_bridge.magic'",
        "AttributeError: module 'npu_bridge.estimator.npu_ops' has no attribute 'magic'",
    ],
)
def test_what_a_stand_in_raises_or_lacks_the_adapter_does_too(tmp_path: Path, error: str) -> None:
    judgement = judge(failed(*TRACEBACK, error), 0, tmp_path)
    assert judgement.outcome is Outcome.REFUSED
    assert judgement.finding is not None
    assert judgement.finding.message == error


def test_a_mistake_within_a_stand_in_is_not_blamed_on_the_device(tmp_path: Path) -> None:
    lines = (*TRACEBACK[:-1], "    return 1 / 0", "ZeroDivisionError: division by zero")
    assert judge(failed(*lines), 0, tmp_path).outcome is Outcome.FAILED


def test_a_rank_that_we_ended_is_not_to_blame(tmp_path: Path) -> None:
    assert judge(failed(stopped=True), 0, tmp_path).outcome is Outcome.STOPPED


@pytest.mark.parametrize(
    ("ending", "advice"),
    [
        (failed("ModuleNotFoundError: No module named 'cv2'"), "install `cv2`"),
        (failed("ModuleNotFoundError: No module named 'horovod'"), "left by hand"),
        (failed("ModuleNotFoundError: No module named 'nets.crnn'"), "PYTHONPATH=."),
        (failed("Exception: URL fetch failure on https://x/y.npz: None"), "from the network"),
        (failed("FileNotFoundError: [Errno 2] No such file or directory: '../x'"), "--in-project"),
        (failed("NotOnThisMachine: `npu_compile` runs on the device only"), "leave it out"),
        (failed(timed_out=True), "--timeout"),
        (replace(failed(), code=None, signal=9), "memory"),
        (replace(failed(), code=70), "report it"),
        (failed("ValueError: boom"), "all that it printed is in /run/output.txt"),
        (failed(), "all that it printed"),
    ],
)
def test_a_failure_comes_with_advice(tmp_path: Path, ending: Ending, advice: str) -> None:
    (tmp_path / "lib" / "nets").mkdir(parents=True)
    (tmp_path / "lib" / "nets" / "__init__.py").touch()
    judgement = judge(ending, 0, tmp_path)
    assert judgement.outcome is Outcome.FAILED
    assert advice in judgement.hint


@pytest.mark.parametrize(
    "error",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: '../data/words.txt'",
        "tensorflow.python.framework.errors_impl.NotFoundError: ../data/words.txt; No such file "
        "or directory",
    ],
)
def test_a_script_that_wants_to_start_in_its_own_folder_is_told_apart(
    tmp_path: Path, error: str
) -> None:
    for folder in ("data", "models"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "words.txt").touch()
    judgement = judge(failed(error), 0, tmp_path, "models/main.py")
    assert "rehearse the project `models` in place" in judgement.hint
    assert "absolute" in judge(failed(error), 0, tmp_path, "main.py").hint


def test_the_frame_is_that_of_the_last_traceback() -> None:
    earlier = ("Traceback (most recent call last):", '  File "/run/a.py", line 1, in f')
    assert user_frame((*earlier, "ValueError", *TRACEBACK)) == "/run/project/train.py:31"
    assert user_frame(("nothing",)) == ""

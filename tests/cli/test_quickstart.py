"""The command `trainferry quickstart`, with few words and steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from trainferry.cli import quickstart
from trainferry.cli.main import main


def test_the_bundled_project_is_an_example() -> None:
    bundled = Path(quickstart.__file__).with_name("quickstart_project.txt")
    example = Path(__file__).resolve().parents[2] / "examples" / "session" / "before" / "train.py"
    assert bundled.read_bytes() == example.read_bytes()


@pytest.mark.slow
def test_quickstart_goes_from_fonts_to_a_page_of_readings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("cv2", "onnx", "onnxruntime", "onnxscript"):
        pytest.importorskip(package)
    monkeypatch.setattr(quickstart, "TRAIN_WORDS", 40)
    monkeypatch.setattr(quickstart, "HELD_OUT_WORDS", 8)
    monkeypatch.setattr(quickstart, "SHOWN_WORDS", 4)
    sets = ("schedule.steps=3", "schedule.warmup_steps=1", "loop.batch=4", "data.workers=0")
    command = ["quickstart", "--to", str(tmp_path / "tour"), "--device", "cpu", "--json"]
    command += [part for override in sets for part in ("--set", override)]

    assert main(command) == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert told["samples"] == 8
    assert shown.err.startswith("device: cpu")
    assert [f"\n{number}. " in shown.err for number in range(1, 7)] == [True] * 6
    with Image.open(told["picture"]) as page:
        assert page.width > 400
    assert Path(told["onnx"]).is_file()
    assert (
        "+    with tf.Session(config=npu_config_proto(config_proto=config)) as sess:" in shown.err
    )
    assert "npu_config_proto" in (Path(told["migrated"]) / "train.py").read_text(encoding="utf-8")

    assert main(command) == 0
    again = capsys.readouterr()
    assert "train: already there" in again.err
    assert "going on from step 3" in again.err
    assert json.loads(again.out)["sequence_accuracy"] == told["sequence_accuracy"]

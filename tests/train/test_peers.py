"""Peers: how they are named, asked, and timed in turn with ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.train.run_folder import TINY_NETWORK
from trainferry.cli.main import main
from trainferry.errors import UsageError
from trainferry.train.build import without_data
from trainferry.train.peers import beside
from trainferry.train.peers.beside import Beside, Pace
from trainferry.train.peers.peer import Case, Peer, find_peer, make_case
from trainferry.train.peers.steps import build_step
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import Recipe

TINY = (*TINY_NETWORK, "loop.batch=4")
PEER = r"""
import sys
import torch


def step_of(case):
    print("chatter of a peer", flush=True)
    sys.stdout.buffer.write(b"that is no UTF-8: \xff\n")
    network = torch.nn.Conv2d(3, case.classes, 3)
    images = torch.randn(case.batch, 3, case.height, case.width)

    def step():
        network(images).sum().backward()

    return step


def broken(case):
    raise RuntimeError("no such weights")
"""
CHECKOUT = """
import torch


class Model(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        assert options.Prediction == "CTC"
        self.classes = torch.nn.Linear(options.imgH * options.input_channel, options.num_class)

    def forward(self, images, text):
        return self.classes(images.flatten(1, 2).transpose(1, 2))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "peer.py"
    path.write_text(PEER, encoding="utf-8")
    return path


def recipe_of(name: str, *sets: str) -> Recipe:
    recipe, _ = without_data(read_recipe(name, sets))
    return recipe


@pytest.mark.parametrize(
    ("recipe", "asked", "message"),
    [
        ("crnn_small", "timm", "timm has no network for `crnn_small`"),
        ("resnet50", "clovaai:/nowhere", "`resnet50` does not"),
        ("crnn_small", "clovaai:/nowhere", "no `model.py` in `/nowhere`"),
        ("crnn_small", "nobody.py:step_of", "no file `nobody.py`"),
        ("crnn_small", "keras", "`keras` is no peer"),
    ],
)
def test_a_peer_that_cannot_be_is_refused_before_anything_is_timed(
    recipe: str, asked: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        find_peer(asked, read_recipe(recipe, ()))


@pytest.mark.parametrize(
    ("recipe", "name"),
    [
        ("resnet50", "resnet50"),
        ("densenet121", "densenet121"),
        ("hrnet_w18", "hrnet_w18"),
    ],
)
def test_a_package_alone_means_the_network_of_the_same_name(
    recipe: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainferry.train.peers.peer.find_spec", lambda _: object())
    assert find_peer("timm", read_recipe(recipe, ())) == Peer("timm", name)
    assert find_peer("timm:other", read_recipe(recipe, ())) == Peer("timm", "other")


def test_a_peer_gets_pictures_and_classes_of_the_recipe() -> None:
    words = make_case(recipe_of("crnn_small", "loop.batch=8"), "cpu", "eager")
    assert words == Case(8, 32, 100, 37, 23, "fp32", "cpu", "eager")
    photos = make_case(recipe_of("resnet50", "loop.batch=2"), "cpu", "compile")
    assert (photos.height, photos.classes, photos.mode) == (224, 1001, "compile")
    with pytest.raises(UsageError, match="no peer"):
        make_case(recipe_of("attention_ocr"), "cpu", "eager")


def test_a_checkout_of_clovaai_trains(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(CHECKOUT, encoding="utf-8")
    recipe = recipe_of("crnn_small", "loop.batch=4")
    peer = find_peer(f"clovaai:{tmp_path}", recipe)
    build_step(peer, make_case(recipe, "cpu", "eager"))()


def test_both_are_timed_in_turn(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [word for each in TINY for word in ("--set", each)]
    asked = ("--against", f"{file}:step_of", "--rounds", "2", "--steps", "2", "--device", "cpu")
    assert main(["benchmark", "crnn_small", *asked, *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["ratios"]) == 2
    assert found["ours"]["name"] == "trainferry"
    assert found["peer"]["name"] == f"{file}:step_of, eager"
    assert found["peer"]["images_per_second"] > 0
    assert found["peer"]["taken_memory_bytes"] >= found["peer"]["peak_memory_bytes"] > 10_000_000
    assert found["speed"]["batch"] == 4


def test_a_peer_that_fails_is_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [word for each in TINY for word in ("--set", each)]
    asked = ("--against", f"{file}:broken", "--rounds", "1", "--steps", "1", "--device", "cpu")
    assert main(["benchmark", "crnn_small", *asked, *given]) == 1
    assert "RuntimeError: no such weights" in capsys.readouterr().err


def test_the_table_can_be_read(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [word for each in TINY for word in ("--set", each)]
    asked = ("--against", f"{file}:step_of", "--rounds", "1", "--steps", "1", "--device", "cpu")
    assert main(["benchmark", "crnn_small", *asked, *given]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "images/s" in lines[0]
    assert lines[1].startswith("trainferry")
    assert lines[3].startswith("ratio")
    assert "taken" not in lines[0]


def test_memory_that_a_device_gave_is_shown_beside_what_tensors_held(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Pace("trainferry", 2000.0, 32.0, 2 * 2**30, 3 * 2**30, 9.0)
    theirs = Pace("peer, eager", 1000.0, 64.0, 2 * 2**30, 2 * 2**30, 1.0)
    found = Beside(ours, theirs, ratios=(2.0,), speed={})
    monkeypatch.setattr(beside, "time_beside", lambda *_: found)
    asked = ("--against", f"{file}:step_of", "--device", "cpu")
    assert main(["benchmark", "crnn_small", *asked]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert "taken" in lines[0]
    assert lines[1][1:5] == ["2,000", "32.00", "2.00", "3.00"]
    assert lines[2][2:6] == ["1,000", "64.00", "2.00", "2.00"]

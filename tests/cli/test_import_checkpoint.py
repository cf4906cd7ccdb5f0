"""From a TensorFlow checkpoint on the command line to a run that every command can open."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from trainferry.cli.main import main
from trainferry.train.build import build_network, open_run
from trainferry.train.checkpoint import find_checkpoint, load_checkpoint
from trainferry.train.data.signs.charset import fsns_charset, write_charset
from trainferry.train.data.words.alphabet import Alphabet, write_alphabet
from trainferry.train.recipe.networks import CRNNRecipe
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.tasks import (
    ClassifyRecipe,
    RecogniseRecipe,
    SpellRecipe,
    WordPicture,
)
from trainferry.train.signs import complete_without_data
from trainferry.train.tf_checkpoint.load import AVERAGE, MOMENTUM, import_network, to_tensorflow
from trainferry.train.tf_checkpoint.names_attention_ocr import attention_ocr_mappings
from trainferry.train.tf_checkpoint.names_resnet import resnet_mappings
from trainferry.train.tf_checkpoint.read import read_checkpoint
from trainferry.train.tf_checkpoint.write import write_checkpoint

FILES = Path(__file__).resolve().parents[1] / "train" / "tf_checkpoint" / "files"
STOCK = FILES / "crnn_stock_cells"
FUSED = FILES / "crnn_fused_cells"
SIGNS = (
    "picture.views=2",
    "picture.height=35",
    "picture.width=35",
    "network.endpoint=MaxPool_5a_3x3",
    "network.hidden=8",
)
NARROW = ("network.size=18", "network.width=4")
IMAGENET = ('task.classes_from="recipe"', f"task.classes={[str(n) for n in range(1000)]}")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        'base = "crnn"\n[network]\nchannels = [2, 3, 2, 2, 3, 2, 4]\nhidden = 2\n'
        '[task]\nalphabet = "abcd"\n'
    )
    return path


@pytest.fixture
def ord_map(tmp_path: Path) -> Path:
    write_alphabet(Alphabet("dbac"), tmp_path / "dictionary")
    return tmp_path / "dictionary" / "ord_map.json"


def test_the_run_has_the_weights_the_step_and_the_order_of_classes(
    tmp_path: Path, recipe: Path, ord_map: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(run), "--alphabet", str(ord_map)]
    assert main(["import-checkpoint", *arguments]) == 0
    printed = capsys.readouterr()
    assert "read         79 tensors" in printed.out
    assert "missing       0" in printed.out
    assert printed.err == ""

    opened = open_run(run, device=torch.device("cpu"))
    task, picture = opened.recipe.task, opened.recipe.picture
    assert isinstance(task, RecogniseRecipe)
    assert isinstance(picture, WordPicture)
    assert (opened.step, task.alphabet) == (2, "dbac")
    assert (picture.order, picture.filter) == ("rgb", "antialias")
    imported = import_network(read_checkpoint(STOCK), CRNNRecipe())
    state = opened.network.state_dict()
    for name, value in imported.weights.items():
        assert np.array_equal(state[name].numpy(), value)
    forget = state["recurrence.bias_hh_l0"]
    assert forget.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


def test_the_training_state_is_kept(tmp_path: Path, recipe: Path) -> None:
    run = tmp_path / "run"
    assert main(["import-checkpoint", str(FUSED), "--recipe", str(recipe), "--to", str(run)]) == 0
    checkpoint = load_checkpoint(find_checkpoint(run, "last"))
    momentum = import_network(read_checkpoint(FUSED), CRNNRecipe()).momentum
    assert momentum is not None
    assert checkpoint.training.keys() == {f"{name}::momentum_buffer" for name in momentum}
    assert checkpoint.facts["loss_scale"] == {
        "value": 2.0**20,
        "good_steps": 17,
        "bad_steps": 1,
        "overflows": 0,
    }


def test_upstream_pictures_are_read_as_upstream_reads_them(tmp_path: Path, recipe: Path) -> None:
    run = tmp_path / "run"
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(run), "--origin", "upstream"]
    assert main(["import-checkpoint", *arguments]) == 0
    picture = open_run(run, device=torch.device("cpu")).recipe.picture
    assert isinstance(picture, WordPicture)
    assert (picture.order, picture.filter) == ("bgr", "bilinear")


def test_a_saved_model_does_not_say_who_trained_it(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = read_checkpoint(STOCK)
    weights = {
        name: checkpoint.read(name)
        for name in checkpoint.names()
        if name != "global_step" and not name.endswith("Momentum")
    }
    assert len(weights) == 46
    write_checkpoint(tmp_path / "saved" / "variables" / "variables", weights)
    run = tmp_path / "run"
    arguments = [str(tmp_path / "saved"), "--recipe", str(recipe), "--to", str(run)]
    assert main(["import-checkpoint", *arguments]) == 2
    assert "--origin upstream" in capsys.readouterr().err
    assert not run.exists()
    assert main(["import-checkpoint", *arguments, "--origin", "upstream"]) == 0
    assert open_run(run, device=torch.device("cpu")).step == 0


def test_averaged_weights_are_what_is_opened(tmp_path: Path, recipe: Path) -> None:
    checkpoint = read_checkpoint(STOCK)
    tensors = {name: checkpoint.read(name) for name in checkpoint.names()}
    name = "shadow_net/sequence_rnn_module/w"
    tensors[name + AVERAGE] = tensors[name] + 1
    write_checkpoint(tmp_path / "m", tensors)
    run = tmp_path / "run"
    arguments = [str(tmp_path / "m"), "--recipe", str(recipe), "--to", str(run)]
    assert main(["import-checkpoint", *arguments]) == 0
    state = open_run(run, device=torch.device("cpu")).network.state_dict()
    assert np.array_equal(state["classifier.weight"].numpy().T, tensors[name] + 1)
    untouched = import_network(read_checkpoint(STOCK), CRNNRecipe()).weights[
        "convolutions.conv1.weight"
    ]
    assert np.array_equal(state["convolutions.conv1.weight"].numpy(), untouched)


def test_what_the_recipe_cannot_use_is_told(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    changes = ["--set", 'optimizer.name="adam"', "--set", "schedule.steps=1"]
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(run), *changes]
    assert main(["import-checkpoint", *arguments]) == 0
    notes = capsys.readouterr().err
    assert "note: the order of the classes is the recipe's, `abcd`" in notes
    assert "note: the momentum is left out: the recipe trains with adam" in notes
    assert "note: the checkpoint is at step 2, the recipe ends at 1" in notes
    assert load_checkpoint(find_checkpoint(run, "last")).training == {}


@pytest.mark.parametrize(
    ("change", "reason", "hint"),
    [
        ('task.alphabet="abcdef"', "has 5 classes, the alphabet 7", "--alphabet"),
        ("network.hidden=3", "`recurrence.weight_ih_l0` is (8, 4)", "network.hidden"),
    ],
)
def test_a_checkpoint_of_other_sizes_is_refused_and_nothing_written(
    tmp_path: Path,
    recipe: Path,
    capsys: pytest.CaptureFixture[str],
    change: str,
    reason: str,
    hint: str,
) -> None:
    run = tmp_path / "run"
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(run), "--set", change]
    assert main(["import-checkpoint", *arguments]) == 1
    message = capsys.readouterr().err
    assert reason in message
    assert hint in message.partition("hint:")[2]
    assert not run.exists()


def test_a_checkpoint_with_a_missing_variable_is_refused(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = read_checkpoint(STOCK)
    tensors = {name: checkpoint.read(name) for name in checkpoint.names()}
    del tensors["shadow_net/sequence_rnn_module/w"]
    write_checkpoint(tmp_path / "m", tensors)
    arguments = [str(tmp_path / "m"), "--recipe", str(recipe), "--to", str(tmp_path / "run")]
    assert main(["import-checkpoint", *arguments]) == 1
    assert "`shadow_net/sequence_rnn_module/w`" in capsys.readouterr().err


def test_nothing_is_overwritten(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(tmp_path / "run")]
    assert main(["import-checkpoint", *arguments]) == 0
    assert main(["import-checkpoint", *arguments]) == 1
    assert "already holds a run" in capsys.readouterr().err


def test_the_report_is_json_where_a_program_reads(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    arguments = [str(FUSED), "--recipe", str(recipe), "--to", str(run), "--json"]
    assert main(["import-checkpoint", *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["origin"], report["cells"], report["step"]) == ("zoo", "fused", 2)
    assert (report["read"], report["mapped"], len(report["ignored"])) == (86, 82, 4)
    assert (report["missing"], report["unmatched"]) == ([], [])


def test_any_checkpoint_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-checkpoint", str(FILES / "every_type"), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["bfloat16", "bfloat16", "[2,", "3]"]
    assert lines[-1].startswith("16 tensors in ")
    assert main(["import-checkpoint", str(FILES / "every_type"), "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[-1] == {"name": "uint8", "type": "uint8", "shape": [3]}


def test_without_recipe_and_folder_the_usage_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import-checkpoint", str(STOCK)]) == 2
    assert "needs --recipe and --to" in capsys.readouterr().err


def test_damage_ends_with_a_message_and_not_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(STOCK, tmp_path / "copy"))
    data = copy / "shadownet.ckpt-2.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    assert main(["import-checkpoint", str(copy), "--list"]) == 1
    assert "is cut short: it has 100 bytes" in capsys.readouterr().err


@pytest.fixture
def resnet(tmp_path: Path) -> Path:
    """A checkpoint of a very narrow ResNet-18 with 1001 classes, at step 7."""
    network = build_network(read_recipe("resnet50", [*NARROW, *IMAGENET]), torch.device("cpu"))
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    mappings = resnet_mappings(18, 1)
    tensors = to_tensorflow(state, mappings)
    trained = [mapping for mapping in mappings if mapping.trained]
    tensors |= to_tensorflow(state, trained, ending=MOMENTUM)
    tensors["global_step"] = np.array(7, np.int64)
    write_checkpoint(tmp_path / "model.ckpt-7", tensors)
    return tmp_path / "model.ckpt-7"


def import_resnet(checkpoint: Path, run: Path, *more: str, sets: tuple[str, ...] = NARROW) -> int:
    arguments = ["import-checkpoint", str(checkpoint), "--recipe", "resnet50", "--to", str(run)]
    for one in sets:
        arguments += ["--set", one]
    return main([*arguments, *more])


def test_a_network_of_photographs_keeps_its_weights_momentum_and_step(
    tmp_path: Path, resnet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert import_resnet(resnet, run, "--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["network"] == "a resnet of size 18 version 1, width 4"
    assert (report["classes"], report["background"], report["step"]) == (1000, True, 7)
    assert (report["read"], report["mapped"], report["momentum"]) == (173, 173, 65)
    assert (report["ignored"], report["unmatched"], report["missing"]) == ({}, [], [])
    assert "note: the 1000 classes are called `class 1` and so on" in printed.err
    assert "the recipe ends at" not in printed.err

    opened = open_run(run, device=torch.device("cpu"))
    assert opened.step == 7
    checkpoint = read_checkpoint(resnet)
    kernel = checkpoint.read("resnet_model/dense/kernel").T
    assert np.array_equal(opened.network.state_dict()["classifier.weight"].numpy(), kernel)
    training = load_checkpoint(find_checkpoint(run, "last")).training
    slot = checkpoint.read("resnet_model/conv2d/kernel/Momentum").transpose(3, 2, 0, 1)
    assert np.array_equal(training["stem.weight::momentum_buffer"].numpy(), slot)


def test_classes_are_called_as_the_file_says(
    tmp_path: Path, resnet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"thing {number}" for number in range(1000)]
    (tmp_path / "names.txt").write_text("\n".join(names))
    assert import_resnet(resnet, tmp_path / "run", "--classes", str(tmp_path / "names.txt")) == 0
    assert capsys.readouterr().err == ""
    task = open_run(tmp_path / "run", device=torch.device("cpu")).recipe.task
    assert isinstance(task, ClassifyRecipe)
    assert task.classes == tuple(names)


@pytest.mark.parametrize(
    ("sets", "reason", "hint"),
    [
        (
            ("network.size=34", "network.width=4"),
            "it looks like a resnet of size 18 version 1, width 4",
            "pass --set network.size=18",
        ),
        (
            (*NARROW, "task.background=false"),
            "has 1001 classes, and the recipe no background",
            "--set task.background=true",
        ),
    ],
)
def test_a_checkpoint_that_is_not_the_recipes_is_told_with_what_to_set(
    tmp_path: Path,
    resnet: Path,
    capsys: pytest.CaptureFixture[str],
    sets: tuple[str, ...],
    reason: str,
    hint: str,
) -> None:
    assert import_resnet(resnet, tmp_path / "run", sets=sets) == 1
    message = capsys.readouterr().err
    assert reason in message
    assert hint in message.partition("hint:")[2]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--origin=zoo", "--alphabet=ord_map.json"])
def test_options_of_words_are_refused_for_photographs(
    tmp_path: Path, resnet: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert import_resnet(resnet, tmp_path / "run", option) == 2
    assert f"{option.partition('=')[0]} is for networks of words" in capsys.readouterr().err


def test_classes_are_refused_for_words(
    tmp_path: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(STOCK), "--recipe", str(recipe), "--to", str(tmp_path / "run")]
    assert main(["import-checkpoint", *arguments, "--classes", "names.txt"]) == 2
    assert "--classes is for networks of photographs" in capsys.readouterr().err


@pytest.fixture
def attention(tmp_path: Path) -> Path:
    """A checkpoint of a very small Attention-OCR with the characters of FSNS, at step 9."""
    recipe, _ = complete_without_data(read_recipe("attention_ocr", SIGNS))
    state = build_network(recipe, torch.device("cpu")).state_dict()
    mappings = attention_ocr_mappings("MaxPool_5a_3x3", attention=True)
    tensors = to_tensorflow({name: value.numpy() for name, value in state.items()}, mappings)
    write_checkpoint(tmp_path / "model.ckpt-9", {**tensors, "global_step": np.array(9, np.int64)})
    return tmp_path / "model.ckpt-9"


def import_attention(checkpoint: Path, run: Path, *more: str) -> int:
    sets = [part for one in SIGNS for part in ("--set", one)]
    arguments = [str(checkpoint), "--recipe", "attention_ocr", "--to", str(run)]
    return main(["import-checkpoint", *arguments, *sets, *more])


def test_a_network_of_signs_keeps_its_weights_and_reads_the_characters_of_fsns(
    tmp_path: Path, attention: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert import_attention(attention, tmp_path / "run", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["step"], report["classes"]) == (9, 134)
    assert (report["unmatched"], report["missing"]) == ([], [])
    opened = open_run(tmp_path / "run", device=torch.device("cpu"))
    assert isinstance(opened.recipe.task, SpellRecipe)
    assert opened.recipe.task.charset[:3] == (" ", "l", "\u2019'\u2018")
    weight = opened.network.state_dict()["decoder.classifier.weight"].numpy()
    wanted = read_checkpoint(attention).read("AttentionOcr_v1/sequence_logit_fn/SQLR/softmax_w")
    assert np.array_equal(weight.T, wanted)


def test_a_charset_of_signs_must_have_as_many_codes_as_the_checkpoint(
    tmp_path: Path, attention: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "charset.txt").write_text("0\ta\n1\t<nul>\n")
    own, fsns = tmp_path / "charset.txt", write_charset(fsns_charset(), tmp_path / "fsns")
    assert import_attention(attention, tmp_path / "run", "--alphabet", str(own)) == 1
    assert "has 134 classes, the charset 2" in capsys.readouterr().err
    assert import_attention(attention, tmp_path / "run", "--alphabet", str(fsns)) == 0


def test_coordinates_that_the_weights_of_signs_do_not_know_are_told_with_what_to_set(
    tmp_path: Path, attention: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--set", "network.coordinates=true")
    assert import_attention(attention, tmp_path / "run", *more) == 1
    assert "pass --set network.coordinates=false" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_an_inception_alone_is_where_training_starts(
    tmp_path: Path, attention: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = read_checkpoint(attention)
    scope = "AttentionOcr_v1/conv_tower_fn/INCE/"
    tower = {name.removeprefix(scope): whole.read(name) for name in whole.names() if scope in name}
    write_checkpoint(tmp_path / "inception_v3.ckpt", tower)
    assert import_attention(tmp_path / "inception_v3.ckpt", tmp_path / "run") == 1
    assert "--init-from" in capsys.readouterr().err.partition("hint:")[2]

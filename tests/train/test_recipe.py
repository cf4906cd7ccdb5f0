"""Recipes: what is read, what is refused, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainferry.errors import RecipeError
from trainferry.train.recipe.networks import HRNetRecipe
from trainferry.train.recipe.read import (
    list_recipes,
    read_recipe,
    recipe_differences,
    recipe_to_toml,
)
from trainferry.train.transfer import classes_in


@pytest.mark.parametrize("name", list_recipes())
def test_a_written_recipe_reads_back_as_it_was(name: str, tmp_path: Path) -> None:
    recipe = read_recipe(name)
    path = tmp_path / f"{name}.toml"
    path.write_text(recipe_to_toml(recipe), encoding="utf-8")
    assert read_recipe(path) == recipe


def test_odd_characters_of_an_alphabet_survive(tmp_path: Path) -> None:
    recipe = read_recipe("crnn", [r'task.alphabet="a\"\\\u0007é汉"'])
    path = tmp_path / "odd.toml"
    path.write_text(recipe_to_toml(recipe), encoding="utf-8")
    assert classes_in(read_recipe(path)) == 'a"\\\u0007é汉'


def test_the_crnn_recipe_is_that_of_the_original() -> None:
    recipe = read_recipe("crnn")
    assert (recipe.picture.width, recipe.picture.height) == (100, 32)
    assert len(classes_in(recipe)) + 1 == 37
    assert recipe.loop.batch == 64
    assert (recipe.optimizer.momentum, recipe.optimizer.nesterov) == (0.95, True)
    assert (recipe.schedule.steps, recipe.schedule.warmup_steps) == (240_000, 8_000)


def test_a_misspelt_key_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "crnn"\n[optimizer]\nlearningrate = 0.1\n')
    with pytest.raises(RecipeError, match="unknown key `learningrate`") as caught:
        read_recipe(path)
    assert caught.value.hint == "did you mean `learning_rate`?"


@pytest.mark.parametrize(
    ("override", "hint"),
    [
        ("precision=bf16", "its keys: precision.name, precision.loss_scale"),
        ("loop.precision=bf16", "its keys: precision.name, precision.loss_scale"),
        ("loop.learning_rate=1", "did you mean `optimizer.learning_rate`?"),
        ("loop.name=crnn", "known: batch, seed"),
    ],
)
def test_a_key_in_the_wrong_place_is_told_where_it_belongs(override: str, hint: str) -> None:
    with pytest.raises(RecipeError) as told:
        read_recipe("crnn_small", [override])
    assert hint in told.value.hint


def test_a_file_of_notepad_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'\xef\xbb\xbfbase = "crnn_small"\r\n[loop]\r\nbatch = 8\r\n')
    assert read_recipe(path).loop.batch == 8


def test_a_file_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes('name = "übung"\n'.encode("latin-1"))
    with pytest.raises(RecipeError, match="is not UTF-8 text") as caught:
        read_recipe(path)
    assert caught.value.hint == "save the file as UTF-8"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("loop.batc=3", "unknown key `batc`"),
        ("lop.batch=3", "unknown section `lop`"),
        ("batch=many", "--set loop.batch must be a whole number"),
        ("batch=1.5", "must be a whole number"),
        ("batch=true", "must be a whole number"),
        ("optimizer.name=adan", "cannot be `adan`"),
        ("name=crnn", "is a key of"),
        ("batch", "not of the form key=value"),
        ("batch=0", "loop.batch must be at least 1"),
        ("optimizer.accumulation=3", "must divide loop.batch"),
        ("task.alphabet=aa", "has a character twice"),
        ("picture.width=30", "multiple of 4"),
        ("precision.loss_scale=dynamic", "must be `none` unless"),
        ("network.dropout=2", "network.dropout must be from 0 to 1"),
        ("network.hidden=0", "network.hidden must be a number of 1 or more"),
        ("network.channels=[0, 4, 8, 8, 8, 8, 8]", "network.channels must be at least 1"),
        ("loop.seed=-1", "loop.seed must be from 0"),
        ("loop.patience=-1", "loop.patience must be a number of 0 or more"),
        ("loop.average=1.5", "loop.average must be from 0 to 1"),
        ("optimizer.learning_rate=nan", "optimizer.learning_rate must be positive"),
        ("optimizer.learning_rate=inf", "optimizer.learning_rate must be positive"),
        ("optimizer.betas=[1.5, 0.9]", "two numbers of 0 or more, below 1"),
        ("optimizer.momentum=0", "nesterov needs an optimizer.momentum"),
        ("optimizer.weight_decay=-1", "optimizer.weight_decay must be a number of 0 or more"),
        ("optimizer.clip_norm=inf", "optimizer.clip_norm must be a number of 0 or more"),
        ("augment.noise=nan", "augment.noise must be from 0 to 1"),
    ],
)
def test_values_that_cannot_be_used_are_refused(override: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read_recipe("crnn", [override])


def test_a_key_of_one_section_needs_no_section() -> None:
    assert read_recipe("crnn", ["batch=8"]).loop.batch == 8


def test_an_unknown_recipe_names_the_known_ones() -> None:
    with pytest.raises(RecipeError, match=r"there are: .*crnn") as caught:
        read_recipe("crn")
    assert "did you mean `crnn`?" in caught.value.hint


@pytest.mark.parametrize("name", ["../crnn", "recipes/../crnn"])
def test_a_recipe_name_cannot_leave_its_folder(name: str) -> None:
    with pytest.raises(RecipeError, match="no recipe called"):
        read_recipe(name)


def test_text_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("[loop\nbatch = 3")
    with pytest.raises(RecipeError, match="is not TOML"):
        read_recipe(path)


def test_bases_in_a_circle_are_told(tmp_path: Path) -> None:
    path = tmp_path / "circle.toml"
    path.write_text(f'base = "{path}"\n')
    with pytest.raises(RecipeError, match="circle"):
        read_recipe(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "crnn"\nloop = 3\n', "must be a section"),
        ("base = 5\n", "`base` in .* must be a name"),
    ],
)
def test_a_recipe_of_the_wrong_shape_is_told(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=message):
        read_recipe(path)


def test_differences_are_listed_by_key() -> None:
    changed = read_recipe("crnn", ["batch=8"])
    assert recipe_differences(read_recipe("crnn"), changed) == {"loop.batch": (64, 8)}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("network.size=51", "must be one of 18, 34, 50, 101, 152, 200"),
        ("network.version=3", "must be 1 or 2"),
        ("network.hidden=3", "unknown key `hidden`"),
        ("network.name=crnn", "cannot be `crnn`"),
        ("picture.evaluation_size=200", "must be at least picture.height"),
        ("picture.mean=[1, 2]", "must be three numbers"),
        ("picture.deviation=[1, 0, 1]", "must be positive"),
        ("picture.least_aspect=2", "at most picture.most_aspect"),
        ("schedule.factors=[1]", "one value more"),
        ("task.label_smoothing=1.5", "must be from 0 to 1"),
        ("task.classes_from=recipe", "task.classes is empty"),
    ],
)
def test_values_that_a_picture_network_cannot_have_are_refused(override: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read_recipe("resnet50", [override])


@pytest.mark.parametrize(
    ("recipe", "override", "message"),
    [
        ("hrnet_w18", "picture.height=200", "multiples of 32"),
        ("hrnet_w18", "network.head=30", "multiple of 4"),
        ("densenet121", "picture.width=62", "at least 63"),
        ("densenet121", "network.size=122", "one of 121, 169, 201"),
    ],
)
def test_each_network_knows_its_own_limits(recipe: str, override: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read_recipe(recipe, [override])


def test_steps_take_the_place_of_epochs_and_the_other_way_round() -> None:
    in_steps = read_recipe("resnet50", ["schedule.steps=100", "loop.evaluate_every=7"])
    assert (in_steps.schedule.steps, in_steps.schedule.epochs) == (100, 0)
    assert (in_steps.loop.evaluate_every, in_steps.loop.evaluate_epochs) == (7, 0)
    assert in_steps.schedule.warmup_epochs == 5
    assert read_recipe("resnet50", ["schedule.steps=100", "epochs=3"]).schedule.epochs == 3


def test_a_recipe_with_another_network_keeps_nothing_of_the_sizes_of_its_base(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "resnet50_photos"\n[network]\nname = "hrnet"\nwidth = 32\n')
    recipe = read_recipe(path)
    assert recipe.network == HRNetRecipe(width=32)
    assert recipe.optimizer == read_recipe("resnet50_photos").optimizer

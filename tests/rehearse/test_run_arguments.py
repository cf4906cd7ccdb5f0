"""Arguments and PYTHONPATH lead into the copy; ranks find the environment of the device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainferry.rehearse.prepare.arguments import move_arguments
from trainferry.rehearse.prepare.rank_environment import (
    move_python_path,
    rank_environment,
    write_rank_table,
)

PROJECT, ORIGINAL, COPY = (
    Path("/nowhere/me/project"),
    Path("/nowhere/me/old"),
    Path("/nowhere/run/copy"),
)


def moved(*arguments: str) -> list[str]:
    return move_arguments(arguments, [PROJECT, ORIGINAL], COPY, lambda path: path)[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--steps=10", "--steps=10"),
        ("run", "run"),
        ("data/train", "data/train"),
        ("/nowhere/me/project/data", "/nowhere/run/copy/data"),
        ("--data=/nowhere/me/project/data", "--data=/nowhere/run/copy/data"),
        ("/nowhere/me/old/data", "/nowhere/run/copy/data"),
        ("/nowhere/me/project2/data", "/nowhere/me/project2/data"),
        ("a=b/nowhere/me/project", "a=b/nowhere/me/project"),
        ("../nothing-here", "../nothing-here"),
        ("", ""),
        ("-", "-"),
        ("--", "--"),
    ],
)
def test_paths_into_the_project_lead_into_the_copy(given: str, expected: str) -> None:
    assert moved(given) == [expected]


def test_a_neighbour_of_the_project_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    arguments, notes = move_arguments(
        ["--data", "../data"], [tmp_path / "project"], tmp_path / "copy", lambda path: path
    )
    assert arguments == ["--data", str(tmp_path / "data")]
    assert len(notes) == 1


@pytest.mark.parametrize("given", ["--out={}/new", "{}/new/deeper"])
def test_what_is_not_there_yet_is_written_beside_the_copy(given: str, tmp_path: Path) -> None:
    project, copy = tmp_path / "project", tmp_path / "run" / "migrated" / "project"
    project.mkdir()
    (moved,), notes = move_arguments([given.format(tmp_path)], [project], copy, lambda path: path)
    beside = copy.parent / "written"
    assert moved.rpartition("=")[2].startswith(f"{beside}{tmp_path}/new")
    assert Path(f"{beside}{tmp_path}").is_dir()
    assert not Path(f"{beside}{tmp_path}/new").exists()
    assert len(notes) == 1


@pytest.mark.parametrize(
    "given",
    ["{}/model.ckpt", "{}/train-*", "{}/part-%05d", "/nowhere/at/all", "../new", "{}/a,{}/b"],
)
def test_names_that_begin_or_stand_for_others_stay(given: str, tmp_path: Path) -> None:
    (tmp_path / "model.ckpt.index").touch()
    argument = given.format(tmp_path, tmp_path)
    moved = move_arguments([argument], [PROJECT], tmp_path / "copy", lambda path: path)
    assert moved == ([argument], [])


def test_a_path_that_is_only_where_the_user_stands_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.txt").touch()
    monkeypatch.chdir(tmp_path)
    given = ["--words=data/words.txt", "data", "nothing/here"]
    arguments, notes = move_arguments(given, [PROJECT], COPY, lambda path: path)
    assert arguments == given
    assert len(notes) == 1
    assert notes[0].startswith("data/words.txt is here, but not in the project")


def test_data_elsewhere_can_be_put_somewhere_better(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    arguments, notes = move_arguments(
        [f"--data={tmp_path}/data", "--name=x"], [PROJECT], COPY, lambda _: Path("/cut")
    )
    assert arguments == ["--data=/cut", "--name=x"]
    assert notes == [f"{tmp_path}/data is /cut in this run"]


def test_the_python_path_leads_into_the_copy_too() -> None:
    value = move_python_path(
        ".:/nowhere/me/project/lib:/nowhere/me/old:/else", [PROJECT, ORIGINAL], COPY
    )
    assert value == ".:/nowhere/run/copy/lib:/nowhere/run/copy:/else"


def test_a_rank_table_has_eight_devices_a_server(tmp_path: Path) -> None:
    table = json.loads(write_rank_table(tmp_path / "table.json", 10).read_text())
    assert (table["version"], table["server_count"], table["status"]) == ("1.0", "2", "completed")
    ranks = [
        int(device["rank_id"]) for server in table["server_list"] for device in server["device"]
    ]
    assert ranks == list(range(10))
    assert len(table["server_list"][0]["device"]) == 8


def test_a_rank_knows_itself_by_the_table(tmp_path: Path) -> None:
    variables = rank_environment(9, 10, table=tmp_path / "table.json")
    assert variables["RANK_ID"] == "9"
    assert variables["RANK_SIZE"] == "10"
    assert variables["ASCEND_DEVICE_ID"] == "1"
    assert variables["RANK_TABLE_FILE"] == str(tmp_path / "table.json")
    assert not [name for name in variables if name.startswith("CM_")]


def test_a_chief_in_the_environment_excludes_the_table() -> None:
    variables = rank_environment(1, 2, cluster="cm")
    assert variables["CM_WORKER_SIZE"] == "2"
    assert not {"RANK_SIZE", "RANK_ID", "RANK_TABLE_FILE"} & set(variables)
    assert variables["TRAINFERRY_RANK"] == "1"


def test_a_single_rank_has_a_job_and_no_table() -> None:
    variables = rank_environment(0, 1)
    assert variables["JOB_ID"]
    assert "RANK_TABLE_FILE" not in variables

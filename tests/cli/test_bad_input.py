"""Bad input through the command line: a clear error or a counted skip, and nothing is lost."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tests.train.cases import CASES, TinyCase
from tests.train.run_folder import make_run
from tests.train.word_data import TINY, draw_word, make_word_data, word_record
from trainferry.cli.main import main
from trainferry.train.checkpoint import (
    Checkpoint,
    find_checkpoint,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from trainferry.train.data.example import build_example
from trainferry.train.data.tfrecord import RecordFile, write_records

SETS = [part for override in TINY for part in ("--set", override)]


@dataclass(frozen=True)
class Told:
    """How a command ended and what it wrote to the two streams."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> bool:
        """Say whether it is an error with a hint, in these words, and no result."""
        clear = "error: " in self.err and "hint: " in self.err and "Traceback" not in self.err
        return self.code == 1 and clear and not self.out and all(w in self.err for w in words)


Ferry = Callable[..., Told]


@pytest.fixture
def ferry(capsys: pytest.CaptureFixture[str]) -> Ferry:
    """The command `trainferry`."""

    def call(*arguments: object) -> Told:
        capsys.readouterr()
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as wrong_usage:
            code = int(wrong_usage.code or 0)
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return call


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_word_data(tmp_path_factory.mktemp("words"), train=24, val=8)


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(train_command(data, folder)) == 0
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


# Words, photographs and signs: what is told of bad input does not depend on the network.
KINDS = (CASES[0], CASES[1], CASES[-1])


@pytest.fixture(scope="module", params=KINDS, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> TinyCase:
    found: TinyCase = request.param
    return found


@pytest.fixture(scope="module")
def case_data(case: TinyCase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return case.make_data(tmp_path_factory.mktemp(case.name))


@pytest.fixture(scope="module")
def case_trained(case: TinyCase, case_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    assert main(case_command(case, case_data, folder)) == 0
    return folder


@pytest.fixture
def case_run(case_trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(case_trained, tmp_path / "run"))


def case_command(case: TinyCase, data: Path, run: Path, *more: str) -> list[str]:
    sets = [part for override in case.sets for part in ("--set", override)]
    return ["train", case.recipe_name, "--data", str(data), "--run", str(run), *sets, *more]


def train_command(data: Path, run: Path, *more: str) -> list[str]:
    return ["train", "crnn_small", "--data", str(data), "--run", str(run), *SETS, *more]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder; what is kept beside records to save time does not count."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in (".index", ".labels") and path.name != ".lock"
    }


def training_files(data: Path) -> list[Path]:
    names = [path for path in data.rglob("train*") if path.is_file()]
    return [path for path in names if path.suffix not in (".index", ".labels")]


def words_file(folder: Path, records: Sequence[bytes], split: str = "train") -> Path:
    write_records(folder / f"{split}_1.tfrecords", records)
    return folder


# Records


def cut(content: bytes, _: Sequence[int]) -> bytes:
    return content[:-20]


def flip_in_data(content: bytes, offsets: Sequence[int]) -> bytes:
    return flip(content, offsets[5] + 40)


def flip_in_length(content: bytes, offsets: Sequence[int]) -> bytes:
    return flip(content, offsets[5] + 1)


def flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [cut, flip_in_data, flip_in_length])
def test_a_damaged_record_is_counted_and_the_others_are_trained_on(
    damage: Callable[[bytes, Sequence[int]], bytes], data: Path, tmp_path: Path, ferry: Ferry
) -> None:
    source = data / "tfrecords" / "train_1.tfrecords"
    file = tmp_path / "data" / "train_1.tfrecords"
    file.parent.mkdir()
    offsets = [int(offset) for offset in RecordFile(source).offsets]
    file.write_bytes(damage(source.read_bytes(), offsets))
    before = contents(tmp_path / "data")

    checked = ferry("data", "check", tmp_path / "data", "--json", "--processes", 1)
    assert checked.code == 0
    facts = json.loads(checked.out)
    assert (facts["kept"], facts["dropped"]["corrupt_record"]) == (23, 1)

    told = ferry(*train_command(tmp_path / "data", tmp_path / "run"))
    assert told.code == 0
    assert "kept 23 of 24 records" in told.err
    assert "dropped 1  corrupt_record" in told.err
    assert contents(tmp_path / "data") == before


def test_damaged_records_are_left_out_of_scores_and_told(
    data: Path, run: Path, tmp_path: Path, ferry: Ferry
) -> None:
    source = data / "tfrecords" / "val_1.tfrecords"
    content = source.read_bytes()
    place = int(RecordFile(source).offsets[2]) + 40
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "val_1.tfrecords").write_bytes(flip(content, place)[:-20])
    told = ferry("evaluate", run, "--data", tmp_path / "data", "--json")
    assert told.code == 0
    (row,) = json.loads(told.out)["rows"]
    assert (row["samples"], row["unreadable"]) == (6, 2)
    assert "2 samples could not be read" in told.err


def test_scores_as_json_show_characters_as_they_are(tmp_path: Path, ferry: Ferry) -> None:
    run = make_run(tmp_path / "run", "task.alphabet=渡口码头")
    write_records(tmp_path / "val_1.tfrecords", [word_record("渡口", draw_word("x"))])
    told = ferry("evaluate", run, "--data", tmp_path, "--json", "--device", "cpu")
    assert '"truth": "渡口"' in told.out
    assert json.loads(told.out)["protocol"] == "exact"


def zip_archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word.txt", "ferry" * 100)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zip_archive(), "looks like a ZIP archive"),
        (b"\xff\xd8\xff\xe0" + bytes(range(256)), "looks like a JPEG picture"),
        (b"file,text\na.jpg,ferry\n" * 20, "looks like text"),
        (b"", "hold no records"),
    ],
    ids=["zip", "jpeg", "text", "empty"],
)
def test_a_file_of_another_kind_is_refused(
    content: bytes, words: str, case: TinyCase, case_data: Path, tmp_path: Path, ferry: Ferry
) -> None:
    data = tmp_path / "data"
    shutil.copytree(case_data, data)
    for file in training_files(data):
        file.write_bytes(content)
    before = contents(data)
    assert ferry(*case_command(case, data, tmp_path / "run")).refused(words)
    assert not (tmp_path / "run").exists()
    assert contents(data) == before


def test_records_that_hold_no_words_are_refused(tmp_path: Path, ferry: Ferry) -> None:
    photograph = build_example({"image/encoded": draw_word("x"), "image/class/label": 7})
    words_file(tmp_path, [photograph] * 3)
    check = ["data", "check", tmp_path, "--recipe", "crnn"]
    for command in (check, train_command(tmp_path, tmp_path / "run")):
        told = ferry(*command)
        assert told.refused("does not hold words", "`image/class/label`", "`image/text`")


def test_words_are_not_trained_on_as_photographs(data: Path, tmp_path: Path, ferry: Ferry) -> None:
    told = ferry("train", "resnet50_photos", "--data", data, "--run", tmp_path / "run")
    assert told.refused("without a class label", "such as crnn_small for words")


def test_unknown_characters_are_counted(tmp_path: Path, ferry: Ferry) -> None:
    words_file(tmp_path / "data", [word_record(text) for text in ("ab", "cd", "né", "0a") * 4])
    told = ferry(*train_command(tmp_path / "data", tmp_path / "run"))
    assert told.code == 0
    assert "dropped 4  unknown_character" in told.err
    assert "'né'" in told.err
    assert "-> take the characters from the labels" in told.err


@pytest.mark.parametrize("case", ["lower", "keep"])
def test_the_advice_for_unknown_characters_names_the_case_of_the_recipe(
    case: str, tmp_path: Path, ferry: Ferry
) -> None:
    words_file(tmp_path / "data", [word_record(text) for text in ("Éa", "ab")])
    command = ["data", "check", tmp_path / "data", "--recipe", "crnn_small"]
    told = ferry(*command, "--set", f"task.case={case}")
    assert f"`trainferry data alphabet DATA --case {case}`" in told.out


def test_characters_that_nobody_sees_are_told(tmp_path: Path, ferry: Ferry) -> None:
    words_file(
        tmp_path / "data", [word_record(text) for text in ("渡\u200b口", "码\u3000头", "a b")]
    )
    assert "\n ab<U+200B><U+3000>口" in ferry("data", "alphabet", tmp_path / "data").out
    told = ferry("data", "check", tmp_path / "data", "--recipe", "crnn_cn")
    assert "that nobody sees, learnt like any other: <U+200B> (1), <U+3000> (1);" in told.out
    words_file(tmp_path / "plain", [word_record("渡口 a")])
    ferry("data", "alphabet", tmp_path / "plain")
    told = ferry("data", "check", tmp_path / "plain", "--recipe", "crnn_cn")
    assert "nobody sees" not in told.out


def test_what_is_advised_for_unknown_characters_keeps_every_word(
    tmp_path: Path, ferry: Ferry
) -> None:
    words_file(tmp_path / "data", [word_record(text) for text in ("Éa", "ab", "né") * 4])
    command = ["data", "check", tmp_path / "data", "--recipe", "crnn_small", "--json"]
    assert json.loads(ferry(*command).out)["kept"] == 4
    early = ferry(*command, "--set", "task.alphabet_from=data")
    assert early.code == 1
    assert f"`trainferry data alphabet {tmp_path / 'data'} --case lower`" in early.err
    assert ferry("data", "alphabet", tmp_path / "data", "--case", "lower").code == 0
    found = json.loads(ferry(*command, "--set", "task.alphabet_from=data").out)
    assert (found["kept"], found["total"]) == (12, 12)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["né", "ö", "ab"], "a character that is not in the alphabet"),
        (["a" * 24, "aa" * 9, "ab"], "too long for the columns"),
        (["", "", "ab"], "2 have an empty label"),
    ],
    ids=["unknown", "too_long", "empty"],
)
def test_nearly_nothing_to_train_on_is_refused_with_the_main_reason(
    texts: list[str], words: str, tmp_path: Path, ferry: Ferry
) -> None:
    words_file(tmp_path / "data", [word_record(text, draw_word("x")) for text in texts])
    told = ferry(*train_command(tmp_path / "data", tmp_path / "run"))
    assert told.refused("only 1 of 3 records can be used", words)
    assert not (tmp_path / "run").exists()


def test_missing_data_is_told(case: TinyCase, case_run: Path, tmp_path: Path, ferry: Ferry) -> None:
    nowhere = tmp_path / "nowhere"
    for command in (
        case_command(case, nowhere, tmp_path / "new"),
        ["evaluate", case_run, "--data", nowhere],
        ["export", case_run, "--to", tmp_path / "a.onnx", "--data", nowhere],
        ["data", "check", nowhere],
        ["data", "unpack", nowhere, "--to", tmp_path / "back"],
    ):
        assert ferry(*command).refused("there is no such folder"), command
    assert not (tmp_path / "new").exists()


# Pictures


def test_a_file_that_is_no_picture_is_told_and_the_others_are_read(
    case_run: Path, tmp_path: Path, ferry: Ferry
) -> None:
    (tmp_path / "a.png").write_bytes(draw_word("ab"))
    (tmp_path / "b.png").write_bytes(b"no picture")
    (tmp_path / "c.png").write_bytes(draw_word("cd")[:100])
    names = [tmp_path / f"{name}.png" for name in "abcd"]
    told = ferry("predict", case_run, *names)
    assert told.code == 1
    assert [line.split("\t")[0] for line in told.out.splitlines()] == [str(names[0])]
    assert "3 of 4 pictures could not be read" in told.err


def test_pictures_that_are_none_are_counted_while_training(tmp_path: Path, ferry: Ferry) -> None:
    records = [word_record("ab", b"none") if n % 4 == 0 else word_record("cd") for n in range(16)]
    words_file(tmp_path / "data", records)
    words_file(tmp_path / "data", records, "val")
    told = ferry(*train_command(tmp_path / "data", tmp_path / "run"))
    assert told.code == 0
    assert "10 samples could not be read" in told.err
    assert "12 samples, 4 could not be read" in told.err


def test_a_list_cannot_name_files_outside_its_folder(tmp_path: Path, ferry: Ferry) -> None:
    source = tmp_path / "pictures"
    source.mkdir()
    (tmp_path / "secret.png").write_bytes(draw_word("secret"))
    (source / "a.png").write_bytes(draw_word("ab"))
    (source / "gt.tsv").write_text("../../etc/passwd\troot\n../secret.png\tx\na.png\tab\n")
    told = ferry("data", "folder", source, "--to", tmp_path / "records", "--processes", 1)
    assert told.code == 0
    assert "wrote 1 word to 1 record file\n" in told.out
    assert "2  path outside the folder" in told.out


def test_a_record_cannot_be_unpacked_outside_its_folder(tmp_path: Path, ferry: Ferry) -> None:
    names = ["../../evil.png", "/etc/evil.png", "..\\..\\evil.png", ".."]
    records = [
        build_example({"image/encoded": draw_word("x"), "image/text": "x", "image/path": name})
        for name in names
    ]
    words_file(tmp_path / "records", records)
    told = ferry("data", "unpack", tmp_path / "records", "--to", tmp_path / "a" / "back")
    assert told.code == 0
    written = list(tmp_path.rglob("*.png"))
    assert len(written) == len(names)
    assert all(path.is_relative_to(tmp_path / "a" / "back") for path in written)


# Checkpoints


@pytest.mark.parametrize("name", ["checkpoint.json", "weights.safetensors", "training.safetensors"])
def test_a_cut_checkpoint_is_refused_by_every_command(
    name: str, case: TinyCase, case_data: Path, case_run: Path, tmp_path: Path, ferry: Ferry
) -> None:
    picture, run = tmp_path / "a.png", case_run
    picture.write_bytes(draw_word("ab"))
    commands = [case_command(case, case_data, run)]
    if name != "training.safetensors":
        commands += [
            ["evaluate", str(run), "--data", str(case_data), "--checkpoint", "last"],
            ["export", str(run), "--to", str(tmp_path / "a.onnx"), "--checkpoint", "last"],
            ["predict", str(run), str(picture), "--checkpoint", "last"],
        ]
    file = find_checkpoint(run, "last") / name
    whole = file.read_bytes()
    every = (0, 1, 8, 100, len(whole) // 2, len(whole) - 1)
    for place in every if case is KINDS[0] else every[::3]:
        file.write_bytes(whole[:place])
        before = contents(run)
        for command in commands:
            assert ferry(*command).refused(str(file), "is damaged", "remove the folder"), command
        assert contents(run) == before
    assert not (tmp_path / "a.onnx").exists()
    file.write_bytes(whole)
    assert ferry(*commands[0]).code == 0


def test_without_the_damaged_checkpoint_the_run_goes_on_to_the_same_weights(
    case: TinyCase, case_data: Path, case_run: Path, ferry: Ferry
) -> None:
    newest = find_checkpoint(case_run, "last")
    command = case_command(case, case_data, case_run)
    expected = load_checkpoint(newest).weights
    (newest / "weights.safetensors").write_bytes(b"")
    assert ferry(*command).refused(f"remove the folder `{newest}`")
    shutil.rmtree(newest)
    assert ferry(*command).code == 0
    found = load_checkpoint(newest).weights
    assert [name for name in expected if not torch.equal(expected[name], found[name])] == []


class Harm:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


def harmful_files(mark: Path) -> Iterator[bytes]:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps(Harm(mark), protocol)
    for zipped in (True, False):
        file = io.BytesIO()
        torch.save({"weights": Harm(mark)}, file, _use_new_zipfile_serialization=zipped)
        yield file.getvalue()


def test_a_pickle_is_never_opened(data: Path, run: Path, tmp_path: Path, ferry: Ferry) -> None:
    picture, mark = tmp_path / "a.png", tmp_path / "mark"
    picture.write_bytes(draw_word("ab"))
    last = find_checkpoint(run, "last")
    for content in harmful_files(mark):
        (last / "weights.safetensors").write_bytes(content)
        facts = json.loads((last / "checkpoint.json").read_text())
        digest = hashlib.sha256(content).hexdigest()
        facts["files"]["weights.safetensors"] = {"bytes": len(content), "sha256": digest}
        (last / "checkpoint.json").write_text(json.dumps(facts))
        assert ferry(*train_command(data, run)).refused("weights.safetensors")
        told = ferry("predict", run, picture, "--checkpoint", "last")
        assert told.refused("weights.safetensors")
    assert not mark.exists()
    assert told.refused("is a pickle (torch.save)", "convert it to .safetensors")


def test_training_does_not_start_from_a_pickle(data: Path, tmp_path: Path, ferry: Ferry) -> None:
    mark = tmp_path / "mark"
    for number, content in enumerate(harmful_files(mark)):
        file = tmp_path / f"{number}.pth"
        file.write_bytes(content)
        command = train_command(data, tmp_path / "run", "--init-from", str(file))
        assert ferry(*command).refused(file.name)
    assert not mark.exists()


def test_a_file_that_is_not_ours_is_not_read_with(tmp_path: Path, ferry: Ferry) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    (tmp_path / "a.png").write_bytes(draw_word("ab"))
    one = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    two = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Abs", ["x"], ["y"])], "g", [one], [two])
    opset = onnx.helper.make_opsetid("", 15)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    (tmp_path / "other.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "text.onnx").write_text("no network at all")
    for name in ("other.onnx", "text.onnx", "missing.onnx"):
        assert ferry("predict", tmp_path / name, tmp_path / "a.png").refused(name)


# A full disk


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to write more, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 20_000, 40_000], ids=["nothing", "part", "first-file"])
def test_a_disk_that_fills_up_while_saving_costs_no_checkpoint(
    room: int,
    case: TinyCase,
    case_data: Path,
    case_trained: Path,
    tmp_path: Path,
    ferry: Ferry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def save(folder: Path, checkpoint: Checkpoint) -> Path:
        if checkpoint.step < 15:
            return save_checkpoint(folder, checkpoint)
        with files_of_at_most(room):
            return save_checkpoint(folder, checkpoint)

    run = tmp_path / "run"
    command = case_command(case, case_data, run)
    with monkeypatch.context() as patch:
        patch.setattr("trainferry.train.loop.save_checkpoint", save)
        told = ferry(*command)
    assert told.refused("the checkpoint of step 15 could not be written", "free some space")
    assert [path.name for path in (run / "checkpoints").iterdir()] == [
        path.name for path in list_checkpoints(run)
    ]
    assert load_checkpoint(find_checkpoint(run, "last")).step == 10

    assert ferry(*command).code == 0
    assert_same_end(run, case_trained)


def test_a_really_full_disk_costs_no_checkpoint(
    data: Path, trained: Path, tmp_path: Path, ferry: Ferry
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, "230k") as enlarge:
        told = ferry(*train_command(data, disk / "run", "--set", "loop.keep=5"))
        assert told.refused("free some space")
        assert "no space left" in told.err.lower()
        saved = list_checkpoints(disk / "run")
        assert saved
        assert [load_checkpoint(path).step for path in saved] == [5, 10][: len(saved)]
        assert list((disk / "run" / "checkpoints").glob("*.partial")) == []

        enlarge("20m")
        assert ferry(*train_command(data, disk / "run", "--set", "loop.keep=5")).code == 0
        assert_same_end(disk / "run", trained)


def test_a_full_disk_leaves_no_part_of_rendered_words(tmp_path: Path, ferry: Ferry) -> None:
    pytest.importorskip("cv2")
    command = ["data", "words", "--count", 40, "--to", tmp_path / "words", "--processes", 1]
    with files_of_at_most(10_000):
        told = ferry(*command)
    assert told.refused("no space left while writing")
    assert contents(tmp_path) == {}
    assert ferry(*command).code == 0


def test_a_full_disk_leaves_no_part_of_an_export(
    case_run: Path, tmp_path: Path, ferry: Ferry
) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "a.onnx").write_bytes(b"the export before")
    (tmp_path / "a.png").write_bytes(draw_word("ab"))
    before = contents(tmp_path)
    with files_of_at_most(5_000):
        to, picture = tmp_path / "a.onnx", tmp_path / "a.png"
        told = ferry("export", case_run, "--to", to, "--pictures", picture)
    assert told.refused("no space left while writing")
    assert contents(tmp_path) == before


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], object]]:
    def mount(*options: str) -> int:
        command = ["mount", *options, str(folder)]
        try:
            return subprocess.run(command, check=False, capture_output=True).returncode
        except FileNotFoundError:
            return 1

    if mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs"):
        pytest.skip("mounting a small disk is not allowed here")
    try:
        yield lambda larger: mount("-o", f"remount,size={larger}")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def assert_same_end(one: Path, other: Path) -> None:
    left, right = (load_checkpoint(find_checkpoint(folder, "last")) for folder in (one, other))
    assert left.step == right.step == 20
    weights = left.weights
    assert [name for name in weights if not torch.equal(weights[name], right.weights[name])] == []


# Recipes, folders, devices, commands


def test_a_misspelt_key_is_told_with_the_right_one(
    data: Path, tmp_path: Path, ferry: Ferry
) -> None:
    (tmp_path / "mine.toml").write_text('base = "crnn_small"\n[network]\nhiden = 8\n')
    command = ["train", tmp_path / "mine.toml", "--data", data, "--run", tmp_path / "run"]
    assert ferry(*command).refused("hiden", "did you mean `hidden`?")
    told = ferry(*train_command(data, tmp_path / "run", "--set", "network.hiden=9"))
    assert told.refused("hiden", "did you mean `hidden`?")
    assert ferry("train", "crn", *command[2:]).refused("no recipe called `crn`", "`crnn`")
    assert not (tmp_path / "run").exists()


def test_a_run_of_another_recipe_is_not_touched(
    case: TinyCase, case_data: Path, case_run: Path, ferry: Ferry
) -> None:
    before = contents(case_run)
    told = ferry(*case_command(case, case_data, case_run, "--set", "network.norm_decay=0.5"))
    assert told.refused("network.norm_decay was 0.9, is 0.5")
    assert contents(case_run) == before


def test_a_start_that_failed_binds_its_folder_to_no_recipe(
    data: Path, tmp_path: Path, ferry: Ferry
) -> None:
    folder = tmp_path / "run"
    told = ferry(*train_command(data, folder, "--init-from", str(tmp_path / "nothing")))
    assert told.refused("nothing")
    assert ferry(*train_command(data, folder, "--set", "loop.seed=5")).code == 0
    assert "seed = 5" in (folder / "recipe.toml").read_text()


def test_a_run_without_a_checkpoint_says_that_nothing_is_lost_with_it(
    data: Path, run: Path, ferry: Ferry
) -> None:
    other = train_command(data, run, "--set", "loop.seed=5")
    assert "delete it" not in ferry(*other).err
    shutil.rmtree(run / "checkpoints")
    assert ferry(*other).refused("loop.seed was", "or delete it, for it has no checkpoint")


def test_a_folder_with_other_files_is_not_touched(data: Path, tmp_path: Path, ferry: Ferry) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    (tmp_path / "file").write_text("precious")
    told = ferry(*train_command(data, tmp_path / "mine"))
    assert told.refused("is not empty and holds no run")
    told = ferry(*train_command(data, tmp_path / "file"))
    assert told.refused("file` is a file, and a run needs a folder", "give a new folder")
    told = ferry("data", "unpack", data, "--to", tmp_path / "mine")
    assert told.refused("exists and is not empty")
    assert contents(tmp_path) == {"mine/thesis.tex": b"precious", "file": b"precious"}


def test_two_processes_cannot_train_one_run(data: Path, run: Path, ferry: Ferry) -> None:
    holding = (
        "import fcntl, sys; file = open(sys.argv[1], 'ab'); fcntl.lockf(file, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(run / ".lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        before = contents(run)
        assert ferry(*train_command(data, run)).refused("another process is training in")
        assert contents(run) == before
        other.communicate()
    assert ferry(*train_command(data, run)).code == 0


def test_a_device_that_is_not_there_is_never_replaced(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trainferry"]
    command += train_command(data, tmp_path / "run", "--device", "npu")
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode == 0:
        pytest.skip("there is an NPU")
    assert Told(told.returncode, told.stdout, told.stderr).refused("npu")
    assert "device: cpu" not in told.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_run_is_said_to_be_none(data: Path, ferry: Ferry) -> None:
    for command in (
        ["evaluate", data, "--data", data],
        ["export", data, "--to", "a.onnx"],
        ["predict", data, data / "a.png"],
    ):
        assert ferry(*command).refused("holds no checkpoint")
        missing = [data / "nothing" if part == data else part for part in command]
        assert ferry(*missing).refused(f"there is no folder `{data / 'nothing'}`")


def test_a_checkpoint_of_another_network_is_told(run: Path, tmp_path: Path, ferry: Ferry) -> None:
    other = make_run(tmp_path / "other", "network.hidden=16", step=20)
    shutil.copy(other / "recipe.toml", run / "recipe.toml")
    (tmp_path / "a.png").write_bytes(draw_word("ab"))
    told = ferry("predict", run, tmp_path / "a.png", "--checkpoint", "last")
    assert told.refused("does not fit the network of its recipe")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trian"], "did you mean `train`?"),
        (["data", "wrods"], "did you mean `words`?"),
        (["data", "words", "--count", "0", "--to", "x"], "is not a whole number of 1 or more"),
        (["train", "crnn"], "--run"),
        (["evaluate", "run", "--data", "x", "--protocol", "none"], "choose one of"),
        (train_command(Path("x"), Path("y"), "--exclude", "a"), "there is no --init-from"),
        (["doctor", "--jsn"], "there is no option `--jsn`\n\nhint: did you mean `--json`?"),
        (["rules", "a", "b"], "`trainferry rules --help` shows"),
        ([], "quickstart"),
    ],
    ids=[
        *("command", "subcommand", "number", "missing", "protocol", "exclude"),
        *("option", "too many", "nothing"),
    ],
)
def test_wrong_usage_exits_with_two(arguments: list[str], words: str, ferry: Ferry) -> None:
    told = ferry(*arguments)
    assert (told.code, told.out) == (2, "")
    assert words in told.err

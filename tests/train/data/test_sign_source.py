"""Signs as batches: what is kept, replaced and masked; and the kind of run they make."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.train.sign_data import (
    LETTERS,
    LONGEST,
    SIDE,
    draw_sign,
    make_sign_data,
    sign_record,
    small_charset,
)
from trainferry.errors import DataError, RecordError, UsageError
from trainferry.train import signs
from trainferry.train.data.batches import Source, training_batches
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import encode_png
from trainferry.train.data.signs import check as sign_check
from trainferry.train.data.signs.charset import NULL_NAME, Charset, fsns_charset, write_charset
from trainferry.train.data.signs.check import SignCheck, check_signs, require_enough
from trainferry.train.data.signs.example import build_sign
from trainferry.train.data.signs.records import SignRecords
from trainferry.train.data.signs.source import SignSource
from trainferry.train.data.tfrecord import write_records
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.recipe.networks import AttentionOCRRecipe
from trainferry.train.recipe.sections import LoopRecipe, Recipe
from trainferry.train.recipe.tasks import SignAugment, SignPicture, SpellRecipe

CHARSET = small_charset()
PICTURE = encode_png(draw_sign("abc", 4, SIDE, 4))


def recipe(max_length: int = LONGEST, side: int = SIDE, views: int = 4) -> Recipe:
    return Recipe(
        "tiny",
        network=AttentionOCRRecipe(endpoint="MaxPool_3a_3x3", hidden=8),
        task=SpellRecipe(max_length=max_length),
        picture=SignPicture(views, side, side),
        augment=SignAugment(),
        loop=LoopRecipe(batch=4),
    )


def open_records(path: Path, length: int = 20) -> SignRecords:
    return SignRecords([path], CHARSET, views=4, height=SIDE, view_width=SIDE, length=length)


def write(folder: Path, *examples: bytes) -> SignRecords:
    path = folder / "train_1.tfrecords"
    write_records(path, examples)
    return open_records(path)


def source(records: SignRecords, max_length: int = LONGEST) -> SignSource:
    return SignSource(records, np.arange(len(records)), max_length)


def truncated(text: str) -> bytes:
    return build_sign(PICTURE[:300], text, CHARSET, 4, side=SIDE, length=LONGEST)


def places(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_a_training_batch_holds_views_codes_and_lengths(tmp_path: Path) -> None:
    found: Source = source(write(tmp_path, sign_record("abc"), sign_record("0 12'h", seed=1)))
    batch = found.training_batch(places(1, 0), places(0, 1), seed=0)
    assert batch.images.shape == (2, SIDE, 4 * SIDE, 3)
    assert batch.images.dtype == torch.uint8
    assert batch.labels.dtype == torch.int64
    assert [CHARSET.decode(codes) for codes in batch.labels.tolist()] == ["0 12'h", "abc"]
    assert batch.labels.shape == (2, LONGEST)
    assert batch.labels[1, 3:].tolist() == [CHARSET.null] * 3
    assert batch.lengths.tolist() == [6, 3]
    assert batch.valid.tolist() == [True, True]
    assert (batch.images[1].numpy() == found.shown(0)).all()
    assert found.label_text(0) == "abc"
    assert found.shown(1).shape == (SIDE, 4 * SIDE, 3)


def test_training_replaces_what_cannot_be_read_by_the_next(tmp_path: Path) -> None:
    found = source(write(tmp_path, sign_record("a"), truncated("b"), truncated("c")))
    batch = found.training_batch(places(1, 2, 0), places(0, 1, 2), seed=0)
    assert batch.positions.tolist() == [0, 0, 0]
    assert batch.valid.all()
    assert int(batch.skipped) == 2
    assert [CHARSET.decode(codes) for codes in batch.labels.tolist()] == ["a", "a", "a"]
    assert (batch.images[0] == batch.images[2]).all()


def test_training_ends_when_nothing_can_be_read(tmp_path: Path) -> None:
    found = source(write(tmp_path, truncated("a"), truncated("b")))
    with pytest.raises(DataError, match="2 samples in a row cannot be read") as caught:
        found.training_batch(places(0), places(0), seed=0)
    assert "data check" in caught.value.hint


def test_an_evaluation_masks_what_cannot_be_read(tmp_path: Path) -> None:
    found = source(write(tmp_path, sign_record("a"), truncated("b"), sign_record("c'")))
    batch = found.evaluation_batch(places(0, 1, 2), 5)
    assert batch.valid.tolist() == [True, False, True, False, False]
    assert int(batch.skipped) == 1
    assert batch.texts == ("a", "", "c'", "", "")
    assert batch.labels[3].tolist() == [CHARSET.null] * LONGEST
    assert len(batch.images) == 5


def test_a_text_longer_than_the_network_spells_is_cut_in_its_label_alone(tmp_path: Path) -> None:
    batch = source(write(tmp_path, sign_record("abcdefgh"))).evaluation_batch(places(0), 1)
    assert batch.labels.tolist() == [CHARSET.encode("abcdef")]
    assert batch.lengths.tolist() == [8]
    assert batch.texts == ("abcdefgh",)
    assert batch.valid.tolist() == [True]


def test_a_source_goes_to_other_processes(tmp_path: Path) -> None:
    found = source(write(tmp_path, sign_record("abc"), sign_record("d")))
    again = pickle.loads(pickle.dumps(found))
    batch = next(training_batches(again, batch=4, seed=1, start=0, workers=0, pinned=False))
    assert len(batch.images) == 4


def check(records: SignRecords, *, pictures: bool = False, max_length: int = LONGEST) -> SignCheck:
    return check_signs(records, max_length=max_length, pictures=pictures)


def bad_records(folder: Path) -> SignRecords:
    return write(
        folder,
        sign_record("abc"),
        sign_record("abcdefgh"),
        build_example({"image/encoded": PICTURE, "image/text": "xyz"}),
        build_example({"image/encoded": PICTURE, "image/class": [99], "image/text": "a"}),
        build_example({"image/text": "a"}),
        build_example({"image/encoded": PICTURE}),
        build_example({"image/encoded": PICTURE, "image/class": [1], "image/text": b"\xff"}),
        b"\xff no example",
        truncated("b"),
        build_sign(encode_png(draw_sign("a", 5, SIDE, 5)), "a", CHARSET, 4, side=SIDE),
        build_example({"image/encoded": PICTURE, "image/text": "a'b"}),
        sign_record(""),
    )


def test_every_record_is_kept_or_dropped_for_a_reason(tmp_path: Path) -> None:
    result = check(bad_records(tmp_path), pictures=True)
    assert result.kept.tolist() == [0, 10, 11]
    assert result.dropped == {
        "too_long": 1,
        "unknown_character": 2,
        "damaged_record": 4,
        "unreadable_picture": 2,
    }
    assert result.total == len(result.kept) + sum(result.dropped.values())
    summary = result.summary()
    assert "kept 3 of 12 records (25.0%)" in summary
    assert "8 characters; at most 6 are spelt" in summary
    assert "not in the charset: 'xyz'" in summary
    assert "the code 99; the charset has 15" in summary
    assert "texts: 0 to 3 characters" in summary
    assert "empty texts, where nothing is to be read: 1" in summary
    assert result.never_seen == " defgh0123"
    facts = json.loads(json.dumps(result.to_json()))
    assert (facts["total"], facts["kept"]) == (12, 3)
    assert facts["examples"]["too_long"][0]["label"] == "abcdefgh"


def test_without_pictures_bad_pictures_are_not_looked_at(tmp_path: Path) -> None:
    result = check(bad_records(tmp_path))
    assert result.dropped["unreadable_picture"] == 0
    assert result.kept.tolist() == [0, 8, 9, 10, 11]


def test_what_is_kept_can_be_filled(tmp_path: Path) -> None:
    records = bad_records(tmp_path)
    pictures = np.zeros((12, SIDE, 4 * SIDE, 3), np.uint8)
    codes = np.zeros((12, records.length), np.int64)
    texts = records.fill(pictures, codes, range(12))
    fit = [number for number, text in enumerate(texts) if text is not None]
    assert fit == [0, 1, 10, 11], "all that is kept, and the one that is too long"


def test_flipped_bits_and_cut_files_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "train_1.tfrecords"
    write_records(path, [sign_record(text) for text in ("a", "b", "c")])
    whole = bytearray(path.read_bytes())
    whole[200] ^= 1
    path.write_bytes(whole[:-5])
    records = open_records(path)
    assert check(records).kept.tolist() == [0, 1], "the picture's bytes are not looked at"
    result = check(records, pictures=True)
    assert result.kept.tolist() == [1]
    assert result.dropped["damaged_record"] == 2
    assert "does not match its checksum" in result.summary()


def test_too_few_signs_are_refused_with_the_main_reason(tmp_path: Path) -> None:
    result = check(write(tmp_path, *map(sign_record, ("a", "abcdefg", "hgfedcb", "bcdefgh"))))
    require_enough(result, 0.25)
    with pytest.raises(DataError, match=r"only 1 of 4 .* 3 have a text longer") as caught:
        require_enough(result, 0.5)
    assert "max_length" in caught.value.hint


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no records"):
        require_enough(check(write(tmp_path)), 0.0)


@pytest.mark.cluster
def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_sign_data(tmp_path / "data", train=20, val=0)
    paths = sorted((folder / "tfrecords").glob("train*.tfrecords"))
    records = SignRecords(paths, CHARSET, views=4, height=SIDE, view_width=SIDE)
    alone = check(records, max_length=3)
    monkeypatch.setattr(sign_check, "_CHUNK", 4)
    told: list[tuple[int, int]] = []
    both = check_signs(
        records, max_length=3, processes=2, progress=lambda done, total: told.append((done, total))
    )
    assert np.array_equal(both.kept, alone.kept)
    assert both.to_json() == alone.to_json()
    assert told[-1] == (20, 20)


def test_the_charset_of_the_data_goes_into_the_recipe(tmp_path: Path) -> None:
    whole = signs.complete(recipe(), make_sign_data(tmp_path / "data"))
    assert isinstance(whole.task, SpellRecipe)
    assert whole.task.charset == (*LETTERS[:-1], "\u2019'", "")
    assert whole.task.charset_from == "recipe"
    assert signs.complete(whole, tmp_path) is whole
    assert signs.charset_of(whole.task.charset).encode("b'\u2019 ") == [2, 13, 13, 0]


def test_the_charset_of_fsns_survives_the_recipe() -> None:
    theirs = fsns_charset()
    ours = signs.charset_of(signs.charset_entries(theirs))
    assert (ours.null, ours.classes) == (133, 134)
    for code in range(133):
        assert ours.decode([code]) == theirs.decode([code])
    for _, character in theirs.pairs:
        if character != NULL_NAME:
            assert ours.encode(character) == theirs.encode(character)


def test_without_data_the_characters_are_those_of_fsns() -> None:
    whole, note = signs.complete_without_data(recipe())
    assert isinstance(whole.task, SpellRecipe)
    assert len(whole.task.charset) == 134
    assert note is None


def test_data_without_a_charset_is_refused(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data", train=2, val=0)
    next(data.glob("charset*.txt")).unlink()
    with pytest.raises(DataError, match="no charset") as caught:
        signs.complete(recipe(), data)
    assert "charset_size=134.txt" in caught.value.hint


def test_a_broken_charset_in_a_recipe_is_refused() -> None:
    with pytest.raises(DataError, match="2 codes for <nul>"):
        signs.charset_of(("a", "", ""))


def test_a_run_is_made_of_its_data(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data")
    whole = signs.complete(recipe(), data)
    said: list[str] = []
    training = signs.training_source(whole, data, 0, said.append)
    validation = signs.evaluation_source(whole, data, "val", "exact")
    assert (len(training), len(validation)) == (16, 6)
    assert "kept 16 of 16" in said[0]
    assert signs.has_split(data, "val")
    assert not signs.has_split(data, "test")

    network, task = signs.build_network(whole), signs.build_task(whole, "exact")
    assert isinstance(network, AttentionOCR)
    batch = training.training_batch(np.arange(4), np.arange(4), seed=0)
    inputs, varied = task.vary(batch)
    logits = network(inputs, *task.hints(varied))
    assert logits.shape == (4, LONGEST, CHARSET.classes)
    task.losses(logits, varied).mean().backward()
    score = task.new_score()
    batch = validation.evaluation_batch(np.arange(6), 8)
    with torch.no_grad():
        score.add(network(task.inputs(batch.images)), batch)
    assert score.values()["samples"] == 6


@pytest.mark.slow
def test_a_network_that_is_told_the_texts_learns_them_by_heart(tmp_path: Path) -> None:
    torch.manual_seed(1)
    data = make_sign_data(tmp_path / "data", train=4, val=0)
    whole = signs.complete(recipe(), data)
    plain = dataclasses.replace(whole, augment=SignAugment(crop=0.0, colour=0.0))
    network, task = signs.build_network(plain), signs.build_task(plain, "exact")
    found = signs.training_source(plain, data, 0, lambda _: None)
    batch = found.training_batch(np.arange(4), np.arange(4), seed=0)
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(60):
        inputs, varied = task.vary(batch)
        loss = task.losses(network(inputs, *task.hints(varied)), varied).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        read = [reading.text for reading in task.read(network(inputs))]
    assert read == [found.label_text(number) for number in range(4)]


def test_five_views_are_refused(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data", views=5)
    whole = signs.complete(recipe(), data)
    with pytest.raises(RecordError, match="5 views; 4 views"):
        signs.training_source(whole, data, 0, lambda _: None)


def test_data_of_another_charset_is_refused(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data")
    other = Charset((*enumerate(LETTERS[::-1]), (len(LETTERS), NULL_NAME)))
    next(data.glob("charset*.txt")).unlink()
    write_charset(other, data)
    with pytest.raises(RecordError, match="do not say what its texts say"):
        signs.training_source(signs.complete(recipe(), data), data, 0, lambda _: None)


def test_texts_that_are_all_too_long_are_told_as_such(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data")
    whole = signs.complete(recipe(max_length=0), data)
    with pytest.raises(DataError, match="text longer than the network spells"):
        signs.training_source(whole, data, 0, lambda _: None)


def test_protocols_of_words_that_drop_samples_are_refused(tmp_path: Path) -> None:
    data = make_sign_data(tmp_path / "data")
    whole = signs.complete(recipe(), data)
    signs.evaluation_source(whole, data, "val", "alnum36")
    with pytest.raises(UsageError, match="zoo"):
        signs.evaluation_source(whole, data, "val", "zoo")


def test_made_up_signs_have_the_shapes_of_real_ones() -> None:
    whole, _ = signs.complete_without_data(recipe())
    made = signs.synthetic_source(whole, 100, 8)
    batch = made.training_batch(np.arange(4), np.arange(4), seed=0)
    assert batch.images.shape == (4, SIDE, 4 * SIDE, 3)
    assert batch.labels.shape == (4, LONGEST)
    assert ((batch.labels != 133).sum(1) == batch.lengths).all()
    assert int(batch.lengths.min()) >= 1
    assert len(made) == 100
    task = signs.build_task(whole, "exact")
    task.new_score().add(torch.zeros(4, LONGEST, 134), batch)


def test_the_real_records_are_all_kept_and_read(shared: Path, tmp_path: Path) -> None:
    folder = tmp_path / "fsns"  # an index is written beside records
    folder.mkdir()
    for name in ("fsns-00000-of-00001", "charset_size=134.txt"):
        (folder / name).write_bytes((shared / "data" / "fsns_testdata" / name).read_bytes())
    whole = signs.complete(recipe(37, 150), folder)
    found = signs.evaluation_source(whole, folder, "fsns", "exact")
    result = check_signs(found.records, max_length=37, pictures=True)
    assert result.kept.tolist() == [0, 1, 2, 3, 4]
    batch = found.evaluation_batch(np.arange(5), 5)
    assert batch.texts[:2] == ("Rue Perreyon", "Rue de la Taillée")
    assert batch.images.shape == (5, 150, 600, 3)
    network = signs.build_network(whole).eval()
    task = signs.build_task(whole, "exact")
    with torch.no_grad():
        logits = network(task.inputs(batch.images))
    score = task.new_score()
    score.add(logits, batch)
    assert score.values()["samples"] == 5

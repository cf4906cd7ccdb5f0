"""How names are written on plates, and what their text says then."""

from __future__ import annotations

from trainferry.train.data.render.signs.street import Street, Word
from trainferry.train.data.render.signs.streets import parse_street
from trainferry.train.data.render.signs.wording import LONGEST_LINE, write_out
from trainferry.train.data.render.words.dice import Dice


def drawn(name: str, count: int = 300) -> list[tuple[str, str]]:
    """Return what plates show, lines joined by `/`, with the text."""
    street = parse_street(name)
    found = []
    for index in range(count):
        wording = write_out(street, Dice(1, "train", index))
        lines = ["".join(run.text for run in line.runs) for line in wording.lines]
        found.append(("/".join(lines), wording.text))
    return found


def test_plates_differ_in_lines_and_capitals_but_not_in_the_text() -> None:
    shown = {plate for plate, _ in drawn("Rue de la Gare")}
    assert {"RUE/DE LA GARE", "RUE/de la GARE", "RUE DE LA/GARE", "Rue/de la Gare"} <= shown
    assert {text for _, text in drawn("Rue de la Gare")} == {"Rue de la Gare"}


def test_the_text_keeps_accents_that_capitals_lost() -> None:
    found = drawn("Rue de la Libération")
    assert any("LIBERATION" in plate for plate, _ in found)
    assert any("LIBÉRATION" in plate for plate, _ in found)
    assert {text for _, text in found} == {"Rue de la Libération"}


def test_an_invented_word_has_the_accents_that_its_plate_shows() -> None:
    street = Street((Word("Rue", "type"), Word("Thérèse", "first"), Word("Bélodès", "name", True)))
    texts = set()
    for index in range(300):
        wording = write_out(street, Dice(1, "train", index))
        plate = "".join(run.text for line in wording.lines for run in line.runs)
        shown = "Bélodès" if "BÉLODÈS" in plate.upper() else "Belodes"
        assert wording.text == f"Rue Thérèse {shown}"
        texts.add(wording.text)
    assert len(texts) == 2


def test_link_words_need_not_be_read_and_small_letters_count_as_small() -> None:
    street = parse_street("Rue de la Gare")
    drawn = [write_out(street, Dice(1, "train", index)) for index in range(300)]
    least = {
        "".join(run.text for run in line.runs): line.least for each in drawn for line in each.lines
    }
    assert least["DE LA"] == 0
    assert least["GARE"] == 1
    assert any(0 < size < 0.9 for size in least.values())


def test_an_accent_on_a_first_letter_is_in_the_text_when_it_is_on_the_plate() -> None:
    for plate, text in drawn("Rue de l'École"):
        assert text == ("Rue de l'École" if "É" in plate else "Rue de l'Ecole")


def test_an_elided_word_stays_with_the_next() -> None:
    for plate, text in drawn("Avenue de l'Aurore"):
        assert "'/" not in plate.replace("\u2019", "'")
        assert text == "Avenue de l'Aurore"


def test_long_names_are_broken_into_lines() -> None:
    for plate, _ in drawn("Boulevard du Commandant Charpentier"):
        assert max(map(len, plate.split("/"))) <= LONGEST_LINE + 4


def test_a_name_without_a_type_is_written_too() -> None:
    assert any(plate.upper() == "LA CANEBIÈRE" for plate, _ in drawn("La Canebière"))

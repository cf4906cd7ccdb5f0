"""How names are written on plates, and what their text says then."""

from __future__ import annotations

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

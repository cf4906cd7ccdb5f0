"""The characters a recogniser knows, in the order of their class numbers; the blank is last.

The originals keep the order in two files: `ord_map.json` maps class numbers to code
points and back, `char_dict.json` code points to characters. The order is whatever it
was when they were made, so it is read and never sorted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.whole_file import write_whole

LATIN36 = "0123456789abcdefghijklmnopqrstuvwxyz"
# The orders of the dictionaries published with the originals' weights.
LATIN36_UPSTREAM = "6xvzwqj4d7l8m5gpykaheu3s2ci0fnbt9ro1"
LATIN36_ZOO = "zg9uwikavctpq7fr564d231l0bexymn8jsho"

ORD_MAP = "ord_map.json"
CHAR_DICT = "char_dict.json"


class Alphabet:
    """Characters and their class numbers."""

    def __init__(self, characters: str) -> None:
        self._classes = {character: index for index, character in enumerate(characters)}
        if len(self._classes) != len(characters) or not characters:
            twice = sorted({one for one in characters if characters.count(one) > 1})
            raise DataError(
                f"the alphabet names {''.join(twice)!r} twice" if twice else "an empty alphabet",
                hint="an alphabet is a text with every character exactly once",
            )
        self.characters = characters

    @property
    def classes(self) -> int:
        """How many classes a network has: the characters and the blank."""
        return len(self.characters) + 1

    @property
    def blank(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> list[int]:
        try:
            return [self._classes[character] for character in text]
        except KeyError:
            unknown = "".join(sorted(self.unknown(text)))
            raise DataError(
                f"{text!r} has characters that are not in the alphabet: {unknown!r}",
                hint="use a recipe with a larger alphabet, or leave such words out",
            ) from None

    def decode(self, classes: Iterable[int]) -> str:
        """Join the characters; blanks, with which labels are padded, are left out."""
        characters = []
        for number in classes:
            if not 0 <= number <= self.blank:
                raise DataError(
                    f"class {number} of an alphabet with {self.classes} classes",
                    hint="the labels belong to another alphabet; pass their own ord_map.json",
                )
            if number != self.blank:
                characters.append(self.characters[number])
        return "".join(characters)

    def unknown(self, text: str) -> set[str]:
        """Return the characters of `text` that have no class."""
        return set(text) - self._classes.keys()

    def __contains__(self, character: str) -> bool:
        return character in self._classes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alphabet) and self.characters == other.characters

    def __hash__(self) -> int:
        return hash(self.characters)

    def __repr__(self) -> str:
        return f"Alphabet({self.characters!r})"


def read_alphabet(path: Path) -> Alphabet:
    """Read `ord_map.json`, or the one in a folder; a `char_dict.json` beside it must agree."""
    file = find_ord_map(path) if path.is_dir() else path
    if file is None:
        raise DataError(
            f"no {ORD_MAP} in `{path}` or `{path / 'char_dict'}`",
            hint="pass the file that belongs to these records or weights",
        )
    if file.name.startswith("char_dict"):
        file = file.with_name(file.name.replace("char_dict", "ord_map", 1))
    alphabet = Alphabet(_parse_ord_map(_read_json(file), file))
    partner = file.with_name(file.name.replace("ord_map", "char_dict", 1))
    if partner != file and partner.is_file():
        _check_partner(_read_json(partner), partner, alphabet)
    return alphabet


def find_ord_map(folder: Path) -> Path | None:
    places = (folder / "char_dict" / ORD_MAP, folder / ORD_MAP)
    return next((place for place in places if place.is_file()), None)


def write_alphabet(alphabet: Alphabet, folder: Path) -> None:
    """Write `ord_map.json` and `char_dict.json` as the originals do."""
    order: dict[str, str] = {}
    for number, character in enumerate(alphabet.characters):
        order[f"{number}_index"] = str(ord(character))
        order[f"{ord(character)}_ord"] = str(number)
    names = {f"{ord(character)}_ord": character for character in alphabet.characters}
    _write_json(folder / ORD_MAP, order)
    _write_json(folder / CHAR_DICT, names)


def add_alphabet(alphabet: Alphabet, folder: Path) -> None:
    """Write the alphabet of a data folder; another one that is there stays, as records need it."""
    present = find_ord_map(folder)
    if present is not None and read_alphabet(present) != alphabet:
        raise DataError(
            f"`{present}` already holds another alphabet, which raw records or weights may need",
            hint="use that one or another folder; delete it only if nothing depends on it",
        )
    write_alphabet(alphabet, folder / "char_dict")


def _parse_ord_map(content: dict[str, str], path: Path) -> str:
    suffix = "_index"
    found: dict[int, str] = {}
    try:
        for key, value in content.items():
            if key.endswith(suffix):
                found[int(key.removesuffix(suffix))] = chr(int(value))
    except (ValueError, OverflowError):
        raise _malformed(path, "a class number or code point is no number") from None
    if not found or sorted(found) != list(range(len(found))):
        raise _malformed(path, "the class numbers are not 0, 1, 2, ... without a gap")
    if any("\ud800" <= character <= "\udfff" for character in found.values()):
        raise _malformed(path, "a code point is half of a pair, no character")
    if len(set(found.values())) != len(found):
        raise _malformed(path, "one character has two class numbers")
    for number, character in found.items():
        back = content.get(f"{ord(character)}_ord")
        if back is not None and back != str(number):
            raise _malformed(path, f"{character!r} is class {number} one way and {back} the other")
    return "".join(found[number] for number in range(len(found)))


def _check_partner(content: dict[str, str], path: Path, alphabet: Alphabet) -> None:
    if set(content.values()) != set(alphabet.characters):
        different = sorted(set(content.values()) ^ set(alphabet.characters))
        raise _malformed(path, f"it and ord_map.json differ in {''.join(different[:10])!r}")


def _read_json(path: Path) -> dict[str, str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(
            f"cannot read `{path}`: {error.strerror or error}", hint="check the path"
        ) from error
    except (ValueError, RecursionError) as error:
        raise _malformed(path, "it is no JSON") from error
    if not isinstance(content, dict):
        raise _malformed(path, "it is no JSON object")
    return {str(key): str(value) for key, value in content.items()}


def _write_json(path: Path, content: dict[str, str]) -> None:
    text = json.dumps(content, indent=4, sort_keys=True, ensure_ascii=False)
    write_whole(path, text.encode())


def _malformed(path: Path, why: str) -> DataError:
    return DataError(
        f"`{path}` is no dictionary of classes: {why}",
        hint="use the ord_map.json and char_dict.json that were made with the records",
    )

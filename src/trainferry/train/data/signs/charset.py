"""The characters of FSNS texts and their codes, as in the file `charset_size=134.txt`.

Each line is `<code><TAB><character>`. Several characters may share one code (the three
apostrophes of French plates): all of them are written as that code, and the code reads as
the last of them. One code is `<nul>`, with which texts end and are filled up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from trainferry.errors import DataError
from trainferry.train.data.whole_file import write_whole

NULL_NAME = "<nul>"
NULL_CHARACTER = "\u2591"
"""How a null is drawn where it must be seen."""

LONGEST_TEXT = 37
"""Characters of the longest FSNS text."""

# Character by character in the order of the codes, so that published weights fit.
_FSNS = (
    " l\u2019éteinsxguo1870-.parèdcVvbm)CzSy,kÉAhE»D/HM(GPçRf"
    '"2j|N6°5TOU3%9qZBKwW:4LF]ïIJäî;àêXüYô=+\\{}_Qœñ*!Ü'
    "âÇŒû?$ë«€&<æ#®ÂÈ>[ÆùÎÔÿÀÊ@Ï©ËÙ£ŸÛ"
)
_FSNS_ALSO = ((2, "'"), (2, "\u2018"), (51, "“"), (51, "”"), (17, "—"))


@dataclass(frozen=True)
class Charset:
    """Codes and characters in the order of the file; the null is named, not a character."""

    pairs: tuple[tuple[int, str], ...]

    def __post_init__(self) -> None:
        _check(self.pairs, "the charset")

    @property
    def classes(self) -> int:
        """How many classes a network has, the null among them."""
        return len(self._characters) + 1

    @cached_property
    def null(self) -> int:
        return next(code for code, character in self.pairs if character == NULL_NAME)

    def encode(self, text: str) -> list[int]:
        codes = self._codes
        try:
            return [codes[character] for character in normalize("NFC", text)]
        except KeyError:
            unknown = "".join(sorted(self.unknown(text)))
            raise DataError(
                f"{text!r} has characters that are not in the charset: {unknown!r}",
                hint="leave such texts out, or pass the charset that they were written with",
            ) from None

    def decode(self, codes: Iterable[int]) -> str:
        """Join the characters up to the first null."""
        return self._join(codes, until_null=True)

    def draw(self, codes: Iterable[int]) -> str:
        """Join all characters, a null drawn as NULL_CHARACTER."""
        return self._join(codes, until_null=False)

    def padded(self, text: str, length: int = LONGEST_TEXT) -> list[int]:
        """Encode a text and fill it up with nulls. Raises DataError when it is longer."""
        codes = self.encode(text)
        if len(codes) > length:
            raise DataError(
                f"{text!r} has {len(codes)} characters, more than {length}",
                hint="leave such texts out, or train a network with a longer output",
            )
        return codes + [self.null] * (length - len(codes))

    def canonical(self, text: str) -> str:
        """Return the text as the codes read: one of the characters that share a code."""
        return self.decode(self.encode(text))

    def unknown(self, text: str) -> set[str]:
        """Return the characters of `text` that have no code."""
        return set(normalize("NFC", text)) - self._codes.keys()

    def _join(self, codes: Iterable[int], *, until_null: bool) -> str:
        known, null, classes = self._characters, self.null, self.classes
        characters = []
        for code in codes:
            if code == null:
                if until_null:
                    break
                characters.append(NULL_CHARACTER)
            elif 0 <= code < classes:
                characters.append(known[int(code)])
            else:
                raise DataError(
                    f"code {code} of a charset with {classes} codes",
                    hint="pass the charset file that these records were made with",
                )
        return "".join(characters)

    @cached_property
    def _characters(self) -> dict[int, str]:
        return {code: character for code, character in self.pairs if character != NULL_NAME}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {character: code for code, character in self.pairs if character != NULL_NAME}


def fsns_charset() -> Charset:
    """Return the 134 codes of FSNS."""
    plain = tuple(enumerate(_FSNS))
    return Charset((*plain, *_FSNS_ALSO, (len(_FSNS), NULL_NAME)))


def read_charset(path: Path) -> Charset:
    """Read a charset file, or the one in a folder."""
    file = find_charset(path) if path.is_dir() else path
    if file is None:
        raise DataError(
            f"no charset*.txt in `{path}`", hint="pass the charset file of these records"
        )
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"cannot read `{file}`: {error.strerror or error}", hint="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(f"`{file}` is not UTF-8", hint="save the file as UTF-8") from error
    pairs = tuple(
        _parse_line(line.removesuffix("\r"), number, file)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip("\r")
    )
    _check(pairs, f"`{file}`")
    return Charset(pairs)


def write_charset(charset: Charset, folder: Path) -> Path:
    """Write `charset_size=<classes>.txt`, which the original reads too."""
    path = folder / f"charset_size={charset.classes}.txt"
    lines = "".join(f"{code}\t{character}\n" for code, character in charset.pairs)
    write_whole(path, lines.encode())
    return path


def find_charset(folder: Path) -> Path | None:
    """Return the only charset file of a folder, or None."""
    found = sorted(folder.glob("charset*.txt"))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise DataError(
            f"`{folder}` has {len(found)} charset files: {names}",
            hint="pass the one that belongs to the records",
        )
    return found[0] if found else None


def _parse_line(line: str, number: int, file: Path) -> tuple[int, str]:
    code, tab, character = line.partition("\t")
    if not tab or not code.strip().isdecimal():
        raise _malformed(f"`{file}`", f"line {number} is not `<code><TAB><character>`: {line!r}")
    if character != NULL_NAME:
        character = normalize("NFC", character)
        if len(character) != 1:
            raise _malformed(f"`{file}`", f"line {number} has {character!r}, not one character")
    return int(code), character


def _check(pairs: Sequence[tuple[int, str]], what: str) -> None:
    """Raise unless codes have no gap, characters one code each, and the null one of its own."""
    nulls = {code for code, character in pairs if character == NULL_NAME}
    if len(nulls) != 1:
        raise _malformed(what, f"it has {len(nulls)} codes for {NULL_NAME}, not one")
    seen: dict[str, int] = {}
    for code, character in pairs:
        before = seen.setdefault(character, code)
        if before != code:
            raise _malformed(what, f"{character!r} has the codes {before} and {code}")
        if code in nulls and character != NULL_NAME:
            raise _malformed(what, f"code {code} is both {NULL_NAME} and {character!r}")
    if len(seen) != len(pairs):
        twice = next(one for one in seen if sum(one == pair[1] for pair in pairs) > 1)
        raise _malformed(what, f"{twice!r} is listed twice")
    codes = {code for code, _ in pairs}
    missing = sorted(set(range(max(codes) + 1)) - codes)
    if missing:
        raise _malformed(what, f"no character has code {missing[0]}; the highest is {max(codes)}")


def _malformed(what: str, why: str) -> DataError:
    return DataError(
        f"{what} is no charset: {why}",
        hint="use the charset file that was made with the records, unchanged",
    )

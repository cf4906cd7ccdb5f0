"""trainferry doctor --explain: what codes in the logs of Ascend NPUs mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.errors import DataError, UsageError

if TYPE_CHECKING:
    from trainferry.launch.codes.find import Sighting


def explain(words: Sequence[str], *, as_json: bool) -> int:
    """Print the page of each code, or what the logs hold; without words, a line for each code."""
    from trainferry.launch.codes.table import find_code, looks_like_a_code

    codes = [word for word in words if looks_like_a_code(word.upper()) or find_code(word)]
    logs = [word for word in words if word not in codes]
    if not words:
        return _list_all(as_json=as_json)
    if codes and logs:
        _require_file(logs[0])
        raise UsageError(
            f"`{codes[0]}` is a code and `{logs[0]}` a log", hint="give either codes or logs"
        )
    return _explain_logs(logs, as_json=as_json) if logs else _explain_codes(codes, as_json=as_json)


def _list_all(*, as_json: bool) -> int:
    from trainferry.launch.codes.explain import describe_code
    from trainferry.launch.codes.table import all_codes

    if as_json:
        print(json.dumps([describe_code(code, code.name) for code in all_codes()], indent=1))
        return 0
    width = max(len(code.name) for code in all_codes())
    for code in all_codes():
        print(f"{code.name:<{width}}  {code.says}")
    return 0


def _explain_codes(words: Sequence[str], *, as_json: bool) -> int:
    from trainferry.launch.codes.explain import describe_code, explain_code
    from trainferry.launch.codes.table import find_code

    spelt = [word if find_code(word) else word.upper() for word in words]
    found = [(word, find_code(word)) for word in spelt]
    known = [(code, word) for word, code in found if code is not None]
    if len(known) < len(found):
        raise _unknown(next(word for word, code in found if code is None))
    if as_json:
        print(json.dumps([describe_code(code, word) for code, word in known], indent=1))
    else:
        print("\n\n".join(explain_code(code, word) for code, word in known))
    return 0


def _explain_logs(names: Sequence[str], *, as_json: bool) -> int:
    from trainferry.launch.codes.explain import describe_sighting
    from trainferry.launch.codes.find import find_codes, in_order, likely_root

    found = in_order([find_codes(_read_lines(name), name) for name in names])
    root = likely_root(found)
    if as_json:
        told = {
            "likely_root": root.word if root else None,
            "codes": [describe_sighting(one) for one in found if one.code],
            "unknown": [describe_sighting(one) for one in found if not one.code],
        }
        print(json.dumps(told, indent=1))
    else:
        _print_logs(found, root, names)
    return 0


def _print_logs(found: list[Sighting], root: Sighting | None, names: Sequence[str]) -> None:
    from trainferry.launch.codes.explain import explain_code
    from trainferry.launch.codes.table import family_of

    where = _called(names[0]) if len(names) == 1 else f"{len(names)} logs"
    if root is None or root.code is None:
        print(f"no code of the table in {where}")
    else:
        _print_table([one for one in found if one.code], where, alone=len(names) == 1)
        if root.code.is_outer:
            print(f"\n{root.word} came first, but such codes only say which layer noticed.")
        elif len(found) > 1:
            print(f"\n{root.word} is the likely root: the first that says more than which layer")
            print("noticed. What comes later is mostly its consequence.")
        print(f"\n{explain_code(root.code, root.word)}")
    for one in (one for one in found if not one.code):
        place = f"{_called(one.log)}, line {one.line:,}"
        print(
            f"note: {one.word} ({place}) is not in the table; it comes from {family_of(one.word)}",
            file=sys.stderr,
        )


def _print_table(known: list[Sighting], where: str, *, alone: bool) -> None:
    print(f"codes in {where}, the earliest first:\n" if len(known) > 1 else f"in {where}:\n")
    places = [f"{'' if alone else f'{_called(one.log)} '}line {one.line:,}" for one in known]
    wide, wide_word = max(map(len, places)), max(len(one.word) for one in known)
    for place, one in zip(places, known, strict=True):
        assert one.code is not None
        print(f"  {place:<{wide}}  {one.word:<{wide_word}}  {one.code.says}")
        print(f"  {'':<{wide}}  {'':<{wide_word}}  | {one.text}")


def _called(name: str) -> str:
    return "standard input" if name == "-" else name


def _read_lines(name: str) -> Iterator[str]:
    if name == "-":
        yield from (line.decode(errors="backslashreplace") for line in sys.stdin.buffer)
        return
    _require_file(name)
    try:
        with Path(name).open("rb") as file:
            yield from (line.decode(errors="backslashreplace") for line in file)
    except OSError as error:
        raise DataError(
            f"`{name}` cannot be read: {error.strerror}", hint="give a log that you may read"
        ) from None


def _require_file(name: str) -> None:
    if name != "-" and not Path(name).is_file():
        raise _unknown(name)


def _unknown(word: str) -> DataError:
    from trainferry.launch.codes.table import family_of, looks_like_a_code, nearest_names

    near = nearest_names(word)
    hint = f"near it: {', '.join(near)}" if near else "`--explain` without a code lists all"
    if family := family_of(word):
        return DataError(f"`{word}` is not in the table; it comes from {family}", hint=hint)
    if looks_like_a_code(word):
        return DataError(f"`{word}` is not in the table, nor is its beginning", hint=hint)
    return DataError(f"`{word}` is neither a code of the table nor a log file", hint=hint)

"""Recipes: read from TOML, overridden with `key=value`, written whole beside a run."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from trainferry.errors import RecipeError
from trainferry.train.recipe.check import check_recipe
from trainferry.train.recipe.sections import SECTIONS, Recipe

RECIPES = Path(__file__).parents[1] / "recipes"

# Two ways to say one thing: whichever is said last holds, so the other is taken back.
_INSTEAD_OF = {
    ("schedule", "steps"): "epochs",
    ("schedule", "warmup_steps"): "warmup_epochs",
    ("schedule", "boundaries"): "boundary_epochs",
    ("schedule", "staircase_steps"): "staircase_epochs",
    ("loop", "evaluate_every"): "evaluate_epochs",
    ("loop", "save_every"): "save_epochs",
}


def list_recipes() -> list[str]:
    """Return the names of the recipes that come with the package."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def read_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a bundled recipe by its name, or a TOML file, and apply `section.key=value`."""
    path = _find_recipe(name_or_path)
    recipe = _parse_recipe(_read_tables(path), where=str(name_or_path), name=path.stem)
    for override in overrides:
        recipe = override_recipe(recipe, override)
    check_recipe(recipe)
    return recipe


def override_recipe(recipe: Recipe, override: str) -> Recipe:
    """Return the recipe with one value replaced; a key of only one section needs no section."""
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals:
        raise RecipeError(
            f"`{override}` is not of the form key=value",
            hint="write for example --set loop.batch=128",
        )
    sections = sections_of(recipe)
    section, name = _find_key(key, sections)
    table = _alone(section, {name: _parse_value(text.strip())})
    changed = _parse_section(
        sections, section, table, f"--set {section}", base=getattr(recipe, section)
    )
    return dataclasses.replace(recipe, **{section: changed})


def recipe_to_toml(recipe: Recipe) -> str:
    """Write every value of the recipe, so that the file alone says what was run."""
    lines = [f"name = {_toml_value(recipe.name)}"]
    for section in sections_of(recipe):
        lines += ["", f"[{section}]"]
        table = getattr(recipe, section)
        lines += [f"{f.name} = {_toml_value(getattr(table, f.name))}" for f in fields(table)]
    return "\n".join(lines) + "\n"


def recipe_differences(one: Recipe, other: Recipe) -> dict[str, tuple[Any, Any]]:
    """Return the keys whose values differ, as `section.key`: (one, other)."""
    differences = {}
    for section in sections_of(one):
        mine, theirs = vars(getattr(one, section)), vars(getattr(other, section))
        for name in {**mine, **theirs}:
            values = mine.get(name), theirs.get(name)
            if values[0] != values[1]:
                differences[f"{section}.{name}"] = values
    return differences


def unsaid_values(path: Path, recipe: Recipe) -> dict[str, str]:
    """Return what a file leaves to the defaults, as `section.key`: value.

    A saved recipe says all that there was when its run began. A key that came later begins with
    what everybody had before it: so its default is what that run was trained with.
    """
    tables = _read_tables(path)
    return {
        f"{section}.{field.name}": _toml_value(field.default)
        for section, kind in _find_sections(tables, str(path)).items()
        if kind is sections_of(recipe)[section]
        for field in fields(kind)
        if field.name not in tables.get(section, {})
    }


def sections_of(recipe: Recipe) -> dict[str, type]:
    """Return the sections a recipe has, which follow from its network."""
    return SECTIONS[recipe.network.name]


def _find_recipe(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix == ".toml":
        if not path.is_file():
            raise RecipeError(f"no recipe file `{path}`", hint="check the path")
        return path
    bundled = RECIPES / f"{name_or_path}.toml"
    if bundled.parent != RECIPES or not bundled.is_file():
        names = list_recipes()
        near = difflib.get_close_matches(str(name_or_path), names, n=1)
        raise RecipeError(
            f"no recipe called `{name_or_path}`; there are: {', '.join(names)}",
            hint=f"did you mean `{near[0]}`?" if near else "or give the path of a .toml file",
        )
    return bundled


def _read_tables(path: Path, depth: int = 0) -> dict[str, Any]:
    """Read a TOML file on top of the recipe its `base` names."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"`{path}` is not TOML: {error}", hint="correct that line") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"`{path}` is not UTF-8 text", hint="save the file as UTF-8") from error
    base = tables.pop("base", None)
    if base is None:
        return tables
    if not isinstance(base, str):
        raise RecipeError(f"`base` in `{path}` must be a name, not {base!r}", hint='write "crnn"')
    if depth > 8:
        raise RecipeError(f"the bases of `{path}` go in a circle", hint="remove one `base`")
    merged = _read_tables(_find_recipe(base), depth + 1)
    for key, value in tables.items():
        known = merged.get(key)
        other_network = key == "network" and _is_other(known, value)
        if isinstance(known, dict) and isinstance(value, dict) and not other_network:
            value = {**known, **_alone(key, value)}  # noqa: PLW2901  # on top of its base
        merged[key] = value
    return merged


def _is_other(known: Any, value: Any) -> bool:  # noqa: ANN401  # values come from TOML
    """Tell whether a section is about another network: the sizes of the base mean nothing then."""
    if not isinstance(known, dict) or not isinstance(value, dict):
        return False
    name = known.get("name", "crnn")
    return bool(value.get("name", name) != name)


def _parse_recipe(tables: Mapping[str, Any], where: str, name: str) -> Recipe:
    sections = _find_sections(tables, where)
    parsed: dict[str, Any] = {section: kind() for section, kind in sections.items()}
    for key, table in tables.items():
        if key == "name":
            name = str(table)
            continue
        if key not in sections:
            raise _unknown(key, list(sections), where, what="section")
        if not isinstance(table, dict):
            raise RecipeError(f"`{key}` in {where} must be a section", hint=f"write [{key}]")
        parsed[key] = _parse_section(sections, key, table, f"{where} [{key}]")
    return Recipe(name=name, **parsed)


def _parse_section(
    sections: Mapping[str, type],
    section: str,
    table: Mapping[str, Any],
    where: str,
    base: Any = None,  # noqa: ANN401  # a section, of whichever kind
) -> Any:  # noqa: ANN401  # a section, of whichever kind
    hints = typing.get_type_hints(sections[section])
    for key in table:
        if key not in hints:
            raise _misplaced(key, list(hints), sections, where)
    between = " " if base is None else "."  # [loop] batch, but --set loop.batch
    values = {
        key: _convert(value, hints[key], f"{where}{between}{key}") for key, value in table.items()
    }
    if base is None:
        return sections[section](**values)
    return dataclasses.replace(base, **values)


def _convert(value: Any, kind: Any, where: str) -> Any:  # noqa: ANN401  # values come from TOML
    origin = typing.get_origin(kind)
    if origin is Literal:
        return _one_of(value, typing.get_args(kind), where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _wrong_type(value, "a list", where)
        return tuple(_convert(item, typing.get_args(kind)[0], where) for item in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise _wrong_type(value, {int: "a whole number", float: "a number"}.get(kind, kind), where)
    return value


def _one_of(value: Any, choices: Sequence[str], where: str) -> str:  # noqa: ANN401  # from TOML
    if value not in choices:
        near = difflib.get_close_matches(str(value), choices, n=1)
        raise RecipeError(
            f"{where} cannot be `{value}`; it is one of {', '.join(choices)}",
            hint=f"did you mean `{near[0]}`?" if near else "choose one of these",
        )
    return str(value)


def _wrong_type(value: Any, wanted: Any, where: str) -> RecipeError:  # noqa: ANN401  # from TOML
    wanted = getattr(wanted, "__name__", wanted)
    return RecipeError(f"{where} must be {wanted}, not {value!r}", hint="correct the value")


def _unknown(key: str, known: list[str], where: str, what: str) -> RecipeError:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
    return RecipeError(f"unknown {what} `{key}` in {where}", hint=hint)


def _misplaced(key: str, known: list[str], sections: Mapping[str, type], where: str) -> RecipeError:
    """Say where a key belongs that only another section has, or that is a section."""
    if key in sections:
        return _no_key(key, sections)
    owners = _owners(key, sections)
    if len(owners) != 1 or difflib.get_close_matches(key, known, n=1):
        return _unknown(key, known, where, what="key")
    return RecipeError(
        f"unknown key `{key}` in {where}",
        hint=f"known: {', '.join(known)}; or did you mean `{owners[0]}.{key}`?",
    )


def _find_key(key: str, sections: Mapping[str, type]) -> tuple[str, str]:
    section, dot, name = key.partition(".")
    if dot:
        if section not in sections:
            raise _unknown(section, list(sections), f"--set {key}", what="section")
        return section, name
    owners = _owners(key, sections)
    if len(owners) == 1:
        return owners[0], key
    if owners:
        raise RecipeError(
            f"`{key}` is a key of {' and '.join(owners)}",
            hint=f"write --set {owners[0]}.{key}=…",
        )
    if key in sections:
        raise _no_key(key, sections)
    every = [name for kind in sections.values() for name in typing.get_type_hints(kind)]
    raise _unknown(key, every, "--set", what="key")


def _owners(key: str, sections: Mapping[str, type]) -> list[str]:
    return [section for section, kind in sections.items() if key in typing.get_type_hints(kind)]


def _no_key(key: str, sections: Mapping[str, type]) -> RecipeError:
    names = [f"{key}.{name}" for name in typing.get_type_hints(sections[key])]
    return RecipeError(f"`{key}` is a section, and no key", hint=f"its keys: {', '.join(names)}")


def _parse_value(text: str) -> Any:  # noqa: ANN401  # whatever TOML holds
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a bare word is a string


def _toml_value(value: Any) -> str:  # noqa: ANN401  # whatever TOML holds
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(_toml_character(character) for character in value)
        return f'"{escaped}"'
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    return repr(value)


def _toml_character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _find_sections(tables: Mapping[str, Any], where: str) -> dict[str, type]:
    """Return what the recipe may hold; its network decides."""
    network = tables.get("network", {})
    name = network.get("name", "crnn") if isinstance(network, dict) else "crnn"
    return SECTIONS[_one_of(name, tuple(SECTIONS), f"{where} [network] name")]


def _alone(section: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Take back what the base says in epochs where this table says it in steps."""
    taken_back: dict[str, Any] = {}
    for name in table:
        other = _INSTEAD_OF.get((section, name))
        if other is not None and other not in table:
            taken_back[other] = [] if other == "boundary_epochs" else 0.0
    return {**taken_back, **table}

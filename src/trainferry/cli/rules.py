"""trainferry rules: the catalogue of what `migrate` does, or one rule's page."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.migrate.rule import Rule


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "rules",
        help="list the rules of `migrate`, or explain one",
        description="List the rules of `migrate`, or show one rule's page: what it does, before "
        "and after, what it leaves to you, and its source.",
    )
    parser.add_argument("name", metavar="RULE", nargs="?", help="show this rule's page")
    parser.add_argument("--json", action="store_true", help="print the rules as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.migrate.rule import IMPORT_RULE, all_rules

    rules = [IMPORT_RULE, *all_rules()]
    if arguments.name:
        rules = [_named(arguments.name, rules)]
    if arguments.json:
        print(json.dumps([_as_json(rule) for rule in rules], indent=1))
    elif arguments.name:
        print(f"{rules[0].name}\n\n{rules[0].page.strip()}{_how_asked(rules[0])}")
    else:
        _print_catalogue(rules)
    return 0


def _named(name: str, rules: list[Rule]) -> Rule:
    import difflib

    found = next((rule for rule in rules if rule.name == name), None)
    if found is None:
        near = difflib.get_close_matches(name, [rule.name for rule in rules], n=1)
        hint = f"did you mean `{near[0]}`?" if near else "`trainferry rules` lists them"
        raise UsageError(f"there is no rule `{name}`", hint=hint)
    return found


def _print_catalogue(rules: list[Rule]) -> None:
    from trainferry.migrate.rule import Concern

    width = max(len(rule.name) for rule in rules)
    for concern in Concern:
        some = [rule for rule in rules if rule.concern is concern]
        if some:
            print(f"{concern.value}")
            for rule in some:
                asked = "  (--also)" if rule.is_opt_in else ""
                print(f"  {rule.name:<{width}}  {rule.title}{asked}")
            print()
    print("`trainferry rules RULE` explains one", file=sys.stderr)


def _how_asked(rule: Rule) -> str:
    return f"\n\nRuns only when asked for: --also {rule.name}" if rule.is_opt_in else ""


def _as_json(rule: Rule) -> dict[str, object]:
    return {
        "name": rule.name,
        "concern": rule.concern.name.lower(),
        "title": rule.title,
        "opt_in": rule.is_opt_in,
        "lint": rule.is_lint,
        "page": rule.page.strip(),
    }

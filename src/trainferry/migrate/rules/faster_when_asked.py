"""Know the rewrites that are made only when you ask for them.

Some rewrites make a network faster and change more than they must: other operators, another
Estimator, several steps per call. They are made with `--also`. Each of them is told once per
project, at the first place that it would rewrite; where it would rewrite none, at the first place
that it is about.

By hand: always. Not told: rewrites that are asked for or skipped, those that the project has no
use for or has a use for in unit tests only, and projects that use the adapter already.

Source: the pages of these rules, which `trainferry rules` marks with `--also`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.dispatch import Dispatch, Found
from trainferry.migrate.file import ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, Rule, all_rules, on_project
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.SPEED


@on_project
def faster_when_asked(project: ProjectFiles) -> Iterator[Finding]:
    options = project.options
    if any(b"npu_bridge" in file.source.data for file in project.files):
        return  # also when other rules have brought it in: the places were told before that
    known = options.also | options.only | options.skip
    for rule in all_rules():
        if rule.is_opt_in and rule.name not in known:
            first = _first(rule, project)
            if first is not None:
                title = rule.title[0].lower() + rule.title[1:]
                message = f"to make it faster, ask for `--also {rule.name}`: {title}"
                yield Finding(first.at, Outcome.BY_HAND, message)


def _first(rule: Rule, project: ProjectFiles) -> Finding | None:
    """The first place that a rule would rewrite, else the first of which it speaks."""
    dispatch = Dispatch((rule,))
    by_hand: Finding | None = None
    for file in project.files:
        for found in dispatch.on_file(file):
            if not isinstance(found, Found) or is_in_test(file, found.finding.at.node):
                continue
            if found.finding.outcome is not Outcome.BY_HAND:
                return found.finding
            by_hand = by_hand or found.finding
    return by_hand

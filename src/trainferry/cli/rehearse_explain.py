"""trainferry rehearse --explain: the checks of a rehearsal, or one check's page."""

from __future__ import annotations

import difflib
import json
import sys

from trainferry.errors import UsageError


def explain(name: str, *, as_json: bool) -> int:
    """Print the page of a check, or a line for each of them."""
    from trainferry.rehearse.catalogue import all_checks

    checks = all_checks()
    if name and name not in checks:
        near = difflib.get_close_matches(name, checks, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "`--explain` without a name lists them"
        raise UsageError(f"there is no check `{name}`", hint=hint)
    some = [checks[name]] if name else list(checks.values())
    if as_json:
        told = [{"name": one.name, "title": one.title, "page": one.page} for one in some]
        print(json.dumps(told, indent=1))
    elif name:
        print(f"{name}\n\n{some[0].page.strip()}")
    else:
        width = max((len(one.name) for one in some), default=0)
        for one in some:
            print(f"{one.name:<{width}}  {one.title}")
        print("\n`trainferry rehearse --explain CHECK` explains one", file=sys.stderr)
    return 0

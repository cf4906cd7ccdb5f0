"""Whether each rank has the device that was planned for it, and has it alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem

DeviceFacts: TypeAlias = dict[str, str]  # name, id, problem


def look_at_device(kind: str, number: int) -> DeviceFacts:
    """The device as torch sees it; `id` is its maker's number, where torch knows it."""
    if kind == "cpu":
        return {"name": "CPU", "id": "", "problem": ""}
    import torch

    found = torch.accelerator.current_accelerator(check_available=True)
    if found is None or found.type != kind:
        seen = f"`{found.type}`" if found else "none"
        return {"name": "", "id": "", "problem": f"no `{kind}` device; torch finds {seen}"}
    count = torch.accelerator.device_count()
    if number >= count:
        return {"name": "", "id": "", "problem": f"no `{kind}:{number}`; there are {count}"}
    properties = torch.get_device_module(found).get_device_properties(number)
    name = str(getattr(properties, "name", kind))
    return {"name": name, "id": str(getattr(properties, "uuid", "")), "problem": ""}


def judge_devices(crew: Crew, kind: str, facts: Mapping[int, DeviceFacts]) -> Check:
    problems = []
    lacking: dict[str, list[int]] = defaultdict(list)
    for rank, found in facts.items():
        if found["problem"]:
            lacking[found["problem"]].append(rank)
    for problem, ranks in lacking.items():
        sentence = f"{crew.name_all(ranks)}: {problem}"
        problems.append(Problem("wrong", sentence, "`trainferry doctor` there says why"))
    for where, ranks in _shared(crew, facts).items():
        sentence = f"ranks {' and '.join(map(str, ranks))} use one device: {where}"
        fix = "give each rank of a machine its own number; two machines must not be one"
        problems.append(Problem("wrong", sentence, fix))
    names = sorted({found["name"] for found in facts.values() if found["name"]})
    if len(names) > 1:
        fix = "fine where it is meant: the slowest sets the pace"
        problems.append(Problem("warning", f"devices differ: {', '.join(names)}", fix))
    what = " and ".join(names) or kind
    is_own = kind != "cpu" and not problems
    sentence = f"each rank has its own: {what}" if is_own else what
    measured = {str(rank): dict(found) for rank, found in facts.items()}
    return Check("devices", sentence, tuple(problems), measured=measured)


def _shared(crew: Crew, facts: Mapping[int, DeviceFacts]) -> dict[str, list[int]]:
    """Devices that several ranks use. Numbers of containers count anew, ids do not."""
    ranks: dict[str, list[int]] = defaultdict(list)
    for hello in crew.hellos:
        machine = crew.machine_of[hello.rank].name
        id = facts.get(hello.rank, {}).get("id", "")
        ranks[f"{id} of {machine}" if id else f"number {hello.device} of {machine}"].append(
            hello.rank
        )
    return {where: sorted(found) for where, found in ranks.items() if len(found) > 1}

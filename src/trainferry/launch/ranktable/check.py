"""All rules over one rank table, each with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from trainferry.errors import DataError
from trainferry.launch.ranktable.chips import CHIPS, Chip, ChipName
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.reading import Reading
from trainferry.launch.ranktable.rules import addresses, form, ranks, servers, super_pods
from trainferry.launch.ranktable.table import SUPER_POD_VERSION, RankTable, count_of

State: TypeAlias = Literal["ok", "warning", "error", "skipped"]
CheckRule: TypeAlias = Callable[[RankTable, Chip], Iterator[Finding]]
Applies: TypeAlias = Callable[[RankTable, Chip], bool]


def _is_cluster(table: RankTable, _: Chip) -> bool:
    return len(table.servers) > 1


def _is_old_cluster(table: RankTable, chip: Chip) -> bool:
    return _is_cluster(table, chip) and chip.is_first_generation


def _is_first_generation(_: RankTable, chip: Chip) -> bool:
    return chip.is_first_generation


def _is_group_list(table: RankTable, _: Chip) -> bool:
    return table.template == "group-list"


def _has_ranks(table: RankTable, _: Chip) -> bool:
    return table.has_written_ranks


def _has_ports(table: RankTable, _: Chip) -> bool:
    return any(key in device.extra for _, device in table.entries for key in addresses.PORTS)


def _is_super_pod(table: RankTable, _: Chip) -> bool:
    return table.version == SUPER_POD_VERSION


@dataclass(frozen=True)
class Rule:
    """What holds in a good table, and how it is found out; None where reading finds it out.

    `applies` says for which tables the rule is; None for all. `after` names a rule without
    which this one says nothing of use.
    """

    name: str
    sentence: str
    check: CheckRule | None = None
    applies: Applies | None = None
    after: str | None = None


RULES = (
    Rule("json", "one JSON object in UTF-8"),
    Rule("file name", "called *.json, as HCCL asks"),
    Rule("keys", "every key that is needed, each once"),
    Rule("values", "all values are text, numbers in digits"),
    Rule("template", "a server list or a group list, not both", form.check_template),
    Rule("version", "the version of its template", form.check_version),
    Rule("status", "the table is completed", form.check_status),
    Rule("counts", "as many entries as it says", form.check_counts),
    Rule("instance names", "each instance its own name", form.check_names, _is_group_list),
    Rule("server ids", "each server has its own id", servers.check_server_ids),
    Rule("device ids", "each device of a server is there once", servers.check_device_ids),
    Rule("devices", "so many of a server can work together", servers.check_devices_of_server),
    Rule("rings", "two or four lie in one network", servers.check_rings, _is_first_generation),
    Rule("equal servers", "equally many of each", servers.check_equal_servers, _is_cluster),
    Rule("whole servers", "all devices of each", servers.check_whole_servers, _is_old_cluster),
    Rule("power of two", "2, 4, 8 ... servers", servers.check_power_of_two, _is_old_cluster),
    Rule("size", "at most 128 servers", servers.check_size, _is_old_cluster),
    Rule("ranks", "from 0, each once, without a gap", ranks.check_ranks),
    Rule("rank blocks", "one run to a server", ranks.check_rank_blocks, _is_cluster, "ranks"),
    Rule("rank order", "along the devices", ranks.check_rank_order, _has_ranks, "ranks"),
    Rule("addresses", "every device has one", addresses.check_addresses_there),
    Rule("valid addresses", "they are IP addresses", addresses.check_addresses_valid),
    Rule("own addresses", "no two devices share one", addresses.check_addresses_once),
    Rule("one family", "all are IPv4, or all IPv6", addresses.check_one_family, _is_cluster),
    Rule("ports", "between 1024 and 65535", addresses.check_ports, _has_ports),
    Rule("super pods", "each server in one", super_pods.check_super_pods, _is_super_pod),
)


@dataclass(frozen=True)
class Verdict:
    """What one rule says of a table."""

    rule: Rule
    state: State
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Check:
    """The verdicts of all rules, in their order."""

    table: RankTable | None
    chip: Chip
    verdicts: tuple[Verdict, ...]

    @property
    def errors(self) -> list[Finding]:
        return [one for one in self._findings if one.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [one for one in self._findings if one.severity == "warning"]

    @property
    def _findings(self) -> Iterator[Finding]:
        for verdict in self.verdicts:
            yield from verdict.findings

    def to_json(self) -> dict[str, Any]:
        table = self.table
        return {
            "ok": not self.errors,
            "chip": self.chip.name,
            "template": table.template if table else None,
            "servers": len(table.servers) if table else None,
            "devices": table.size if table else None,
            "errors": len(self.errors),
            "warnings": len(self.warnings),
            "rules": [
                {
                    "name": verdict.rule.name,
                    "state": verdict.state,
                    "findings": [_as_json(finding) for finding in verdict.findings],
                }
                for verdict in self.verdicts
            ],
        }


def check_reading(reading: Reading, chip: ChipName | None) -> Check:
    """Apply all rules; without a `chip`, those of the 910, or of the 910c for super pods."""
    table = reading.table
    if chip is None:
        is_super_pod = table is not None and table.version == SUPER_POD_VERSION
        chip = "910c" if is_super_pod else "910"
    facts = CHIPS[chip]
    found = list(reading.findings)
    rules = [rule for rule in RULES if _applies(rule, table, facts)]
    for rule in rules:
        if table is not None and rule.check is not None and not _fails(rule.after, found):
            found += rule.check(table, facts)
    verdicts = tuple(_judge(rule, found, table) for rule in rules)
    return Check(table, facts, verdicts)


def check_table(table: RankTable, chip: ChipName | None) -> Check:
    return check_reading(Reading(table, ()), chip)


def require_sound(check: Check, name: str) -> RankTable:
    """The table; raises DataError with the first errors when it has any."""
    if check.errors or check.table is None:
        shown = [f"  {finding.sentence()}" for finding in check.errors[:3]]
        if len(check.errors) > 3:
            shown.append(f"  and {len(check.errors) - 3:,} more")
        number = count_of(len(check.errors), "error")
        raise DataError(
            f"{name} has {number}:\n" + "\n".join(shown),
            hint=f"{check.errors[0].fix}; `trainferry ranktable check` shows all rules",
        )
    return check.table


def _applies(rule: Rule, table: RankTable | None, chip: Chip) -> bool:
    return table is None or rule.applies is None or rule.applies(table, chip)


def _fails(name: str | None, found: Iterable[Finding]) -> bool:
    return any(finding.rule == name and finding.severity == "error" for finding in found)


def _judge(rule: Rule, found: Iterable[Finding], table: RankTable | None) -> Verdict:
    mine = tuple(finding for finding in found if finding.rule == rule.name)
    state: State = "ok"
    if _fails(rule.name, mine):
        state = "error"
    elif mine:
        state = "warning"
    elif _fails(rule.after, found) or (
        table is None and (rule.check is not None or _fails("json", found))
    ):
        state = "skipped"
    return Verdict(rule, state, mine)


def _as_json(finding: Finding) -> dict[str, str]:
    facts = asdict(finding)
    del facts["rule"]
    return facts

"""The runs of the HTML page: how each rank ended, the losses, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainferry.rehearse.rehearsal import (
    ONLY_ORIGINAL_RUNS,
    Compared,
    Outcome,
    RankRun,
    Rehearsal,
    Side,
)
from trainferry.rehearse.report import chinese
from trainferry.rehearse.report.chart import loss_chart
from trainferry.rehearse.report.sentences import last_words, loss_range, number
from trainferry.report.pieces import both, code, path_text, section, shown, table

_TITLES = (
    ("run", "运行"),
    ("rank", "rank"),
    ("steps", "步数"),
    ("s per step", "每步秒数"),
    ("loss", "损失"),
    ("end", "结束"),
    ("output", "输出"),
)
_MOST_LINES = 40
_KINDS = ("batch", "loss", "gradient", "weight")


def runs_section(rehearsal: Rehearsal) -> str:
    """A row for each rank of each run, and the losses drawn."""
    rows = "".join(_row(side, rank) for side in rehearsal.sides for rank in side.ranks)
    lines = [(_names(side, rank), rank.losses) for side in rehearsal.sides for rank in side.ranks]
    chart = loss_chart(lines)
    drawn = f'<div class="charts">{chart}</div>' if chart else ""
    listed = table("run-table", _TITLES, f"<tbody>{rows}</tbody>")
    content = f'{drawn}<div class="scroll">{listed}</div>'
    return section("runs", "Runs", "运行", content)


def failures(rehearsal: Rehearsal) -> str:
    """The ends of what failed scripts printed."""
    parts = "".join(_failure(side, rank) for side, rank in _failed(rehearsal))
    if rehearsal.only_original_runs:
        parts += f"<p>{both(ONLY_ORIGINAL_RUNS, chinese.ONLY_ORIGINAL_RUNS)}</p>"
    if not parts:
        items = "".join(f"<li>{code(reason)}</li>" for reason in rehearsal.reasons()[:1])
        is_silent = items and not rehearsal.findings and not rehearsal.compared
        parts = f"<ul>{items}</ul>" if is_silent else ""
    return section("failures", "What went wrong", "出错之处", parts) if parts else ""


def comparison_section(rehearsal: Rehearsal) -> str:
    parts = "".join(map(_compared, rehearsal.compared))
    return section("comparison", "Comparison", "数值对比", parts) if parts else ""


def _failed(rehearsal: Rehearsal) -> Iterator[tuple[Side, RankRun]]:
    for side in rehearsal.sides:
        if side.failed is not None:
            yield side, side.failed


def _failure(side: Side, rank: RankRun) -> str:
    title = both(
        f"The {_name(side, rank)} script {rank.ending}",
        f"{chinese.side_name(side.name)} rank {rank.rank}：{rank.ending}",
    )
    lines = "\n".join(last_words(rank, _MOST_LINES))
    return f"<p><b>{title}</b></p><pre>{shown(lines)}</pre><p>{code(rank.hint)}</p>"


def _row(side: Side, rank: RankRun) -> str:
    usual = "" if rank.step_seconds is None else f"{rank.step_seconds:.3g}"
    losses = loss_range(rank).removeprefix("loss ")
    end = both(rank.ending, chinese.OUTCOMES[rank.outcome])
    kind = "" if rank.outcome in (Outcome.GOOD, Outcome.STOPPED) else ' class="parted"'
    return (
        f"<tr{kind}><td>{both(side.name, chinese.side_name(side.name))}</td>"
        f'<td class="number">{rank.rank}</td><td class="number">{rank.steps}</td>'
        f'<td class="number">{usual}</td><td class="number">{shown(losses)}</td>'
        f"<td>{end}</td><td><code>{shown(rank.output)}</code></td></tr>"
    )


def _compared(compared: Compared) -> str:
    one, other = compared.what.split(" and ", 1)
    losses = [(f"loss, {name}", f"损失，{chinese.side_name(name)}") for name in (one, other)]
    kinds = [("batch", "批数据"), ("loss", "损失"), ("gradient", "梯度"), ("weight", "权重")]
    titles = [("step", "步"), *losses, *((f"Δ {name}", f"{text}之差") for name, text in kinds)]
    rows = "".join(_compared_row(row, row["step"] == compared.parts_at) for row in compared.rows)
    listed = table("compare-table", titles, f"<tbody>{rows}</tbody>") if rows else ""
    summary = both(compared.summary, chinese.comparison(compared))
    return f'<p>{summary}</p><div class="scroll">{listed}</div>'


def _compared_row(row: dict[str, Any], parts: bool) -> str:
    losses = [row["original_loss"], row["migrated_loss"]]
    cells = [str(row["step"]), *("" if loss is None else number(loss) for loss in losses)]
    numbers = "".join(f'<td class="number">{shown(cell)}</td>' for cell in cells)
    kind = ' class="parted"' if parts else ""
    return f"<tr{kind}>{numbers}{''.join(_apart(row[kind]) for kind in _KINDS)}</tr>"


def _apart(tensor: dict[str, Any] | None) -> str:
    """How far a tensor is apart, and which one it is."""
    if tensor is None:
        return '<td class="number"></td>'
    relative = float(tensor["relative"])
    told = "0" if relative == 0 else f"{relative:.1e}"
    name = f'<br><span class="operators">{path_text(tensor["name"])}</span>'
    return f'<td class="number">{told}{name if relative and tensor["name"] else ""}</td>'


def _names(side: Side, rank: RankRun) -> tuple[str, str]:
    more = f" rank {rank.rank}" if len(side.ranks) > 1 else ""
    return side.name + more, chinese.side_name(side.name) + more


def _name(side: Side, rank: RankRun) -> str:
    return f"{side.name} rank {rank.rank}" if len(side.ranks) > 1 else side.name

"""Where each rank writes, and what it finds in its environment, handed to torch elastic."""

from __future__ import annotations

import os
from pathlib import Path

from torch.distributed.elastic.multiprocessing.api import LogsDest, LogsSpecs

from trainferry.launch.start.start import Start


class RankLogs(LogsSpecs):
    """One file to a rank and round; torch elastic asks for them when it starts the ranks.

    That is also where it lets a launcher complete the ranks' environment, which `variables`
    holds: it depends on the rank that the meeting gave.
    """

    def __init__(self, start: Start) -> None:
        super().__init__()
        self._start = start
        self.folder = start.logs
        self.round = 0
        self.variables: dict[int, dict[str, str]] = {}
        self.paths: dict[int, Path] = {}

    @property
    def root_log_dir(self) -> str:
        return str(self.folder)

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        self.folder.mkdir(parents=True, exist_ok=True)
        for local_rank, environment in envs.items():
            rank = int(environment["RANK"])
            path = _unused(self.folder / f"attempt-{self.round}-rank-{rank}.log")
            self.paths[local_rank] = path
            environment.update(self.variables[local_rank])
            environment.update(
                TORCHELASTIC_RESTART_COUNT=str(self.round - 1),
                TORCHELASTIC_ERROR_FILE=str(path.with_suffix(".error.json")),
                TRAINFERRY_LOG=str(path),
                TRAINFERRY_LAUNCHER=str(os.getpid()),
            )
            if self._start.show == "all":
                environment["TRAINFERRY_SHOW"] = f"[rank {rank}] "
            elif self._start.show == "0" and rank == 0:
                environment["TRAINFERRY_SHOW"] = ""
        # The rank opens its log itself; no stream is redirected or followed here.
        empty = dict.fromkeys(envs, "")
        return LogsDest(dict(empty), dict(empty), {}, {}, dict(empty))


def _unused(path: Path) -> Path:
    """`path`, or the first numbered one beside it that is not there."""
    number = 1
    chosen = path
    while chosen.exists():
        number += 1
        chosen = path.with_stem(f"{path.stem}-{number}")
    return chosen

"""The course of a preflight on one rank, from announcing itself to the report.

all       find rank 0's board, say hello
rank 0    wait for the others, post who came
all       post what they see of their machine
speakers  the lowest rank of each machine tries the ports and tells the time
all       all-reduce, if nobody is missing
rank 0    judge, post the report
all       read it
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from trainferry.errors import LaunchError, TrainferryError
from trainferry.launch.preflight.board import Board, SilenceError, open_board
from trainferry.launch.preflight.clocks import answer_clock
from trainferry.launch.preflight.collect import await_crew, collect_report
from trainferry.launch.preflight.crew import Crew, Hello, crew_from_json
from trainferry.launch.preflight.device import look_at_device
from trainferry.launch.preflight.folders import folders_of_a_run, look_at_folder
from trainferry.launch.preflight.limits import look_at_limits
from trainferry.launch.preflight.names import look_at_name
from trainferry.launch.preflight.place import Place
from trainferry.launch.preflight.ports import Door, goals_of, knock
from trainferry.launch.preflight.report import Check, Problem, Report, report_from_json
from trainferry.launch.preflight.settings import Eyes, Settings
from trainferry.launch.preflight.table import look_at_table
from trainferry.launch.preflight.trial import TrialPlan, start_trial

# The longest that rank 0 can be busy with facts, ports and clocks.
_JUDGING_SECONDS = 120.0
_LEAVING_SECONDS = 3.0
_LOOKING_SECONDS = 0.2


@dataclass
class Course:
    """One rank's way."""

    place: Place
    settings: Settings
    eyes: Eyes = field(default_factory=Eyes)
    doors: list[Door] = field(default_factory=list)
    board: Board | None = None  # kept where rank 0's report was heard
    company: int = 1  # how many ranks came, known to rank 0

    @property
    def _patience(self) -> float:
        """What ranks grant each other beyond a limit, because they do not start at one moment."""
        return min(10.0, 1.0 + self.settings.seconds)

    def run(self) -> Report:
        """Take part; a rank that finds no rank 0, or loses it, reports that alone."""
        started = time.monotonic()
        try:
            board = open_board(self.place, self.settings.seconds)
            self._say_hello(board)
            report = self._hold(board) if self.place.rank == 0 else self._follow(board)
            self.board = board
        except TrainferryError as error:
            return self._alone(error, time.monotonic() - started)
        finally:
            for door in self.doors:
                door.close()
        return report

    def leave(self) -> None:
        """End together, after the report is kept or shown.

        The board goes with rank 0, so it waits for the others; and who starts ranks ends all of
        a machine when the first fails, so the others wait for rank 0.
        """
        if self.board is None:
            return
        try:
            self.board.add("left")
            if self.place.rank == 0:
                self.board.wait_for_count("left", self.company, _LEAVING_SECONDS)
                self.board.post("end", True)
            else:
                self.board.read("end", 2 * _LEAVING_SECONDS, "rank 0 to end")
        except SilenceError:
            return  # it has ended, which is as good

    def _say_hello(self, board: Board) -> None:
        place = self.place
        hello = Hello(
            place.rank,
            self.eyes.host(),
            self.eyes.address(place),
            place.device,
            place.local_ranks,
        )
        if board.add(f"claim/{place.rank}") > 1:
            board.post(f"twin/{place.rank}", True)
            raise LaunchError(
                f"another process says that it is rank {place.rank} too (this one: {hello.host})",
                hint="give each machine its own number, and end processes of an earlier run",
            )
        board.post(f"hello/{place.rank}", vars(hello))
        board.add("came")

    def _hold(self, board: Board) -> Report:
        started = time.monotonic()
        crew = await_crew(board, self.place, self.settings.seconds)
        self.company = len(crew.hellos)
        board.post("crew", crew.to_json())
        self._tell(board, crew)
        report = collect_report(board, crew, self.settings, self.eyes.now, self._try_out)
        report = replace(report, seconds=time.monotonic() - started)
        board.post("report", report.to_json())
        return report

    def _follow(self, board: Board) -> Report:
        limit = self.settings.seconds + self._patience
        crew = crew_from_json(self.place, board.read("crew", limit, "rank 0 to count the ranks"))
        if self.place.rank not in crew.machine_of:
            raise LaunchError(
                f"rank {self.place.rank} came too late: rank 0 had stopped waiting "
                f"after {crew.seconds:.1f} s",
                hint="start the machines together, or give them more seconds",
            )
        self._tell(board, crew)
        machine = crew.machine_of[self.place.rank]
        patience = _JUDGING_SECONDS
        if machine.speaker == self.place.rank and machine.number != 0:
            answer_clock(board, machine, self.eyes.now, patience)
        trials = 0
        while plan := board.read(f"trial/{trials}", patience, "rank 0 to go on"):
            trials += 1
            self._stay(board, TrialPlan(**plan), f"trial/{trials}")
            patience = 2 * self.settings.trial_seconds + self._patience
        return report_from_json(board.read("report", patience, "rank 0's report"))

    def _tell(self, board: Board, crew: Crew) -> None:
        """Post what this rank sees; the lowest of a machine also tries its neighbours."""
        settings, place = self.settings, self.place
        board.post(f"facts/{place.rank}", self._look())
        machine = crew.machine_of[place.rank]
        if machine.speaker != place.rank or len(crew.machines) < 2:
            return
        # Rank 0's machine may know itself by another address than the one it is reached at.
        address = machine.address if machine.number != 0 else place.address
        self.doors.append(Door(address, self.eyes.listen(machine.address)))
        board.post(f"door/{machine.number}", self.doors[-1].notice())
        tries: list[dict[str, Any]] = []
        for goal in goals_of(machine, crew.machines):
            try:
                found = board.read(f"door/{goal.number}", settings.seconds, goal.name)
            except SilenceError:
                found = {"address": goal.address, "port": 0}
                why = f"it opened no port within {settings.seconds:.0f} s"
            else:
                why = knock(found)
            place_of = {"address": found["address"], "port": found["port"]}
            tries.append({"to": goal.number, **place_of, "why": why})
        board.post(f"ports/{machine.number}", tries)

    def _look(self) -> dict[str, Any]:
        settings, place, eyes = self.settings, self.place, self.eyes
        folders = folders_of_a_run(settings.folders)
        return {
            "versions": {**eyes.versions(), **settings.facts},
            "device": look_at_device(settings.device, place.device),
            "folders": [look_at_folder(folder, eyes.free_bytes) for folder in folders],
            "limits": look_at_limits(),
            "name": look_at_name(eyes.host(), eyes.address(place)),
            "table": look_at_table(place.rank_table, place.rank, settings.chip),
        }

    def _stay(self, board: Board, plan: TrialPlan, following: str) -> None:
        """Take part until done, or until rank 0 has gone on: a library may hang here."""
        trial = self._try_out(plan)
        is_called = False
        while trial.is_alive() and not board.has(following):
            if not is_called and (is_called := board.has(plan.key("call"))):
                board.post(plan.key("here", self.place.rank), True)
            trial.join(_LOOKING_SECONDS)

    def _try_out(self, plan: TrialPlan) -> threading.Thread:
        return start_trial(plan, self.place, self.eyes.fill)

    def _alone(self, error: TrainferryError, seconds: float) -> Report:
        name = f"rank {self.place.rank}"
        problem = Problem("wrong", f"{name} ({self.eyes.host()}): {error}", error.hint)
        check = Check("connection", "ranks that could not take part", (problem,))
        place = self.place
        return Report(place.ranks, place.machines, place.rank, (check,), seconds)

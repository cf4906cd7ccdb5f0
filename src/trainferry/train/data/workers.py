"""Work spread over processes, with results in order and errors that keep their hint."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trainferry.errors import DataError, TrainferryError

Job = TypeVar("Job")
Result = TypeVar("Result")


def map_in_processes(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    processes: int,
    prepare: Callable[..., object] | None = None,
    prepare_arguments: tuple[Any, ...] = (),
) -> Iterator[Result]:
    """Yield `work(job)` for every job, in order; `prepare` runs once in each process.

    One process means this one. `work` must be a function at the top of a module.
    """
    processes = min(processes, len(jobs))
    if processes <= 1:
        if prepare is not None:
            prepare(*prepare_arguments)
        for job in jobs:
            yield work(job)
        return
    pool = ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=prepare,
        initargs=prepare_arguments,
    )
    try:
        for outcome in pool.map(_Guarded(work), jobs):
            if isinstance(outcome, _Failure):
                raise outcome.error()
            yield outcome
    except BrokenProcessPool:
        raise DataError(
            "a worker process was ended from outside, most often for lack of memory",
            hint="use fewer processes (`--processes`), then run the command again",
        ) from None
    finally:
        _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """Wait until the workers have ended.

    A second Ctrl-C may come while they do: if it broke the waiting off, the workers would go on
    waiting for work, and this program for them.
    """
    while True:
        try:
            pool.shutdown(wait=True, cancel_futures=True)
        except KeyboardInterrupt:
            continue
        return


@dataclass(frozen=True)
class _Failure:
    """An error on its way between processes: it could not be pickled with its hint."""

    kind: type[TrainferryError]
    message: str
    hint: str

    def error(self) -> TrainferryError:
        error = self.kind.__new__(self.kind)
        TrainferryError.__init__(error, self.message, hint=self.hint)
        return error


@dataclass(frozen=True)
class _Guarded(Generic[Job, Result]):
    work: Callable[[Job], Result]

    def __call__(self, job: Job) -> Result | _Failure:
        if _interrupted:
            raise KeyboardInterrupt  # jobs that were handed out before the user stopped
        try:
            return self.work(job)
        except TrainferryError as error:
            return _Failure(type(error), str(error), error.hint)
        except KeyboardInterrupt:
            _interrupted.append(True)
            raise


_interrupted: list[bool] = []

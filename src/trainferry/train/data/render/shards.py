"""Record files of drawn samples, rendered side by side in several processes."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from typing import NamedTuple, Protocol, TypeAlias

from trainferry.errors import DataError, TrainferryError
from trainferry.train.data.render.rendered_set import Shard, one_thread
from trainferry.train.data.tfrecord import RecordWriter

Progress = Callable[[int, int], None]
"""Called with the number of samples done and of all samples."""

_TELL_EVERY = 50
_LOOK_SECONDS = 0.2


class EnoughError(Exception):
    """Raised by whoever is told of the progress and wants no more: files that are whole stay."""


class Drawn(NamedTuple):
    """A sample as it is stored, and the font that it is lettered in."""

    record: bytes
    font: str


Draw: TypeAlias = Callable[[int], Drawn]


class Source(Protocol):
    """All that a process needs to draw any sample of a data set; it travels between processes."""

    def drawing(self) -> Draw:
        """Prepare to draw samples by their numbers."""


def render_shards(
    source: Source, shards: Sequence[Shard], processes: int, progress: Progress
) -> Counter[str]:
    """Render every file, on all cores for 0 processes, or none; return how often fonts were used.

    Where that fails, no file stays: part of a data set would stand in the way of the next try.
    """
    processes = min(processes or os.cpu_count() or 1, len(shards))
    counts: Counter[str] = Counter()
    try:
        if processes == 1:
            each = _render_here(source.drawing(), shards, progress)
        else:
            each = _render_in_processes(source, shards, processes, progress)
        with closing(each):
            for used in each:
                counts.update(used)
    except EnoughError:
        raise
    except BaseException:
        for shard in shards:
            shard.path.unlink(missing_ok=True)
        raise
    return counts


@dataclass(frozen=True)
class _Failure:
    """An error on its way to the first process: errors with hints cannot be pickled."""

    message: str
    hint: str


@dataclass(frozen=True)
class _Process:
    """What a rendering process keeps between files."""

    draw: Draw
    rendered: Synchronized[int]
    stop: Synchronized[int]


_here: list[_Process] = []


def _render_here(
    draw: Draw, shards: Sequence[Shard], progress: Progress
) -> Generator[Counter[str]]:
    total = sum(shard.count for shard in shards)
    with one_thread():
        for shard in shards:

            def told(done: int, first: int = shard.first) -> None:
                progress(first + done, total)

            yield _render_shard(draw, shard, told)


def _render_in_processes(
    source: Source, shards: Sequence[Shard], processes: int, progress: Progress
) -> Generator[Counter[str]]:
    total = sum(shard.count for shard in shards)
    # Not forked: the threads of torch and OpenCV do not survive that.
    context = multiprocessing.get_context("spawn")
    rendered, stop = context.Value("q", 0), context.Value("b", 0)
    pool = ProcessPoolExecutor(processes, context, _start_process, (source, rendered, stop))
    try:
        waiting = {pool.submit(_process_shard, shard) for shard in shards}
        while waiting:
            done, waiting = wait(waiting, _LOOK_SECONDS, "FIRST_COMPLETED")
            progress(rendered.value, total)
            for future in done:
                outcome = future.result()
                if isinstance(outcome, _Failure):
                    raise DataError(outcome.message, hint=outcome.hint)
                yield outcome
    except BrokenProcessPool as error:
        raise DataError(
            f"one of {processes} rendering processes was ended from outside",
            hint="perhaps memory ran out: use fewer processes",
        ) from error
    finally:
        stop.value = 1  # where one file failed, or the user stopped it, the others need not end
        pool.shutdown(cancel_futures=True)


def _start_process(source: Source, rendered: Synchronized[int], stop: Synchronized[int]) -> None:
    import cv2

    cv2.setNumThreads(1)
    _here.append(_Process(source.drawing(), rendered, stop))


def _process_shard(shard: Shard) -> Counter[str] | _Failure:
    process = _here[0]
    last = 0

    def told(done: int) -> None:
        nonlocal last
        with process.rendered.get_lock():
            process.rendered.value += done - last
        last = done
        if process.stop.value:
            raise DataError("rendering was stopped", hint="run the command again")

    try:
        return _render_shard(process.draw, shard, told)
    except TrainferryError as error:
        return _Failure(str(error), error.hint)


def _render_shard(draw: Draw, shard: Shard, told: Callable[[int], None]) -> Counter[str]:
    used: Counter[str] = Counter()
    with RecordWriter(shard.path) as writer:
        for number in range(1, shard.count + 1):
            drawn = draw(shard.first + number - 1)
            writer.write(drawn.record)
            used[drawn.font] += 1
            if number % _TELL_EVERY == 0 or number == shard.count:
                told(number)
    return used

"""Record files of word pictures, rendered side by side in several processes."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized

from trainferry.errors import DataError, TrainferryError
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.render.rendered_set import Shard, one_thread
from trainferry.train.data.render.words.compose import Composer, Style, WordPicture
from trainferry.train.data.render.words.fonts import Font
from trainferry.train.data.render.words.lexicon import Lexicon
from trainferry.train.data.tfrecord import RecordWriter

Progress = Callable[[int, int], None]
"""Called with the number of pictures done and of all pictures."""

_TELL_EVERY = 50
_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Source:
    """All that a process needs to draw any picture of the data set."""

    seed: int
    split: str
    fonts: tuple[Font, ...]
    words: tuple[str, ...]
    style: Style

    def composer(self) -> Composer:
        return Composer(self.seed, self.split, Lexicon(self.words), self.fonts, self.style)


def render_shards(
    source: Source, shards: list[Shard], processes: int, progress: Progress
) -> Iterator[Counter[str]]:
    """Render every file, on all cores for 0 processes; yields the fonts used in each."""
    processes = min(processes or os.cpu_count() or 1, len(shards))
    if processes == 1:
        return _render_here(source.composer(), shards, progress)
    return _render_in_processes(source, shards, processes, progress)


@dataclass(frozen=True)
class _Failure:
    """An error on its way to the first process: errors with hints cannot be pickled."""

    message: str
    hint: str


@dataclass(frozen=True)
class _Process:
    """What a rendering process keeps between files."""

    composer: Composer
    rendered: Synchronized[int]
    stop: Synchronized[int]


_here: list[_Process] = []


def _render_here(
    composer: Composer, shards: list[Shard], progress: Progress
) -> Iterator[Counter[str]]:
    total = sum(shard.count for shard in shards)
    with one_thread():
        for shard in shards:

            def told(done: int, first: int = shard.first) -> None:
                progress(first + done, total)

            yield _render_shard(composer, shard, told)


def _render_in_processes(
    source: Source, shards: list[Shard], processes: int, progress: Progress
) -> Iterator[Counter[str]]:
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
            hint="perhaps memory ran out: delete the files written and use fewer processes",
        ) from error
    finally:
        stop.value = 1  # where one file failed, or the user stopped it, the others need not end
        pool.shutdown(cancel_futures=True)


def _start_process(source: Source, rendered: Synchronized[int], stop: Synchronized[int]) -> None:
    import cv2

    cv2.setNumThreads(1)
    _here.append(_Process(source.composer(), rendered, stop))


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
        return _render_shard(process.composer, shard, told)
    except TrainferryError as error:
        return _Failure(str(error), error.hint)


def _render_shard(composer: Composer, shard: Shard, told: Callable[[int], None]) -> Counter[str]:
    used: Counter[str] = Counter()
    with RecordWriter(shard.path) as writer:
        for number in range(1, shard.count + 1):
            index = shard.first + number - 1
            word = composer.compose(index)
            writer.write(_example(word, index))
            used[word.font] += 1
            if number % _TELL_EVERY == 0 or number == shard.count:
                told(number)
    return used


def _example(word: WordPicture, index: int) -> bytes:
    return build_example(
        {
            "image/encoded": encode_jpeg(word.picture, word.look.camera.quality),
            "image/text": word.text.label,
            "image/path": f"{index:08d}_{word.font}",
        }
    )

"""Rates of reading records and word pictures: trainferry, tf.data and plain Pillow, in one run.

Every reader works on the same files and the same core, and the readers take turns:
one measurement each, round after round, so that other work on the machine meets all
of them. TensorFlow runs in an interpreter of its own, which needs no other package.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import numpy as np

HEIGHT, WIDTH, LONGEST = 32, 100, 25
CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
PACKAGES = ("numpy", "torch", "pillow", "simplejpeg", "opencv-python-headless", "google-crc32c")

FRAMES = "records, checksum only"
LABELS = "records, label parsed"
SMOOTH = f"pictures {HEIGHT}x{WIDTH} and labels, antialiased"
PLAIN = f"pictures {HEIGHT}x{WIDTH} and labels, plain bilinear"

Work = Callable[[], object]


@dataclass(frozen=True)
class Reader:
    """One way of doing one job. The first reader of a job is what the others are compared with."""

    job: str
    name: str
    here: bool  # or in the interpreter that has TensorFlow

    @property
    def key(self) -> str:
        return f"{self.job} / {self.name}"


@dataclass(frozen=True)
class Measurement:
    """One measurement of one reader."""

    samples: int
    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True)
class Rate:
    """Samples per second over the rounds: per second of the CPU, and by the clock."""

    job: str
    name: str
    per_cpu_second: float
    lowest: float
    highest: float
    per_wall_second: float
    ratio: float  # to the first reader of the job


def main() -> int:
    arguments = _parse_arguments()
    core = _pin(arguments.core)
    if arguments.tensorflow_worker:
        return _work_for_parent(arguments)
    if arguments.data is not None:
        report = measure(arguments, arguments.data, core)
    else:
        with tempfile.TemporaryDirectory(prefix="trainferry-benchmark-") as folder:
            _render(arguments.count, Path(folder))
            report = measure(arguments, Path(folder), core)
    print(as_text(report))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(arguments: argparse.Namespace, folder: Path, core: int | None) -> dict[str, Any]:
    """Let every reader read the records in `folder`, in turns; return facts and rates."""
    from trainferry.train.data.tfrecord import find_records

    paths = find_records(folder, "train")
    works = our_readers(paths, arguments.batch)
    tensorflow = None
    if arguments.tensorflow_python is None:
        print("tf.data is left out: pass --tensorflow-python EXE to include it", file=sys.stderr)
    else:
        tensorflow = TensorFlowWorker(arguments, paths)
    readers = [*works, *(tensorflow.readers if tensorflow else ())]
    measured: dict[str, list[Measurement]] = {reader.key: [] for reader in readers}
    for number in range(-1, arguments.rounds):
        for reader in readers:
            if reader.here:
                one = _time(works[reader], _count(paths), arguments.seconds)
            else:
                assert tensorflow is not None
                one = tensorflow.time(reader)
            if number >= 0:  # the first round only warms up
                measured[reader.key].append(one)
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    versions = _versions(PACKAGES)
    if tensorflow is not None:
        versions["tensorflow"] = tensorflow.version
        tensorflow.close()
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "core_used": core,
        "python": platform.python_version(),
        "versions": versions,
        "records": _count(paths),
        "bytes": sum(path.stat().st_size for path in paths),
        "batch": arguments.batch,
        "rounds": arguments.rounds,
        "rates": [asdict(rate) for rate in _rates(readers, measured)],
    }


def our_readers(paths: Sequence[Path], batch: int) -> dict[Reader, Work]:
    """Return what runs in this process: trainferry's readers and the Pillow loop."""
    import torch

    from trainferry.train.data.example import first_bytes, split_example
    from trainferry.train.data.pictures import Filter
    from trainferry.train.data.words.alphabet import Alphabet
    from trainferry.train.data.words.check import check_words
    from trainferry.train.data.words.records import WordRecords
    from trainferry.train.data.words.source import WordSource

    torch.set_num_threads(1)
    alphabet = Alphabet(CHARACTERS)

    def open_words(filter: Filter) -> WordRecords:
        return WordRecords(
            *(paths, alphabet), case="lower", height=HEIGHT, width=WIDTH, filter=filter, order="rgb"
        )

    words = open_words("antialias")
    records, count = words.records, len(words)
    samples = [split_example(record) for record in map(records.__getitem__, range(count))]
    pictures = [bytes(first_bytes(sample[b"image/encoded"]) or b"") for sample in samples]
    texts = [words.text(number) for number in range(count)]
    everything = np.arange(count, dtype=np.int64)

    def read_batches(source: WordSource) -> None:
        for start in range(0, count, batch):
            positions = everything[start : start + batch]
            source.batch(positions, len(positions), replacing=False)

    def read_labels() -> None:
        for number in range(count):
            first_bytes(split_example(records[number])[b"image/text"])

    def check() -> None:
        check_words(words, columns=LONGEST, max_length=LONGEST, pictures=False, processes=1)

    smooth = WordSource(words, alphabet, everything, LONGEST)
    readers: dict[Reader, Work] = {
        Reader(FRAMES, "trainferry", True): lambda: [records[number] for number in range(count)],
        Reader(LABELS, "trainferry, WordRecords.text", True): lambda: [
            words.text(number) for number in range(count)
        ],
        Reader(LABELS, "trainferry, bytes of the label", True): read_labels,
        Reader(LABELS, "trainferry, check_words", True): check,
        Reader(SMOOTH, "trainferry, WordSource.batch", True): lambda: read_batches(smooth),
        Reader(SMOOTH, "Pillow, bytes in memory", True): lambda: _read_with_pillow(
            pictures, texts, batch
        ),
    }
    if _versions(["opencv-python-headless"]) or _versions(["opencv-python"]):
        import cv2

        cv2.setNumThreads(0)
        plain = WordSource(open_words("bilinear"), alphabet, everything, LONGEST)
        readers[Reader(PLAIN, "trainferry, WordSource.batch", True)] = lambda: read_batches(plain)
    return readers


class TensorFlowWorker:
    """This script once more, in the interpreter that has TensorFlow; it waits between its turns."""

    readers = (
        Reader(FRAMES, "tf.data, TFRecordDataset in batches of 256", False),
        Reader(LABELS, "tf.data, parse_example on batches of 256", False),
        Reader(SMOOTH, "tf.data, antialias=True", False),
        Reader(PLAIN, "tf.data", False),
    )

    def __init__(self, arguments: argparse.Namespace, paths: Sequence[Path]) -> None:
        options = ["--batch", arguments.batch, "--seconds", arguments.seconds]
        if arguments.core is not None:
            options += ["--core", arguments.core]
        command = [arguments.tensorflow_python, __file__, *options, "--tensorflow-worker", *paths]
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", **os.environ}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.version = str(self._answer()["tensorflow"])

    def time(self, reader: Reader) -> Measurement:
        assert self._process.stdin is not None
        print(reader.key, file=self._process.stdin, flush=True)
        return Measurement(**self._answer())

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the TensorFlow interpreter ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def tensorflow_readers(tf: Any, paths: Sequence[str], batch: int) -> dict[str, Work]:  # noqa: ANN401 - a module
    """Return tf.data's way of each job: one thread, no autotuning."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    text = {"image/text": tf.io.FixedLenFeature([], tf.string)}
    both = {**text, "image/encoded": tf.io.FixedLenFeature([], tf.string)}
    classes = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            list(CHARACTERS), tf.range(len(CHARACTERS), dtype=tf.int64)
        ),
        len(CHARACTERS),
    )

    def sample(record: Any, antialias: bool) -> tuple[Any, Any]:  # noqa: ANN401 - a tensor
        features = tf.io.parse_single_example(record, both)
        picture = tf.io.decode_jpeg(features["image/encoded"], channels=3)
        picture = tf.image.resize(picture, (HEIGHT, WIDTH), antialias=antialias)
        return tf.cast(picture + 0.5, tf.uint8), features["image/text"]

    def labels(pictures: Any, texts: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - tensors
        characters = tf.strings.bytes_split(tf.strings.lower(texts))
        numbers = tf.ragged.map_flat_values(classes.lookup, characters)
        padded = numbers.to_tensor(len(CHARACTERS), shape=(None, LONGEST))
        return pictures, padded, numbers.row_lengths()

    records = tf.data.TFRecordDataset(list(paths)).with_options(options)
    parsed = records.batch(256).map(lambda part: tf.io.parse_example(part, text))
    smooth = records.map(lambda record: sample(record, True)).batch(batch).map(labels)
    plain = records.map(lambda record: sample(record, False)).batch(batch).map(labels)
    # In batches: one by one, the way to Python would cost more than the reading.
    datasets = (records.batch(256), parsed, smooth, plain)
    return {
        reader.key: _Drain(dataset)
        for reader, dataset in zip(TensorFlowWorker.readers, datasets, strict=True)
    }


@dataclass(frozen=True)
class _Drain:
    dataset: Any

    def __call__(self) -> None:
        for _ in self.dataset:
            pass


def as_text(report: dict[str, Any]) -> str:
    """Return the facts and one table, readable as it is and as Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    kibibytes = report["bytes"] / report["records"] / 1024
    pinned = (
        "not pinned" if report["core_used"] is None else f"pinned to core {report['core_used']}"
    )
    lines = [
        f"{report['date']}, {report['processor']}, {report['cores']} cores, {pinned}",
        f"Python {report['python']}, {versions}",
        f"{report['records']} records of {kibibytes:.1f} KiB, batch {report['batch']}, "
        f"median of {report['rounds']} rounds (lowest to highest)",
        "",
        "| job | reader | per CPU second | spread | by the clock | ratio |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {rate['job']} | {rate['name']} | {rate['per_cpu_second']:,.0f} "
        f"| {rate['lowest']:,.0f} to {rate['highest']:,.0f} "
        f"| {rate['per_wall_second']:,.0f} | {rate['ratio']:.2f} |"
        for rate in report["rates"]
    ]
    return "\n".join(lines)


def _rates(readers: Sequence[Reader], measured: dict[str, list[Measurement]]) -> Iterator[Rate]:
    for job in dict.fromkeys(reader.job for reader in readers):
        first = 0.0
        for reader in readers:
            if reader.job != job:
                continue
            all_of_it = measured[reader.key]
            rates = [one.samples / one.cpu_seconds for one in all_of_it]
            median = statistics.median(rates)
            first = first or median
            yield Rate(
                job,
                reader.name,
                median,
                min(rates),
                max(rates),
                statistics.median(one.samples / one.wall_seconds for one in all_of_it),
                median / first,
            )


def _time(work: Work, samples: int, least_seconds: float) -> Measurement:
    """Do the work again and again until enough time has passed for the clocks."""
    done = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while not done or time.perf_counter() - wall < least_seconds:
        work()
        done += samples
    return Measurement(done, time.process_time() - cpu, time.perf_counter() - wall)


def _read_with_pillow(pictures: Sequence[bytes], texts: Sequence[str], batch: int) -> None:
    """Decode and resize as most scripts do, to the same arrays; records are already parsed."""
    from PIL import Image

    classes = {character: number for number, character in enumerate(CHARACTERS)}
    for start in range(0, len(pictures), batch):
        part = pictures[start : start + batch]
        images = np.zeros((len(part), HEIGHT, WIDTH, 3), np.uint8)
        labels = np.full((len(part), LONGEST), len(CHARACTERS), np.int64)
        for row, data in enumerate(part):
            with Image.open(io.BytesIO(data)) as image:
                resized = image.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)
            images[row] = np.asarray(resized)
            label = [classes[one] for one in texts[start + row] if one in classes][:LONGEST]
            labels[row, : len(label)] = label


def _work_for_parent(arguments: argparse.Namespace) -> int:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    readers = tensorflow_readers(tf, arguments.paths, arguments.batch)
    samples = sum(1 for _ in tf.data.TFRecordDataset(arguments.paths))
    _answer_parent(sys.stdout, {"tensorflow": tf.__version__})
    for line in sys.stdin:
        one = _time(readers[line.strip()], samples, arguments.seconds)
        _answer_parent(sys.stdout, asdict(one))
    return 0


def _answer_parent(stream: IO[str], answer: dict[str, Any]) -> None:
    print(json.dumps(answer), file=stream, flush=True)


def _render(count: int, folder: Path) -> None:
    from trainferry.train.data.render.words.make import WordsOptions, render_words

    print(f"rendering {count} words", file=sys.stderr)
    render_words(WordsOptions(count=count, processes=1), folder, lambda *_: None)


def _count(paths: Sequence[Path]) -> int:
    from trainferry.train.data.tfrecord import RecordSet

    return len(RecordSet(paths))


def _pin(asked: int | None) -> int | None:
    """Keep this process on one core; return which, or None where that cannot be done."""
    if not hasattr(os, "sched_setaffinity"):
        print("this system cannot pin a process: figures are not per core", file=sys.stderr)
        return None
    core = min(os.sched_getaffinity(0)) if asked is None else asked
    os.sched_setaffinity(0, {core})
    return core


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    for line in facts.read_text(encoding="utf-8").splitlines() if facts.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions(names: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=4000, help="words to render")
    parser.add_argument("--data", type=Path, help="a folder of `data words`, instead of rendering")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3, help="least time of a measurement")
    parser.add_argument("--core", type=int, help="which core to use; default: the first allowed")
    parser.add_argument("--tensorflow-python", metavar="EXE", help="a Python that has TensorFlow")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--tensorflow-worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

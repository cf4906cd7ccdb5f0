"""Rates of making training pictures from records of photographs: ours, tf.data and plain Pillow.

All do the same work: read a record, draw a box, decode, cut, resize to 224 x 224, mirror,
subtract the mean, and put float32 values into batches. They work on the same files and the
same core and take turns, so that other work on the machine meets all of them. TensorFlow runs
in interpreters of its own, from Python 3.7 on, which need no other package.

With --recipes, ours alone make bytes as these recipes say, and where a recipe decodes large
photographs smaller, whole as well.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], int]  # makes some batches, says how many pictures

SIDE = 224
MEAN = (123.68, 116.78, 103.94)
AS_THEY_ARE = "as they are"
PACKAGES = ("numpy", "torch", "pillow", "simplejpeg", "opencv-python-headless", "google-crc32c")


@dataclass(frozen=True)
class Measurement:
    """One measurement of one contender."""

    pictures: int
    cpu_seconds: float
    wall_seconds: float


@dataclass(frozen=True)
class Rate:
    """Pictures per second over the rounds: per second of the CPU, and by the clock."""

    size: str
    name: str
    per_cpu_second: float
    lowest: float
    highest: float
    per_wall_second: float
    ratio: float  # to the first contender


def main() -> int:
    arguments = _parse_arguments()
    core = _pin(arguments.core)
    if arguments.worker is not None:
        return _work_for_parent(arguments)
    if arguments.pictures is None:
        raise SystemExit("pass --pictures FOLDER, a folder of JPEG files")
    report = {**_facts(arguments, core), "jobs": [], "rates": []}
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory(prefix="trainferry-benchmark-") as folder:
            path = Path(folder) / "train-00000-of-00001"
            report["jobs"].append(_write_records(arguments, size, path))
            measured = measure(arguments, path)
        report["rates"] += [asdict(rate) for rate in _rates(size, measured)]
    print(as_text(report))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(arguments: argparse.Namespace, path: Path) -> dict[str, list[Measurement]]:
    """Let every contender read the records, in turns; the first round only warms up."""
    if arguments.recipes:
        works = recipe_contenders(path, arguments.batch, arguments.recipes)
    else:
        works = our_contenders(path, arguments.batch)
    turns: dict[str, Callable[[], Measurement]] = {
        name: lambda work=work: _time(work, arguments.seconds)  # type: ignore[misc]
        for name, work in works.items()
    }
    workers = []
    for executable in arguments.tensorflow:
        worker = TensorFlowWorker(arguments, executable, path)
        workers.append(worker)
        turns[f"tf.data, TensorFlow {worker.version}"] = worker.time
    measured: dict[str, list[Measurement]] = {name: [] for name in turns}
    for number in range(-1, arguments.rounds):
        for name, turn in turns.items():
            one = turn()
            if number >= 0:
                measured[name].append(one)
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    for worker in workers:
        worker.close()
    return measured


def our_contenders(path: Path, batch: int) -> dict[str, Work]:
    """Return what runs in this process; the first is what the others are compared with."""
    import torch

    from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

    records = _open(path)
    picture = PhotoPicture(height=SIDE, width=SIDE, mean=MEAN)
    make_bytes = _bytes_of(records, picture, PhotoAugment(flip=0.5), batch)
    mean = torch.tensor(MEAN * SIDE)
    values = torch.empty(batch, SIDE, SIDE * 3)

    def make_values() -> int:
        for one, target in zip(make_bytes().view(batch, SIDE, -1), values, strict=True):
            target.copy_(one).sub_(mean)
        return batch

    return {
        "trainferry": make_values,
        "trainferry, bytes that the device normalises": lambda: len(make_bytes()),
        "Pillow": pillow_contender(records, batch),
    }


def recipe_contenders(path: Path, batch: int, names: list[str]) -> dict[str, Work]:
    """Return one for each way in which the pictures of each recipe can be decoded."""
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

    records = _open(path)
    works: dict[str, Work] = {}
    for name in names:
        recipe = read_recipe(name)
        picture, augment = recipe.picture, recipe.augment
        assert isinstance(picture, PhotoPicture)
        assert isinstance(augment, PhotoAugment)
        for way in dict.fromkeys(("whole", picture.decode)):
            make_bytes = _bytes_of(records, replace(picture, decode=way), augment, batch)
            works[f"{name}, {way}"] = partial(_count, make_bytes)
    return works


def _count(make_bytes: Callable[[], Any]) -> int:
    return len(make_bytes())


def _open(path: Path) -> Any:  # noqa: ANN401 - of a lazy import
    import torch

    from trainferry.train.data.photos.records import PhotoRecords

    torch.set_num_threads(1)
    if "opencv-python-headless" in _versions():
        import cv2

        cv2.setNumThreads(0)
    return PhotoRecords([path])


def _bytes_of(records: Any, picture: Any, augment: Any, batch: int) -> Callable[[], Any]:  # noqa: ANN401 - of lazy imports
    """Return what makes one batch after the other, always the same ones."""
    import numpy as np

    from trainferry.train.data.photos.source import PhotoSource

    source = PhotoSource(
        records=records,
        kept=np.arange(len(records), dtype=np.int64),
        labels=records.labels(),
        first_label=1,
        names=("photograph",),
        picture=picture,
        augment=augment,
    )
    order, seeds = _places(len(records), batch), iter(range(1 << 30))

    def make_bytes() -> Any:  # noqa: ANN401 - a tensor
        positions = next(order)
        return source.training_batch(positions, positions, next(seeds)).images

    return make_bytes


def pillow_contender(records: Any, batch: int) -> Work:  # noqa: ANN401 - of a lazy import
    """Return a plain loader; it has our records and our boxes, and a batch that is used again."""
    import numpy as np
    from PIL import Image

    from trainferry.train.data.photos.sampling import sample_distorted_box
    from trainferry.train.recipe.tasks import PhotoPicture

    settings, mean = PhotoPicture(), np.array(MEAN, np.float32)
    dice = np.random.default_rng(0)
    values = np.empty((batch, SIDE, SIDE, 3), np.float32)
    order = _places(len(records), batch)

    def make_values() -> int:
        for row, position in enumerate(next(order).tolist()):
            sample = records.sample(position)
            with Image.open(io.BytesIO(sample.encoded)) as opened:
                image = opened.convert("RGB")
            box = sample_distorted_box(dice, image.height, image.width, sample.boxes, settings)
            image = image.crop((box.left, box.top, box.left + box.width, box.top + box.height))
            image = image.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            if dice.random() < 0.5:
                image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            values[row] = np.asarray(image, np.float32) - mean
        return batch

    return make_values


class TensorFlowWorker:
    """This script once more, in an interpreter that has TensorFlow; it waits between its turns."""

    def __init__(self, arguments: argparse.Namespace, executable: str, path: Path) -> None:
        options = ["--batch", arguments.batch, "--seconds", arguments.seconds]
        if arguments.core is not None:
            options += ["--core", arguments.core]
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", **os.environ}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(part) for part in (executable, __file__, *options, "--worker", path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.version = str(self._answer()["tensorflow"])
        self._process.send_signal(signal.SIGSTOP)

    def time(self) -> Measurement:
        """Let it work; between its turns it is stopped, or it would make batches in advance."""
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        print("go", file=self._process.stdin, flush=True)
        measured = Measurement(**self._answer())
        self._process.send_signal(signal.SIGSTOP)
        return measured

    def close(self) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.communicate()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the TensorFlow interpreter ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def tensorflow_contender(tf: Any, path: str, batch: int) -> Work:  # noqa: ANN401 - a module
    """Return the pipeline of the originals, fused decoding included, on one thread."""
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string)}
    features["image/class/label"] = tf.io.FixedLenFeature([], tf.int64)

    def sample(record: Any) -> Any:  # noqa: ANN401 - tensors
        parsed = v1.parse_single_example(record, features)
        encoded = parsed["image/encoded"]
        begin, extent, _ = v1.image.sample_distorted_bounding_box(
            v1.image.extract_jpeg_shape(encoded),
            bounding_boxes=tf.zeros([1, 0, 4]),
            min_object_covered=0.1,
            aspect_ratio_range=[0.75, 1.33],
            area_range=[0.05, 1.0],
            max_attempts=100,
            use_image_if_no_bounding_boxes=True,
        )
        window = tf.stack([begin[0], begin[1], extent[0], extent[1]])
        image = tf.image.decode_and_crop_jpeg(encoded, window, channels=3)
        image = tf.image.random_flip_left_right(image)
        image = v1.image.resize_images(
            image, [SIDE, SIDE], method=v1.image.ResizeMethod.BILINEAR, align_corners=False
        )
        return image - tf.constant(MEAN, shape=[1, 1, 3]), parsed["image/class/label"]

    dataset = tf.data.TFRecordDataset([path]).repeat().map(sample, num_parallel_calls=1)
    images, _ = v1.data.make_one_shot_iterator(dataset.batch(batch)).get_next()
    threads = {"intra_op_parallelism_threads": 1, "inter_op_parallelism_threads": 1}
    session = v1.Session(config=v1.ConfigProto(**threads))

    def make_values() -> int:
        session.run(images.op)  # without a copy of the batch to Python
        return batch

    return make_values


def as_text(report: dict[str, Any]) -> str:
    """Return the facts and one table, readable as it is and as Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    lines = [
        f"{report['date']}, {report['processor']}, {report['cores']} cores, "
        f"pinned to core {report['core_used']}",
        f"Python {report['python']}, {versions}",
        f"batch {report['batch']}, median of {report['rounds']} rounds (lowest to highest)",
        *(
            f"{job['size']}: {job['records']} photographs of {job['kibibytes']:.0f} KiB, "
            f"{job['megapixels']:.2f} megapixels on average"
            for job in report["jobs"]
        ),
        "",
        "| photographs | pipeline | per CPU second | spread | by the clock | ratio |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {rate['size']} | {rate['name']} | {rate['per_cpu_second']:,.0f} "
        f"| {rate['lowest']:,.0f} to {rate['highest']:,.0f} "
        f"| {rate['per_wall_second']:,.0f} | {rate['ratio']:.2f} |"
        for rate in report["rates"]
    ]
    return "\n".join(lines)


def _rates(size: str, measured: dict[str, list[Measurement]]) -> Iterator[Rate]:
    first = 0.0
    for name, all_of_it in measured.items():
        rates = [one.pictures / one.cpu_seconds for one in all_of_it]
        wall = [one.pictures / one.wall_seconds for one in all_of_it]
        median = statistics.median(rates)
        first = first or median
        clock = statistics.median(wall)
        yield Rate(size, name, median, min(rates), max(rates), clock, median / first)


def _time(work: Work, least_seconds: float) -> Measurement:
    """Do the work again and again until enough time has passed for the clocks."""
    done = 0
    wall, cpu = time.perf_counter(), time.process_time()
    while not done or time.perf_counter() - wall < least_seconds:
        done += work()
    return Measurement(done, time.process_time() - cpu, time.perf_counter() - wall)


def _places(count: int, batch: int) -> Iterator[Any]:
    """Yield the numbers of the samples of one batch after the other, round and round."""
    import numpy as np

    start = 0
    while True:
        yield np.arange(start, start + batch, dtype=np.int64) % count
        start = (start + batch) % count


def _write_records(arguments: argparse.Namespace, size: str, path: Path) -> dict[str, Any]:
    """Write the pictures as they are, or with as many pixels as "WIDTHxHEIGHT" says.

    "WIDTHxHEIGHT to SHORT" packs these as `data folder --short-side SHORT` does.
    """
    from PIL import Image

    from trainferry.train.data.example import build_example
    from trainferry.train.data.photos.pack import encode_photo
    from trainferry.train.data.tfrecord import write_records

    found = sorted(arguments.pictures.rglob("*.[jJ][pP]*[gG]"))
    found = found[:: max(1, len(found) // arguments.count)][: arguments.count]
    if not found:
        raise SystemExit(f"no JPEG files in {arguments.pictures}")
    records, pixels = [], 0
    first, _, short_side = size.partition(" to ")
    for source in found:
        data = source.read_bytes()
        if size != AS_THEY_ARE:
            with Image.open(source) as opened:
                data = _encode_again(arguments, opened.convert("RGB"), first)
        data, (height, width), _ = encode_photo(data, int(short_side or 0))
        pixels += height * width
        records.append(build_example({"image/encoded": data, "image/class/label": 1}))
    write_records(path, records)
    return {
        "size": size,
        "records": len(records),
        "kibibytes": sum(map(len, records)) / len(records) / 1024,
        "megapixels": pixels / len(records) / 1e6,
    }


def _encode_again(arguments: argparse.Namespace, image: Any, size: str) -> bytes:  # noqa: ANN401 - of a lazy import
    """Resize, and add the noise of a camera: what was made larger has no detail of its own."""
    import numpy as np
    from PIL import Image

    width, height = map(int, size.split("x"))
    factor = (width * height / (image.width * image.height)) ** 0.5
    new = round(image.width * factor), round(image.height * factor)
    image = image.resize(new, Image.Resampling.BICUBIC)
    if arguments.noise:
        dice = np.random.default_rng(new)
        noise = arguments.noise * dice.standard_normal((*new[::-1], 1), np.float32)
        image = Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))
    target = io.BytesIO()
    image.save(target, "JPEG", quality=arguments.quality, subsampling="4:2:0")
    return target.getvalue()


def _work_for_parent(arguments: argparse.Namespace) -> int:
    import tensorflow as tf

    work = tensorflow_contender(tf, arguments.worker, arguments.batch)
    print(json.dumps({"tensorflow": tf.__version__}), flush=True)
    for _ in sys.stdin:
        print(json.dumps(asdict(_time(work, arguments.seconds))), flush=True)
    return 0


def _pin(asked: int | None) -> int | None:
    """Keep this process on one core; return which, or None where that cannot be done."""
    if not hasattr(os, "sched_setaffinity"):
        print("this system cannot pin a process: figures are not per core", file=sys.stderr)
        return None
    core = min(os.sched_getaffinity(0)) if asked is None else asked
    os.sched_setaffinity(0, {core})
    return core


def _facts(arguments: argparse.Namespace, core: int | None) -> dict[str, Any]:
    if not arguments.tensorflow and not arguments.recipes:
        print("tf.data is left out: pass --tensorflow EXE to include it", file=sys.stderr)
    return {
        "date": date.today().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "core_used": core,
        "python": platform.python_version(),
        "versions": _versions(),
        "batch": arguments.batch,
        "rounds": arguments.rounds,
    }


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    for line in facts.read_text(encoding="utf-8").splitlines() if facts.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="JPEG files to work on")
    parser.add_argument(
        "--sizes",
        nargs="+",
        default=["500x375", AS_THEY_ARE],
        help=f'pixels to encode them with again, or "{AS_THEY_ARE}"; "4000x3000 to 512" also makes '
        "them smaller as `data folder --short-side 512` does",
    )
    parser.add_argument(
        "--recipes", nargs="+", default=[], metavar="NAME", help="compare these instead"
    )
    parser.add_argument(
        "--noise", type=float, default=0.0, help="levels of it in what is encoded again"
    )
    parser.add_argument("--quality", type=int, default=92, help="of what is encoded again")
    parser.add_argument("--count", type=int, default=400, help="most pictures to use")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="least time of a measurement")
    parser.add_argument("--core", type=int, help="which core to use; default: the first allowed")
    parser.add_argument(
        "--tensorflow", nargs="+", default=[], metavar="EXE", help="Pythons that have TensorFlow"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--worker", metavar="RECORDS", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

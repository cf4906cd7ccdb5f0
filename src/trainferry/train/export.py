"""From a run to one ONNX file, which is run and compared with the network before it is kept.

The file takes bytes as pictures have them, uint8, B H W 3, RGB; the normalisation and, for
networks trained on BGR, the swap of colours are inside, so nobody can get them wrong.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from trainferry import __version__
from trainferry.errors import (
    DataError,
    ExportError,
    MissingPackageError,
    PictureError,
    UsageError,
)
from trainferry.train.build import OpenRun, evaluation_source
from trainferry.train.checkpoint import find_checkpoint, read_facts
from trainferry.train.data.pictures import Picture
from trainferry.train.data.whole_file import write_whole
from trainferry.train.onnx_facts import OnnxFacts
from trainferry.train.onnx_graph import OPSET, build_graph
from trainferry.train.predict import find_pictures
from trainferry.train.reader import Logits, Reader, file_reader, first_samples, run_reader
from trainferry.train.score import PROTOCOLS
from trainferry.train.tasks.decode import greedy

if TYPE_CHECKING:
    from onnx import ModelProto

MOST_SAMPLES = 512
RENDERED = 64
TOLERANCE = 1e-4
_BATCH = 64


@dataclass(frozen=True)
class Samples:
    """Prepared RGB pictures to compare on, where they come from, and their texts if known."""

    pictures: Sequence[Picture]
    origin: str
    texts: Sequence[str] = ()
    unreadable: int = 0


@dataclass(frozen=True)
class Comparison:
    """What the file and the network said to the same pictures.

    Logits are compared in parts of the largest one: two fp32 programs that add the same
    numbers in another order part by more than 1e-4 where logits are large, and both are
    as far from the float64 result. Probabilities need no such yardstick.
    """

    samples: int
    origin: str
    unreadable: int
    largest_difference: float  # of logits
    largest_logit: float
    probability_difference: float
    read_differently: int
    right: int | None  # of the texts read by the file, where the true ones are known

    @property
    def relative_difference(self) -> float:
        """The largest difference of logits, in parts of the largest logit."""
        return self.largest_difference / max(self.largest_logit, 1e-30)

    def check(self) -> None:
        """Raise ExportError unless the file says what the network says."""
        # Written so that NaN fails too.
        differences = (self.relative_difference, self.probability_difference)
        close = all(difference <= TOLERANCE for difference in differences)
        if not close or self.read_differently:
            raise ExportError(
                f"the exported file and the network differ: logits by up to "
                f"{self.relative_difference:.2e} of the largest, probabilities by up to "
                f"{self.probability_difference:.2e} (at most {TOLERANCE:.0e} is accepted), and "
                f"{self.read_differently} of {self.samples} texts are read differently; "
                "no file was written",
                hint="try another onnxruntime version; a checkpoint with NaN differs always",
            )


@dataclass(frozen=True)
class Exported:
    """The file that was written, and how it compares."""

    path: Path
    file_bytes: int
    facts: OnnxFacts
    comparison: Comparison
    nodes: dict[str, int]

    def summary(self) -> str:
        facts, compared = self.facts, self.comparison
        megabytes, nodes = self.file_bytes / 1e6, sum(self.nodes.values())
        lines = [
            f"{self.path}: {megabytes:.1f} MB, opset {OPSET}, {nodes} nodes",
            f"  step {facts.step} of recipe {facts.recipe}, {len(facts.alphabet)} characters",
            f"  input   pictures, uint8, batch x {facts.height} x {facts.width} x 3, RGB, 0 to 255",
            f"  output  logits, float32, batch x columns x {len(facts.alphabet) + 1}",
            f"compared with the network on {compared.samples} samples: {compared.origin}",
            f"  logits differ by    {compared.largest_difference:.1e} at most, "
            f"{compared.relative_difference:.1e} of the largest",
            f"  probabilities by    {compared.probability_difference:.1e} at most",
            f"  read differently    {compared.read_differently}",
        ]
        if compared.right is not None:
            lines.append(f"  read right by both  {compared.right} of {compared.samples}")
        if compared.unreadable:
            lines.append(f"  not readable        {compared.unreadable}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "file_bytes": self.file_bytes,
            "opset": OPSET,
            "nodes": self.nodes,
            "metadata": self.facts.to_metadata(),
            "comparison": dataclasses.asdict(self.comparison),
        }


def export_run(
    opened: OpenRun,
    to: Path,
    *,
    data: Path | None = None,
    split: str = "val",
    pictures: Sequence[Path] = (),
) -> Exported:
    """Export, and compare on the records or pictures given, or else on rendered words."""
    if data is not None:
        samples = samples_of_data(opened, data, split)
    elif pictures:
        samples = samples_of_pictures(opened, find_pictures(pictures))
    else:
        samples = made_samples(opened)
    return export_compared(opened, to, samples)


def export_compared(opened: OpenRun, to: Path, samples: Samples) -> Exported:
    """Write the file if it agrees with the network on the samples; else nothing, and raise."""
    if to.suffix != ".onnx":
        raise UsageError(f"`{to}` does not end in .onnx", hint="name the file for example net.onnx")
    opened = _on_cpu(opened)
    facts = facts_of(opened)
    model = build_graph(opened.network, opened.recipe.picture)
    _describe(model, facts)
    content = model.SerializeToString()
    comparison = compare(run_reader(opened), file_reader(content, to.name), samples)
    comparison.check()
    write_whole(to, content)
    return Exported(to, len(content), facts, comparison, _count_nodes(model))


def facts_of(opened: OpenRun) -> OnnxFacts:
    """Return what the file will say about itself."""
    recipe = opened.recipe
    scores = read_facts(find_checkpoint(opened.folder, str(opened.step))).get("scores")
    return OnnxFacts(
        recipe=recipe.name,
        alphabet=recipe.task.alphabet,
        height=recipe.picture.height,
        width=recipe.picture.width,
        filter=recipe.picture.filter,
        scale=recipe.picture.scale,
        case=recipe.task.case,
        merge_repeated=recipe.task.merge_repeated,
        step=opened.step,
        version=__version__,
        scores=scores or {},
    )


def compare(network: Reader, file: Reader, samples: Samples) -> Comparison:
    """Give every picture to both; the first one also alone, because the batch may have any size."""
    if not samples.pictures:
        raise DataError(
            f"there is no picture to compare on in {samples.origin}",
            hint="give other --data or --pictures, or neither to compare on rendered words",
        )
    differences, probabilities, largest = [], [], []
    differently, texts = 0, []
    parts = [samples.pictures[:1]]
    parts += [
        samples.pictures[start : start + _BATCH]
        for start in range(0, len(samples.pictures), _BATCH)
    ]
    for number, part in enumerate(parts):
        expected, found = (reader.logits(np.stack(part)) for reader in (network, file))
        differences.append(np.abs(expected - found).max())
        probabilities.append(np.abs(_probabilities(expected) - _probabilities(found)).max())
        largest.append(np.abs(expected).max())
        if number == 0:
            continue
        read = _read(file, found)
        differently += sum(a != b for a, b in zip(_read(network, expected), read, strict=True))
        texts += read
    pairs = zip(texts, samples.texts, strict=True) if samples.texts else None
    return Comparison(
        samples=len(samples.pictures),
        origin=samples.origin,
        unreadable=samples.unreadable,
        largest_difference=float(np.max(differences)),
        largest_logit=float(np.max(largest)),
        probability_difference=float(np.max(probabilities)),
        read_differently=differently,
        right=None if pairs is None else sum(a == b for a, b in pairs),
    )


def samples_of_data(opened: OpenRun, data: Path, split: str) -> Samples:
    """Take the first readable samples of a split."""
    source = evaluation_source(opened.recipe, data, split, PROTOCOLS["exact"])
    pictures, texts, unreadable = first_samples(source, MOST_SAMPLES)
    return Samples(pictures, f"the {split} records of {data}", texts, unreadable)


def samples_of_pictures(opened: OpenRun, paths: Sequence[Path]) -> Samples:
    """Take a user's pictures; one that cannot be read is counted."""
    reader = run_reader(opened)
    pictures: list[Picture] = []
    unreadable = 0
    for path in paths:
        if len(pictures) == MOST_SAMPLES:
            break
        try:
            pictures.append(reader.load(path)[1])
        except PictureError:
            unreadable += 1
    return Samples(pictures, f"the first of {len(paths)} pictures given", unreadable=unreadable)


def made_samples(opened: OpenRun) -> Samples:
    """Render words; where the renderer cannot run, take random dots, and say so."""
    reader = run_reader(opened)
    try:
        rendered = list(_rendered())
    except MissingPackageError as error:
        dots = np.random.default_rng(0).integers(
            0, 256, (RENDERED, reader.height, reader.width, 3), np.uint8
        )
        return Samples(list(dots), f"random dots, no words ({error})")
    texts = [text.lower() if reader.case == "lower" else text for _, text in rendered]
    return Samples(
        [reader.prepare(picture) for picture, _ in rendered], "words rendered for this", texts
    )


def _on_cpu(opened: OpenRun) -> OpenRun:
    """Compare where fp32 is fp32: accelerators may round products in ways of their own."""
    cpu = torch.device("cpu")
    if opened.device == cpu:
        return opened
    network = copy.deepcopy(opened.network).to(cpu)
    return dataclasses.replace(opened, device=cpu, network=network)


def _rendered() -> Iterator[tuple[Picture, str]]:
    from trainferry.train.data.words.make import WordsOptions, render_samples

    for word in render_samples(WordsOptions(count=RENDERED, split="export")):
        yield word.picture, word.text.label


def _probabilities(logits: Logits) -> Logits:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _read(reader: Reader, logits: Logits) -> list[str]:
    readings = greedy(logits, merge_repeated=reader.merge_repeated)
    return [reader.alphabet.decode(reading.classes) for reading in readings]


def _describe(model: ModelProto, facts: OnnxFacts) -> None:
    import onnx.checker
    import onnx.helper

    model.producer_name = "trainferry"
    model.producer_version = facts.version
    model.doc_string = facts.describe()
    onnx.helper.set_model_props(model, facts.to_metadata())
    onnx.checker.check_model(model, full_check=True)


def _count_nodes(model: ModelProto) -> dict[str, int]:
    return dict(sorted(Counter(node.op_type for node in model.graph.node).items()))

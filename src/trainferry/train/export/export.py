"""From a run to one ONNX file, which is run and compared with the network before it is kept.

The file takes bytes as pictures have them, uint8, B H W 3, RGB; the normalisation and, for
networks trained on BGR, the swap of colours are inside, so nobody can get them wrong.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from trainferry.counted import counted
from trainferry.errors import UsageError
from trainferry.train.build import OpenRun
from trainferry.train.checkpoint import find_checkpoint, read_facts
from trainferry.train.data.whole_file import write_whole
from trainferry.train.export.comparison import Comparison, compare
from trainferry.train.export.onnx.builder import OPSET
from trainferry.train.export.onnx.facts import Facts, facts_of
from trainferry.train.export.onnx.graph import build_graph
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.export.onnx.word_facts import WordFacts
from trainferry.train.export.samples import (
    Samples,
    made_samples,
    samples_of_data,
    samples_of_pictures,
)
from trainferry.train.predict.predict import find_pictures
from trainferry.train.predict.reader import file_reader, run_reader

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True)
class Exported:
    """The file that was written, and how it compares."""

    path: Path
    file_bytes: int
    facts: Facts
    comparison: Comparison
    nodes: dict[str, int]

    def summary(self) -> str:
        facts, compared = self.facts, self.comparison
        megabytes, nodes = self.file_bytes / 1e6, sum(self.nodes.values())
        lines = [
            f"{self.path}: {megabytes:.1f} MB, opset {OPSET}, {nodes} nodes",
            f"  step {facts.step} of recipe {facts.recipe}, {_extent(facts)}",
            f"  input   pictures, uint8, batch x {facts.height} x {facts.width} x 3, RGB, 0 to 255",
            f"  output  logits, float32, {facts.outputs}",
            *self._attention(),
            f"compared with the network on {counted(compared.samples, 'sample')}: "
            f"{compared.origin}",
            f"  logits differ by    {compared.largest_difference:.1e} at most, "
            f"{compared.relative_difference:.1e} of the largest",
            f"  probabilities by    {compared.probability_difference:.1e} at most",
            f"  {compared.verb + ' differently':18}  {compared.read_differently}",
        ]
        if compared.attention_difference is not None:
            lines.append(f"  attention by        {compared.attention_difference:.1e} at most")
        if compared.parted:
            lines.append(
                f"  compared in part    {compared.parted}, up to where one went on another way "
                "behind the text"
            )
        if compared.right is not None:
            label = "read right by both" if compared.answers == "texts" else "right by both"
            lines.append(f"  {label:18}  {compared.right} of {compared.samples}")
        if compared.unreadable:
            lines.append(f"  not readable        {compared.unreadable}")
        return "\n".join(lines)

    def _attention(self) -> list[str]:
        facts = self.facts
        if not isinstance(facts, SignFacts):
            return []
        shape = f"batch x {facts.length} x {facts.picture.views} x rows x columns"
        return [f"  output  attention, float32, {shape}"]

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
    """Export, and compare on the records or pictures given, or else on made-up ones."""
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
    scores = read_facts(find_checkpoint(opened.folder, str(opened.step))).get("scores")
    facts = facts_of(opened.recipe, opened.step, scores)
    model = build_graph(opened.network, opened.recipe.picture)
    _describe(model, facts)
    content = model.SerializeToString()
    comparison = compare(run_reader(opened), file_reader(content, to.name), samples)
    comparison.check()
    write_whole(to, content)
    return Exported(to, len(content), facts, comparison, _count_nodes(model))


def _on_cpu(opened: OpenRun) -> OpenRun:
    """Compare where fp32 is fp32: accelerators may round products in ways of their own."""
    cpu = torch.device("cpu")
    if opened.device == cpu:
        return opened
    network = copy.deepcopy(opened.network).to(cpu)
    return dataclasses.replace(opened, device=cpu, network=network)


def _extent(facts: Facts) -> str:
    if isinstance(facts, WordFacts):
        return counted(len(facts.alphabet), "character")
    if isinstance(facts, SignFacts):
        characters = counted(len(facts.charset) - 1, "character")
        return f"{characters} and null, {counted(facts.picture.views, 'view')}"
    classes = counted(len(facts.names) - facts.background, "class", "classes")
    return classes + " and background" * facts.background


def _describe(model: ModelProto, facts: Facts) -> None:
    import onnx.checker
    import onnx.helper

    model.producer_name = "trainferry"
    model.producer_version = facts.version
    model.doc_string = facts.describe()
    onnx.helper.set_model_props(model, facts.to_metadata())
    onnx.checker.check_model(model, full_check=True)


def _count_nodes(model: ModelProto) -> dict[str, int]:
    return dict(sorted(Counter(node.op_type for node in model.graph.node).items()))

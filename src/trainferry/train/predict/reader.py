"""Something that answers to pictures: a run, or the file exported from one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.devices.device import choose_device, describe_device
from trainferry.devices.precision import full_precision
from trainferry.errors import (
    CheckpointError,
    DeviceError,
    ExportError,
    MissingPackageError,
    PictureError,
    RecordError,
    UsageError,
)
from trainferry.train.build import OpenRun, open_run
from trainferry.train.data.batches import Source
from trainferry.train.data.pictures import Picture, decode_picture
from trainferry.train.data.words.alphabet import Alphabet
from trainferry.train.export.onnx.builder import ATTENTION, INPUT, OUTPUT
from trainferry.train.export.onnx.facts import Facts, facts_of, parse_metadata
from trainferry.train.export.onnx.photo_facts import PhotoFacts
from trainferry.train.export.onnx.sign_facts import SignFacts
from trainferry.train.export.onnx.word_facts import WordFacts
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.recipe.tasks import WordPicture

Pictures = NDArray[np.uint8]  # B H W 3, RGB
Logits = NDArray[np.float32]  # words: B T K; photographs: B K; signs: B L K
Attention = NDArray[np.float32]  # B L V h w

BETWEEN_VIEWS = "+"
"""`front.jpg+left.jpg` are two views of one sign."""


@dataclass(frozen=True)
class Reader:
    """Class scores for pictures, and the facts needed to make answers of them.

    `look` also tells where the network looked, if it can.
    """

    name: str
    device: str
    facts: Facts
    logits: Callable[[Pictures], Logits]
    look: Callable[[Pictures], tuple[Logits, Attention]] | None = None

    @property
    def words(self) -> WordFacts:
        """The facts of a reader of words. Raises UsageError if it is none."""
        if not isinstance(self.facts, WordFacts):
            raise UsageError(
                f"{self.name} {_purpose(self.facts)} and reads no words",
                hint="give a run of a network that reads words, such as one of the recipe crnn",
            )
        return self.facts

    @property
    def photos(self) -> PhotoFacts:
        """The facts of a reader that names photographs. Raises UsageError if it does not."""
        if not isinstance(self.facts, PhotoFacts):
            raise UsageError(
                f"{self.name} {_purpose(self.facts)} and names no photographs",
                hint="give a run of a network with classes, such as one of the recipe resnet50",
            )
        return self.facts

    @property
    def signs(self) -> SignFacts:
        """The facts of a reader of signs. Raises UsageError if it is none."""
        if not isinstance(self.facts, SignFacts):
            raise UsageError(
                f"{self.name} {_purpose(self.facts)} and reads no signs",
                hint="give a run of a network that reads signs, such as one of the recipe "
                "attention_ocr",
            )
        return self.facts

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet(self.words.alphabet)

    def prepare(self, picture: Picture) -> Picture:
        """Bring an RGB picture of any size to the one the network sees."""
        return self.facts.prepare(picture)

    def load(self, path: Path) -> tuple[Picture, Picture]:
        """Return a picture as it is in its file, and prepared.

        Several pictures of one sign, `front.jpg+left.jpg`, are only there when prepared.
        """
        files = self.files_of(path)
        pictures = [_read_picture(file) for file in files]
        if isinstance(self.facts, SignFacts) and len(files) > 1:
            joined = self.facts.join(pictures)
            return joined, joined
        return pictures[0], self.prepare(pictures[0])

    def files_of(self, path: Path) -> list[Path]:
        """Return the pictures that are meant: of signs several may be given as one."""
        parts = str(path).split(BETWEEN_VIEWS)
        if not isinstance(self.facts, SignFacts) or path.exists() or not all(parts):
            return [path]
        return [Path(part) for part in parts]


def open_reader(path: Path, *, device: str = "auto", checkpoint: str = "best") -> Reader:
    """Open a run, one of its checkpoints, or an exported .onnx file."""
    if path.suffix != ".onnx":
        return run_reader(open_run(path, device=choose_device(device), checkpoint=checkpoint))
    if device not in ("auto", "cpu"):
        raise DeviceError(
            f"`{path}` is run by onnxruntime on the CPU, not on `{device}`",
            hint="pass --device auto, or give the run in the place of the file",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"cannot read `{path}`: {error.strerror or error}", hint="check the path"
        ) from error
    return file_reader(content, str(path))


def run_reader(opened: OpenRun) -> Reader:
    """Ask the network of a run, in fp32."""
    picture = opened.recipe.picture
    is_bgr = isinstance(picture, WordPicture) and picture.order == "bgr"

    @torch.no_grad()
    def logits(pictures: Pictures) -> Logits:
        ordered = pictures[..., ::-1] if is_bgr else pictures
        images = torch.from_numpy(np.ascontiguousarray(ordered)).to(opened.device)
        with full_precision(opened.device):
            scores = opened.network(opened.task.inputs(images))
        return scores.float().cpu().numpy()

    @torch.no_grad()
    def look(pictures: Pictures) -> tuple[Logits, Attention]:
        assert isinstance(opened.network, AttentionOCR)
        images = torch.from_numpy(np.ascontiguousarray(pictures)).to(opened.device)
        with full_precision(opened.device):
            scores, shares = opened.network.look(opened.task.inputs(images))
        return scores.float().cpu().numpy(), shares.float().cpu().numpy()

    return Reader(
        name=f"step {opened.step} of {opened.folder}",
        device=describe_device(opened.device),
        facts=facts_of(opened.recipe, opened.step),
        logits=logits,
        look=look if isinstance(opened.network, AttentionOCR) else None,
    )


def file_reader(content: bytes, name: str) -> Reader:
    """Ask an exported file; everything else is said in the file."""
    session = _open_session(content, name)
    facts = parse_metadata(session.get_modelmeta().custom_metadata_map, name)

    def logits(pictures: Pictures) -> Logits:
        scores: Logits = session.run([OUTPUT], {INPUT: np.ascontiguousarray(pictures)})[0]
        return scores

    def look(pictures: Pictures) -> tuple[Logits, Attention]:
        asked = {INPUT: np.ascontiguousarray(pictures)}
        scores, shares = session.run([OUTPUT, ATTENTION], asked)
        return scores, shares

    tells = ATTENTION in [output.name for output in session.get_outputs()]
    return Reader(
        name=f"step {facts.step} of recipe {facts.recipe}, in {name}",
        device=f"device: cpu (onnxruntime {_onnxruntime().__version__})",
        facts=facts,
        logits=logits,
        look=look if tells else None,
    )


def first_samples(source: Source, count: int) -> tuple[list[Picture], list[str], int]:
    """Return up to `count` readable pictures in RGB, their labels, and how many are damaged."""
    pictures: list[Picture] = []
    labels: list[str] = []
    unreadable = 0
    for position in range(len(source)):
        if len(pictures) == count:
            break
        try:
            picture, label = source.shown(position), source.label_text(position)
        except (PictureError, RecordError):
            unreadable += 1
            continue
        pictures.append(picture)
        labels.append(label)
    return pictures, labels, unreadable


def _purpose(facts: Facts) -> str:
    if isinstance(facts, PhotoFacts):
        return "names photographs"
    return "reads words" if isinstance(facts, WordFacts) else "reads signs"


def _read_picture(path: Path) -> Picture:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PictureError(
            f"cannot read `{path}`: {error.strerror or error}", hint="check the path"
        ) from error
    return decode_picture(content)


def _open_session(content: bytes, name: str) -> Any:  # noqa: ANN401  # onnxruntime has no annotations
    runtime = _onnxruntime()
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except _session_errors() as error:
        raise ExportError(
            f"`{name}` is no ONNX file that onnxruntime can run: {error}",
            hint="export the run again with `trainferry export`",
        ) from error


def _session_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises for a file that it cannot run; its errors share no base."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NotImplemented,
        RuntimeError,
    )


def _onnxruntime() -> Any:  # noqa: ANN401  # a module without annotations
    try:
        import onnxruntime
    except ImportError:
        raise MissingPackageError("onnxruntime", "running an exported file") from None
    return onnxruntime

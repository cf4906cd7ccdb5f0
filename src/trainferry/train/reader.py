"""Something that reads pictures of words: a run, or the file exported from one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
)
from trainferry.train.build import OpenRun, open_run
from trainferry.train.data.alphabet import Alphabet
from trainferry.train.data.batches import WordSource
from trainferry.train.data.inputs import network_input
from trainferry.train.data.pictures import Filter, Picture, decode_picture, resize_picture
from trainferry.train.onnx_facts import parse_metadata
from trainferry.train.onnx_graph import INPUT, OUTPUT

Pictures = NDArray[np.uint8]  # B H W 3, RGB
Logits = NDArray[np.float32]  # B T K


@dataclass(frozen=True)
class Reader:
    """Class scores for pictures, and the facts needed to make texts of them."""

    name: str
    device: str
    alphabet: Alphabet
    case: Literal["lower", "keep"]
    merge_repeated: bool
    height: int
    width: int
    filter: Filter
    logits: Callable[[Pictures], Logits]

    def prepare(self, picture: Picture) -> Picture:
        """Bring an RGB picture of any size to the one the network sees."""
        return resize_picture(picture, self.height, self.width, self.filter)

    def load(self, path: Path) -> tuple[Picture, Picture]:
        """Return a picture as it is in its file, and prepared."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise PictureError(
                f"cannot read `{path}`: {error.strerror or error}", hint="check the path"
            ) from error
        picture = decode_picture(content)
        return picture, self.prepare(picture)


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
    """Read with the network of a run, in fp32."""
    picture, task = opened.recipe.picture, opened.recipe.task

    @torch.no_grad()
    def logits(pictures: Pictures) -> Logits:
        ordered = pictures[..., ::-1] if picture.order == "bgr" else pictures
        images = torch.from_numpy(np.ascontiguousarray(ordered)).to(opened.device)
        with full_precision(opened.device):
            scores = opened.network(network_input(images, picture))
        return scores.float().cpu().numpy()

    return Reader(
        name=f"step {opened.step} of {opened.folder}",
        device=describe_device(opened.device),
        alphabet=opened.alphabet,
        case=task.case,
        merge_repeated=task.merge_repeated,
        height=picture.height,
        width=picture.width,
        filter=picture.filter,
        logits=logits,
    )


def file_reader(content: bytes, name: str) -> Reader:
    """Read with an exported file; everything else is said in the file."""
    session = _open_session(content, name)
    facts = parse_metadata(session.get_modelmeta().custom_metadata_map, name)

    def logits(pictures: Pictures) -> Logits:
        scores: Logits = session.run([OUTPUT], {INPUT: np.ascontiguousarray(pictures)})[0]
        return scores

    return Reader(
        name=f"step {facts.step} of recipe {facts.recipe}, in {name}",
        device=f"device: cpu (onnxruntime {_onnxruntime().__version__})",
        alphabet=Alphabet(facts.alphabet),
        case=facts.case,
        merge_repeated=facts.merge_repeated,
        height=facts.height,
        width=facts.width,
        filter=facts.filter,
        logits=logits,
    )


def first_samples(source: WordSource, count: int) -> tuple[list[Picture], list[str], int]:
    """Return up to `count` readable pictures in RGB, their texts, and how many are damaged."""
    pictures: list[Picture] = []
    texts: list[str] = []
    unreadable = 0
    for number in source.kept:
        if len(pictures) == count:
            break
        try:
            sample = source.records.sample(int(number))
        except (PictureError, RecordError):
            unreadable += 1
            continue
        bgr = source.records.order == "bgr"
        pictures.append(sample.picture[..., ::-1] if bgr else sample.picture)
        texts.append(sample.text)
    return pictures, texts, unreadable


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

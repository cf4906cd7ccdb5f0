"""What an exported file says about itself: how pictures get in, and how texts come out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trainferry.errors import ExportError
from trainferry.train.data.pictures import Filter

Scale = Literal["unit", "half"]

_FILTERS = {
    "antialias": "Pillow's Image.resize((width, height), Image.Resampling.BILINEAR), "
    "which averages all pixels when it shrinks",
    "bilinear": "OpenCV's cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR)",
}
_SCALES = {"unit": "x / 127.5 - 1", "half": "(x - 127.5) / 255"}
_DECODINGS = {
    True: "best class of every column, equal neighbours merged, blanks dropped",
    False: "best class of every column, blanks dropped, equal neighbours kept",
}


@dataclass(frozen=True)
class OnnxFacts:
    """Facts that travel inside the file; whoever has the file needs nothing else.

    Pictures are always RGB and `scale` is applied inside: both are told, not asked for.
    """

    recipe: str
    alphabet: str
    height: int
    width: int
    filter: Filter
    scale: Scale
    case: Literal["lower", "keep"]
    merge_repeated: bool
    step: int
    version: str
    scores: Mapping[str, float] = field(default_factory=dict)

    def to_metadata(self) -> dict[str, str]:
        """Return the properties as they are written, all of them texts."""
        return {
            "trainferry_version": self.version,
            "recipe": self.recipe,
            "step": str(self.step),
            "scores": json.dumps(dict(self.scores)),
            "alphabet": self.alphabet,
            "blank": str(len(self.alphabet)),
            "case": self.case,
            "picture_height": str(self.height),
            "picture_width": str(self.width),
            "picture_order": "rgb",
            "picture_filter": self.filter,
            "picture_filter_is": _FILTERS[self.filter],
            "picture_scale": self.scale,
            "picture_scale_inside_the_graph": _SCALES[self.scale],
            "merge_repeated": json.dumps(self.merge_repeated),
            "decoding": _DECODINGS[self.merge_repeated],
        }

    def describe(self) -> str:
        """Return, for people who open the file, how it is used."""
        return (
            f"pictures: uint8, batch x {self.height} x {self.width} x 3, RGB, 0 to 255, resized "
            f"with {_FILTERS[self.filter]}; the proportions are not kept and nothing is padded. "
            f"Do not normalise: {_SCALES[self.scale]} is the first thing the graph does. "
            "logits: float32, batch x columns x classes; class n is character n of `alphabet`, "
            f"class {len(self.alphabet)} is the blank. To read: {_DECODINGS[self.merge_repeated]}."
        )


def parse_metadata(metadata: Mapping[str, str], file: str) -> OnnxFacts:
    """Read the facts back; an ONNX file of another origin is an ExportError."""
    try:
        facts = OnnxFacts(
            recipe=metadata["recipe"],
            alphabet=metadata["alphabet"],
            height=int(metadata["picture_height"]),
            width=int(metadata["picture_width"]),
            filter=_one_of(metadata["picture_filter"], _FILTERS),  # type: ignore[arg-type]  # checked
            scale=_one_of(metadata["picture_scale"], _SCALES),  # type: ignore[arg-type]  # checked
            case=_one_of(metadata["case"], ("lower", "keep")),  # type: ignore[arg-type]  # checked
            merge_repeated=bool(json.loads(metadata["merge_repeated"])),
            step=int(metadata["step"]),
            version=metadata["trainferry_version"],
            scores=dict(json.loads(metadata["scores"])),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise ExportError(
            f"`{file}` does not say how it wants its pictures: {error}",
            hint="give a run, or a file that `trainferry export` wrote",
        ) from error
    return facts


def _one_of(value: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")
    return value

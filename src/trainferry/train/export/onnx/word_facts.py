"""What an exported file that reads words says: how pictures get in, and how texts come out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trainferry.train.data.pictures import Filter, Picture, resize_picture

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
class WordFacts:
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

    @property
    def outputs(self) -> str:
        return f"batch x columns x {len(self.alphabet) + 1}"

    def prepare(self, picture: Picture) -> Picture:
        """Bring an RGB picture of any size to the one the network sees."""
        return resize_picture(picture, self.height, self.width, self.filter)

    def to_metadata(self) -> dict[str, str]:
        """Return the properties as they are written, all of them texts."""
        return {
            "task": "recognise",
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


def parse_words(metadata: Mapping[str, str]) -> WordFacts:
    """Read the facts back; what is missing is a KeyError, what makes no sense a ValueError."""
    return WordFacts(
        recipe=metadata["recipe"],
        alphabet=metadata["alphabet"],
        height=int(metadata["picture_height"]),
        width=int(metadata["picture_width"]),
        filter=one_of(metadata["picture_filter"], _FILTERS),  # type: ignore[arg-type]  # checked
        scale=one_of(metadata["picture_scale"], _SCALES),  # type: ignore[arg-type]  # checked
        case=one_of(metadata["case"], ("lower", "keep")),  # type: ignore[arg-type]  # checked
        merge_repeated=bool(json.loads(metadata["merge_repeated"])),
        step=int(metadata["step"]),
        version=metadata["trainferry_version"],
        scores=dict(json.loads(metadata["scores"])),
    )


def one_of(value: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    """Return the value; one that is not known is a ValueError."""
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")
    return value

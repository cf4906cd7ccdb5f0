"""What an exported file that names photographs says: how pictures get in, and what classes are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from trainferry.train.data.photos.crop import prepare_evaluation
from trainferry.train.data.pictures import Picture
from trainferry.train.export.onnx.word_facts import one_of
from trainferry.train.recipe.tasks import PhotoPicture

_DECODING = (
    "8 bits, RGB; grey is repeated, transparent pictures are laid on white, and the orientation "
    "in EXIF is ignored, as in training"
)
_FILTERS = {
    "legacy": "bilinear as TensorFlow 1's resize_images without align_corners: pixel i of the "
    "result lies at i * old / new of the picture and is mixed from its nearest four only",
    "antialias": "Pillow's Image.resize((width, height), Image.Resampling.BILINEAR), "
    "which averages all pixels when it shrinks",
}
_SIZES = {
    "short_side": "both sides times {size} / the short side, in float32 and cut off to whole "
    "pixels",
    "squash": "to {size} x {size}, the proportions are not kept",
    "central_box": "the middle of the picture, {height} / {size} of both sides, straight to "
    "{height} x {width} (height x width), the proportions are not kept",
}
_ALIGNED = (
    "bilinear as TensorFlow's crop_and_resize: the corners of the result lie on those of the part, "
    "and each pixel is mixed from its nearest four only"
)
_ROUNDING = "to the nearest whole value, halves to the even one (numpy.rint)"
_ANSWER = "softmax over all classes; the largest is the answer, and its value the confidence"


@dataclass(frozen=True)
class PhotoFacts:
    """Facts that travel inside the file; whoever has the file needs nothing else.

    `names` says what each class of the network stands for, the background among them if it
    has one. Of `picture`, only what an evaluation needs is kept.
    """

    recipe: str
    names: tuple[str, ...]
    background: bool
    picture: PhotoPicture
    step: int
    version: str
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def height(self) -> int:
        return self.picture.height

    @property
    def width(self) -> int:
        return self.picture.width

    @property
    def outputs(self) -> str:
        return f"batch x {len(self.names)}"

    def prepare(self, picture: Picture) -> Picture:
        """Bring an RGB picture of any size to the one the network sees, in whole values.

        An evaluation does not round; what that changes is far below what a JPEG loses.
        """
        return np.rint(prepare_evaluation(picture, self.picture)).astype(np.uint8)

    def to_metadata(self) -> dict[str, str]:
        """Return the properties as they are written, all of them texts."""
        picture = self.picture
        return {
            "task": "classify",
            "trainferry_version": self.version,
            "recipe": self.recipe,
            "step": str(self.step),
            "scores": json.dumps(dict(self.scores)),
            "classes": json.dumps(self.names, ensure_ascii=False),
            "background": json.dumps(self.background),
            "picture_height": str(picture.height),
            "picture_width": str(picture.width),
            "picture_order": "rgb",
            "picture_decoding_is": _DECODING,
            "picture_evaluation": picture.evaluation,
            "picture_evaluation_size": str(picture.evaluation_size),
            "picture_evaluation_is": self._resizing(),
            "picture_filter": picture.filter,
            "picture_filter_is": self._filter(),
            "picture_rounding_is": _ROUNDING,
            "picture_mean": json.dumps(picture.mean),
            "picture_deviation": json.dumps(picture.deviation),
            "picture_scale_inside_the_graph": "(x - picture_mean) / picture_deviation",
            "decoding": _ANSWER,
        }

    def describe(self) -> str:
        """Return, for people who open the file, how it is used."""
        picture = self.picture
        background = "; class 0 is one that no picture belongs to" if self.background else ""
        return (
            f"pictures: uint8, batch x {picture.height} x {picture.width} x 3, RGB, 0 to 255. "
            f"Decode: {_DECODING}. Resize: {self._resizing()}; {self._filter()}. "
            f"Round {_ROUNDING}. "
            f"Do not normalise: (x - {list(picture.mean)}) / {list(picture.deviation)}, in the "
            "order RGB, is the first thing the graph does. "
            f"logits: float32, {self.outputs}; class n is entry n of the JSON list "
            f"`classes`{background}. To read: {_ANSWER}."
        )

    def _resizing(self) -> str:
        picture = self.picture
        size = _SIZES[picture.evaluation].format(
            size=picture.evaluation_size, height=picture.height, width=picture.width
        )
        if picture.evaluation == "central_box":
            return size
        return (
            f"{size}, but never less than {picture.height} x {picture.width} (height x width); "
            f"then the central {picture.height} x {picture.width}, an odd pixel left over below "
            "and at the right"
        )

    def _filter(self) -> str:
        is_aligned = self.picture.evaluation == "central_box"
        return _ALIGNED if is_aligned else _FILTERS[self.picture.filter]


def parse_photos(metadata: Mapping[str, str]) -> PhotoFacts:
    """Read the facts back; what is missing is a KeyError, what makes no sense a ValueError."""
    picture = PhotoPicture(
        height=int(metadata["picture_height"]),
        width=int(metadata["picture_width"]),
        evaluation=one_of(metadata["picture_evaluation"], _SIZES),  # type: ignore[arg-type]  # checked
        evaluation_size=int(metadata["picture_evaluation_size"]),
        filter=one_of(metadata["picture_filter"], _FILTERS),  # type: ignore[arg-type]  # checked
        mean=tuple(map(float, json.loads(metadata["picture_mean"]))),
        deviation=tuple(map(float, json.loads(metadata["picture_deviation"]))),
    )
    return PhotoFacts(
        recipe=metadata["recipe"],
        names=tuple(map(str, json.loads(metadata["classes"]))),
        background=bool(json.loads(metadata["background"])),
        picture=picture,
        step=int(metadata["step"]),
        version=metadata["trainferry_version"],
        scores=dict(json.loads(metadata["scores"])),
    )

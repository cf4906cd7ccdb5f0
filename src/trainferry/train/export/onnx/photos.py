"""Networks that name photographs as ONNX graphs.

Shapes: B pictures, K classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from trainferry.train.export.onnx.builder import OUTPUT
from trainferry.train.export.onnx.program import Input, build_program
from trainferry.train.recipe.tasks import PhotoPicture

if TYPE_CHECKING:
    from onnx import ModelProto


def build_photos(network: nn.Module, picture: PhotoPicture) -> ModelProto:
    """Return the network with the normalisation of its recipe: bytes B H W 3 to scores B K."""
    pictures = Input(picture.height, picture.width, picture.mean, picture.deviation)
    return build_program(network, type(network).__name__.lower(), pictures, (OUTPUT,))

"""Attention-OCR as an ONNX graph, all characters of a text one after the other.

The file reads on after what it read itself, as the network does: it holds the decoder once for
each character, and no loop.

Shapes: B signs, V views of H W pixels, h w places of a view's map, L characters, K classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from trainferry.train.export.onnx.builder import ATTENTION, OUTPUT
from trainferry.train.export.onnx.program import Input, build_program
from trainferry.train.networks.attention_ocr import AttentionOCR
from trainferry.train.recipe.tasks import SignPicture

if TYPE_CHECKING:
    from onnx import ModelProto


def build_signs(network: AttentionOCR, picture: SignPicture) -> ModelProto:
    """Return the network with the normalisation of its recipe.

    Bytes B H V*W 3 come in; scores B L K and where it looked, B L V h w, come out.
    """
    width = picture.views * picture.width
    pictures = Input(picture.height, width, picture.mean, picture.deviation)
    looking = _Looking(network).train(network.training)
    return build_program(looking, "attention_ocr", pictures, (OUTPUT, ATTENTION))


class _Looking(nn.Module):
    """A network that always tells where it looked."""

    def __init__(self, network: AttentionOCR) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.network.look(images)

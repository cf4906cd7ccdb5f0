"""How much training pictures differ when large photographs are decoded smaller.

Boxes are drawn as a recipe says; each picture is made from the photograph decoded whole and
decoded smaller. Beside it stands what other things change in the same pictures: encoding the
photograph once more, and Pillow's bicubic filter in place of its bilinear one.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from trainferry.train.data.photos.crop import Draw, choose_scale, draw_training, make_training
from trainferry.train.data.pictures import Picture, decode_picture
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUALITY = 92


def main() -> int:
    arguments = _parse_arguments()
    recipe = read_recipe(arguments.recipe, ["picture.decode=scaled"])
    picture, augment = recipe.picture, recipe.augment
    assert isinstance(picture, PhotoPicture)
    assert isinstance(augment, PhotoAugment)
    found = sorted(arguments.pictures.rglob("*.[jJ][pP]*[gG]"))[: arguments.count]
    print(f"{len(found)} photographs, {arguments.draws} boxes of each, recipe {recipe.name}\n")
    print("| network sees | decoded at | mean | 99 % | largest | encoded again | bicubic |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for side in arguments.sides:
        print(compare(found, replace(picture, height=side, width=side), augment, arguments.draws))
    return 0


def compare(found: list[Path], picture: PhotoPicture, augment: PhotoAugment, draws: int) -> str:
    """Return a row of the table: levels of 0 to 255, of those pictures that are decoded smaller."""
    scales: Counter[int] = Counter()
    scaled, again, bicubic = [], [], []
    for number, path in enumerate(found):
        data = path.read_bytes()
        encoded = _encode_again(data)
        for place in range(draws):
            drawn = draw_training(
                data, (), picture, augment, np.random.default_rng([number, place])
            )
            scale = choose_scale(drawn.box, picture)
            scales[scale] += 1
            if scale == 1:
                continue
            whole = _make(drawn, replace(picture, decode="whole"))
            scaled.append(_difference(_make(drawn, picture), whole))
            other = replace(drawn, frame=None, decoded=decode_picture(encoded))
            again.append(_difference(_make(other, replace(picture, decode="whole")), whole))
            bicubic.append(_difference(_make_bicubic(drawn, picture), whole))
    shares = ", ".join(
        f"1/{scale} {count / scales.total():.0%}" for scale, count in sorted(scales.items())
    )
    if not scaled:
        return f"| {picture.height} | {shares} | | | | | |"
    every = np.concatenate([one.ravel() for one in scaled])
    others = [float(np.mean([one.mean() for one in values])) for values in (again, bicubic)]
    return (
        f"| {picture.height} | {shares} | {every.mean():.2f} | {np.percentile(every, 99):.0f} "
        f"| {every.max()} | {others[0]:.2f} | {others[1]:.2f} |"
    )


def _make(drawn: Draw, picture: PhotoPicture) -> Picture:
    target = np.empty((picture.height, picture.width, 3), np.uint8)
    make_training(drawn, picture, target)
    return target


def _make_bicubic(drawn: Draw, picture: PhotoPicture) -> Picture:
    box = drawn.box
    part = decode_picture(drawn.data)[box.top :, box.left :][: box.height, : box.width]
    if drawn.mirrored:
        part = part[:, ::-1]
    size = (picture.width, picture.height)
    return np.array(Image.fromarray(part).resize(size, Image.Resampling.BICUBIC))


def _encode_again(data: bytes) -> bytes:
    target = io.BytesIO()
    image = Image.fromarray(decode_picture(data))
    image.save(target, "JPEG", quality=QUALITY, subsampling="4:2:0")
    return target.getvalue()


def _difference(one: Picture, other: Picture) -> NDArray[np.int16]:
    difference: NDArray[np.int16] = np.abs(one.astype(np.int16) - other)
    return difference


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--pictures", type=Path, required=True, metavar="FOLDER", help="JPEG files")
    parser.add_argument("--recipe", default="resnet50_photos", help="whose boxes to draw")
    parser.add_argument(
        "--sides", type=int, nargs="+", default=[224], help="pixels that a network sees"
    )
    parser.add_argument("--count", type=int, default=400, help="most pictures to use")
    parser.add_argument("--draws", type=int, default=2, help="boxes of each")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

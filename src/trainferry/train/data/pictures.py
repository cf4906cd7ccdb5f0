"""Pictures: bytes to RGB arrays and back, and the two ways of resizing.

A JPEG is decoded by simplejpeg, else OpenCV, else Pillow: the same library does the
work in all three and the values are equal. Everything else is decoded by Pillow.
A JPEG is encoded by OpenCV, else Pillow, with equal bytes.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from trainferry.errors import DataError, MissingPackageError, PictureError

if TYPE_CHECKING:
    from typing_extensions import Buffer

Picture: TypeAlias = NDArray[np.uint8]
Filter: TypeAlias = Literal["antialias", "bilinear"]
Subsampling: TypeAlias = Literal["4:4:4", "4:2:0"]

MAX_PIXELS = 64_000_000
JPEG_END = b"\xff\xd9"
_FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
# All that Pillow's readers raise on damaged files.
DAMAGED = (
    *(OSError, SyntaxError, ValueError, EOFError, LookupError, TypeError),
    *(OverflowError, RuntimeError, struct.error, zlib.error),
)
_HINT = "replace or remove the picture; `trainferry data check` lists all such pictures"


def decode_picture(data: Buffer) -> Picture:
    """Return RGB, height x width x 3. Raises PictureError for what is no whole picture.

    Transparent pictures are laid on white; 16-bit ones are scaled to 8 bits.
    """
    view = memoryview(data)
    if not view:
        raise PictureError("the picture is empty: 0 bytes", hint=_HINT)
    if bytes(view[:2]) == b"\xff\xd8":
        facts = _jpeg_facts(view)
        if facts is not None:
            height, width, components = facts
            _check_size(height, width)
            if components in (1, 3) and (decode := _jpeg_decoder()) is not None:
                picture = decode(view)
                if picture is not None:
                    return picture
    return _decode_with_pillow(view)


def encode_jpeg(picture: Picture, quality: int, subsampling: Subsampling = "4:4:4") -> bytes:
    """Encode RGB, with full colour resolution unless told otherwise."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise DataError(
            f"a picture of shape {picture.shape} and type {picture.dtype}",
            hint="pass uint8 values, height x width x 3, RGB",
        )
    return _jpeg_encoder()(picture, quality, subsampling)


def encode_png(picture: Picture) -> bytes:
    """Encode RGB without loss."""
    target = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(target, "PNG")
    return target.getvalue()


def resize_picture(picture: Picture, height: int, width: int, filter: Filter) -> Picture:
    """Resize as the originals do.

    "antialias" averages all pixels when it shrinks (Pillow's BILINEAR, the zoo's pictures);
    "bilinear" looks at the nearest four only (OpenCV's INTER_LINEAR, upstream's pictures).
    """
    if picture.shape[:2] == (height, width):
        return picture
    resized = np.empty((height, width, 3), np.uint8)
    resize_into(resized, picture, filter)
    return resized


def resize_into(target: Picture, picture: Picture, filter: Filter) -> None:
    """Resize to the size of `target` and leave the values there."""
    if picture.shape == target.shape:
        target[...] = picture
    elif filter == "antialias":
        resize_part_into(target, picture, (0, 0, picture.shape[1], picture.shape[0]))
    elif filter == "bilinear":
        _resize_with_opencv(target, picture)
    else:
        raise DataError(
            f"no filter called {filter!r}", hint='the filters are "antialias" and "bilinear"'
        )


def resize_part_into(
    target: NDArray[Any], picture: Picture, part: tuple[float, float, float, float]
) -> None:
    """Resize with "antialias" what lies within left, top, right and lower edge.

    Edges may lie within a pixel. Values are whole, whatever the type of `target`.
    """
    size = (target.shape[1], target.shape[0])
    values = _image_of(picture).resize(size, Image.Resampling.BILINEAR, part).tobytes()
    target[...] = np.frombuffer(values, np.uint8).reshape(target.shape)


def _image_of(picture: Picture) -> Image.Image:
    """Do the work of Image.fromarray without looking up what kind of array it is."""
    size = (picture.shape[1], picture.shape[0])
    return Image.frombuffer("RGB", size, np.ascontiguousarray(picture), "raw", "RGB", 0, 1)


def _resize_with_opencv(target: Picture, picture: Picture) -> None:
    try:
        import cv2
    except ImportError:
        raise MissingPackageError(
            "opencv-python-headless", 'the filter "bilinear" (as upstream resizes)'
        ) from None
    size = (target.shape[1], target.shape[0])
    resized = cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)
    target[...] = resized


def _jpeg_facts(view: memoryview) -> tuple[int, int, int] | None:
    """Return height, width and components from the frame header, or None without one."""
    position, end = 2, len(view)
    while position + 4 <= end:
        if view[position] != 0xFF:
            return None
        marker = view[position + 1]
        if marker == 0xFF:
            position += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            if position + 10 > end:
                return None
            height = view[position + 5] << 8 | view[position + 6]
            return height, view[position + 7] << 8 | view[position + 8], view[position + 9]
        else:
            position += 2 + (view[position + 2] << 8 | view[position + 3])
    return None


@cache
def _jpeg_decoder() -> Callable[[memoryview], Picture | None] | None:
    """Return what decodes a JPEG fastest here; it returns None for what Pillow must judge."""
    try:
        import simplejpeg
    except ImportError:
        pass
    else:
        return _simplejpeg_decoder(simplejpeg.decode_jpeg)
    try:
        import cv2  # noqa: F401 - only whether it is there
    except ImportError:
        return None
    return decode_with_opencv


def _simplejpeg_decoder(decode: Callable[[memoryview], Picture]) -> Callable[..., Picture | None]:
    def decode_jpeg(view: memoryview) -> Picture | None:
        try:
            return decode(view)
        except ValueError:
            return None

    return decode_jpeg


def decode_with_opencv(view: memoryview, scale: int = 1) -> Picture | None:
    """Return the RGB of a JPEG, so many times smaller; None for what is no whole one."""
    import cv2

    # OpenCV fills a truncated picture with grey and says nothing.
    if bytes(view[-2:]) != JPEG_END:
        return None
    sizes = {
        1: cv2.IMREAD_COLOR,
        2: cv2.IMREAD_REDUCED_COLOR_2,
        4: cv2.IMREAD_REDUCED_COLOR_4,
        8: cv2.IMREAD_REDUCED_COLOR_8,
    }
    flags = sizes[scale] | cv2.IMREAD_IGNORE_ORIENTATION
    picture = cv2.imdecode(np.frombuffer(view, np.uint8), flags)
    if picture is None:
        return None
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), dtype=np.uint8)


@cache
def _jpeg_encoder() -> Callable[[Picture, int, Subsampling], bytes]:
    try:
        import cv2  # noqa: F401 - only whether it is there
    except ImportError:
        return _encode_with_pillow
    return _encode_with_opencv


def _encode_with_opencv(picture: Picture, quality: int, subsampling: Subsampling) -> bytes:
    import cv2

    factors = {
        "4:4:4": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
        "4:2:0": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    }
    sampling = cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factors[subsampling]
    flags = (cv2.IMWRITE_JPEG_QUALITY, quality, *sampling)
    done, data = cv2.imencode(".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), flags)
    return data.tobytes() if done else _encode_with_pillow(picture, quality, subsampling)


def _encode_with_pillow(picture: Picture, quality: int, subsampling: Subsampling) -> bytes:
    target = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(
        target, "JPEG", quality=quality, subsampling=subsampling
    )
    return target.getvalue()


def _decode_with_pillow(view: memoryview) -> Picture:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(view), formats=_FORMATS) as image:
                _check_size(image.height, image.width)
                image.load()
                return _to_rgb(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError("the picture is absurdly large", hint=_HINT) from None
    except UnidentifiedImageError:
        if bytes(view[4:8]) == b"ftyp":
            raise PictureError(
                "the picture is HEIC, AVIF or a film, which are not read",
                hint="save it as JPEG or PNG",
            ) from None
        raise PictureError(
            f"the bytes are no picture: they start with {bytes(view[:8])!r}", hint=_HINT
        ) from None
    except DAMAGED as error:
        raise PictureError(f"the picture is damaged: {error}", hint=_HINT) from error


def _to_rgb(image: Image.Image) -> Picture:
    if image.mode in ("I", "I;16", "I;16B", "I;16L"):
        values = np.asarray(image).astype(np.int64).clip(0, 65535)
        grey = ((values + 128) // 257).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        image = Image.alpha_composite(white, over)
    if image.mode == "F":
        raise PictureError("the picture holds floating-point values", hint="save it as 8-bit PNG")
    return np.array(image.convert("RGB"))


def _check_size(height: int, width: int) -> None:
    if height * width > MAX_PIXELS:
        raise PictureError(
            f"the picture says it is {width} x {height}; more than {MAX_PIXELS:,} pixels "
            "are not read",
            hint=_HINT,
        )

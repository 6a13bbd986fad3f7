"""ImageDecoder: finds damaged image files by decoding them, and scales images down to what a model takes."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import TYPE_CHECKING

from proviso_service.images.destinations import FetchRefused
from proviso_service.images.image import DAMAGED, Image, ImageConfig, ImageHeader, checked_header, jpeg_scans

if TYPE_CHECKING:  # it takes 0.1 s to import, which a service that gets no images need not spend
    import PIL.Image

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_MAX_SCANNED_PIXELS = 1_000_000_000
"""Each scan of a JPEG goes over all its pixels. A usual file has one scan or about ten, and thousands fit into a small
file."""

_QUALITY = 90
_SPARE = 0.95
"""A scaled image is made a little smaller than its bytes would ask for, so that one more try is enough."""


class ImageDecoder:
    """Decodes images in threads of its own, a few at a time: an image takes much memory, and nothing ends a decoder
    that has begun. The time of each is bounded by its pixels."""

    def __init__(self, settings: ImageConfig) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.decoded_at_once, thread_name_prefix="image-decoder")

    def close(self) -> None:
        """Stops the threads, without waiting for images that are being decoded."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def image(self, content: bytes, max_bytes: int) -> Image:
        """The image of a file. The file is passed on as it is where a model takes it; where it has more bytes or is
        wider or higher, the image is scaled down and written anew. Of a moving image only the first picture is decoded.
        Raises FetchRefused for a file that is no image, is damaged, or has too many pixels."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _image, content, max_bytes, self._settings)


def _image(content: bytes, max_bytes: int, settings: ImageConfig) -> Image:
    header = checked_header(content, settings.max_pixels)
    scans = jpeg_scans(content) if header.media_type == "image/jpeg" else 1
    if scans * header.width * header.height > _MAX_SCANNED_PIXELS:
        raise FetchRefused("it would take too long to decode")
    fits = len(content) <= max_bytes and max(header.width, header.height) <= settings.max_model_side
    most = None if fits else _share(header.width, header.height, settings)
    try:
        picture = _decoded(content, header, most)
        return Image(header.media_type, content) if fits else _scaled(picture, header, max_bytes, settings)
    except FetchRefused:
        raise
    except Exception:  # decoders raise exceptions of many kinds for hostile bytes
        raise FetchRefused(DAMAGED) from None


def _share(width: int, height: int, settings: ImageConfig) -> float:
    """The share of its width and height that an image can have as a scaled one, whatever its bytes are; at most 1."""
    pixels_share = math.sqrt(settings.max_model_pixels / (width * height))
    return min(1.0, settings.max_model_side / max(width, height), pixels_share)


def _decoded(content: bytes, header: ImageHeader, share: float | None) -> "PIL.Image.Image":
    """The decoded picture, which may be smaller where not all of it is needed. Raises exceptions of many kinds for a
    damaged one."""
    # What reads a format is imported by name; the library would else import all its formats.
    from PIL import GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin, WebPImagePlugin  # noqa: F401

    if header.media_type == "image/png":
        with Image.open(BytesIO(content), formats=_FORMATS) as picture:
            picture.verify()  # the checksums, which decoding does not look at
    with Image.open(BytesIO(content), formats=_FORMATS) as picture:
        if picture.size != (header.width, header.height):
            raise FetchRefused(DAMAGED)
        if share is not None:  # a JPEG can be decoded at a half, a quarter or an eighth of its size
            picture.draft(None, (int(header.width * share), int(header.height * share)))
        picture.load()
        return picture


def _scaled(picture: "PIL.Image.Image", header: ImageHeader, max_bytes: int, settings: ImageConfig) -> Image:
    """The picture as JPEG, upright, on white where it is transparent, and small enough."""
    from PIL import Image as Images

    plain = _plain(picture)
    width, height = plain.size
    share = _share(width, height, settings)
    while True:
        size = (max(1, int(width * share)), max(1, int(height * share)))
        scaled = plain if size == plain.size else plain.resize(size, Images.Resampling.LANCZOS, reducing_gap=2.0)
        file = BytesIO()
        scaled.save(file, "JPEG", quality=_QUALITY)
        content = file.getvalue()
        if len(content) <= max_bytes or size == (1, 1):
            note = f"its {header.width} x {header.height} pixels were compressed to {size[0]} x {size[1]}"
            return Image("image/jpeg", content, note)
        share *= _SPARE * math.sqrt(max_bytes / len(content))


def _plain(picture: "PIL.Image.Image") -> "PIL.Image.Image":
    """The picture in red, green and blue of 8 bits each, turned as its EXIF data say."""
    from PIL import Image, ImageOps

    ImageOps.exif_transpose(picture, in_place=True)
    if picture.mode.startswith("I"):  # 16 bits of grey, which `convert` would cut off instead of scaling them
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture)
    return picture if picture.mode == "RGB" else picture.convert("RGB")

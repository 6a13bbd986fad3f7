"""Images of messages, and the headers of image files: the type and size of an image are read from its first bytes and
held against the limits before anything is decoded."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from proviso_service.images.destinations import FetchRefused
from proviso_service.settings import ImageSettings, Seconds

MAX_URL_CHARS = 8_192
"""Longest URL of an image. Those that carry a signature are often longer than browsers' usual 2,048 characters."""


@dataclass(frozen=True, slots=True)
class Image:
    """A checked image file. `media_type` is image/png, image/jpeg, image/gif or image/webp, according to its bytes.
    `note` says what was done to the file that was loaded; empty where it is that file."""

    media_type: str
    content: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class NoImage:
    """No image could be loaded. `reason` follows the words "could not be loaded:" and never repeats the server's
    words."""

    reason: str


class ImageFetcher(Protocol):
    """Loads the images of messages; WebImageFetcher does, and tests bring their own."""

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        """The image at a URL, for a message of the tenant; scaled down where it has more than `max_bytes` bytes. It
        has a time limit of its own, and returns NoImage where the image cannot be loaded, instead of raising an
        exception."""
        ...


DAMAGED = "it is damaged or incomplete"

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_MAX_JPEG_SEGMENTS = 1_000
_JPEG_SCAN = 0xDA
_JPEG_END = 0xD9
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""Not the marks inside of pictures' data: escapes, restarts and fill bytes."""

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of frame headers, which hold the size; the three that are left out mark tables."""


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """The type of an image, and its width and height in pixels as the file states them (0 or more)."""

    media_type: str
    width: int
    height: int


class UnknownImage(Exception):
    """The bytes are not a PNG, JPEG, GIF or WebP image."""


class BrokenImage(Exception):
    """The bytes begin like an image, but its size or its end is missing."""


def read_image_header(content: bytes) -> ImageHeader:
    """The header of a whole image file. Raises UnknownImage and BrokenImage."""
    media_type, read = _format(content)
    try:
        width, height = read(content)
    except IndexError:
        raise BrokenImage from None
    return ImageHeader(media_type, width, height)


def _format(content: bytes) -> tuple[str, Callable[[bytes], tuple[int, int]]]:
    if content.startswith(_PNG):
        return "image/png", _png
    if content.startswith(_JPEG):
        return "image/jpeg", _jpeg
    if content.startswith(_GIF):
        return "image/gif", _gif
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp", _webp
    raise UnknownImage


def _png(content: bytes) -> tuple[int, int]:
    if content[12:16] != b"IHDR" or _PNG_END not in content:
        raise BrokenImage
    return _big_endian(content, 16, 4), _big_endian(content, 20, 4)


def _gif(content: bytes) -> tuple[int, int]:
    if not content.rstrip(b"\x00").endswith(b";"):
        raise BrokenImage
    return _little_endian(content, 6, 2), _little_endian(content, 8, 2)


def _jpeg(content: bytes) -> tuple[int, int]:
    frames = [at for marker, at in _jpeg_markers(content) if marker in _JPEG_FRAMES]
    if not frames:
        raise BrokenImage
    return _big_endian(content, frames[0] + 7, 2), _big_endian(content, frames[0] + 5, 2)


def jpeg_scans(content: bytes) -> int:
    """How often a whole JPEG goes over its pixels. Raises BrokenImage."""
    return sum(marker == _JPEG_SCAN for marker, _ in _jpeg_markers(content))


def _jpeg_markers(content: bytes) -> Iterator[tuple[int, int]]:
    """The markers of a JPEG and their places, up to the marker of its end. What stands inside of segments, such as a
    small preview, and after the end, such as a film, has markers of its own, which are passed over."""
    at = 2
    for _ in range(_MAX_JPEG_SEGMENTS):
        found = _JPEG_MARKER.search(content, at)
        if found is None:
            raise BrokenImage
        at = found.start()
        yield content[at + 1], at
        if content[at + 1] == _JPEG_END:
            return
        at += 2 + _big_endian(content, at + 2, 2)
    raise BrokenImage


def _webp(content: bytes) -> tuple[int, int]:
    if _little_endian(content, 4, 4) + 8 > len(content):
        raise BrokenImage
    match content[12:16]:
        case b"VP8X":
            return _little_endian(content, 24, 3) + 1, _little_endian(content, 27, 3) + 1
        case b"VP8L":
            bits = _little_endian(content, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little_endian(content, 26, 2) & 0x3FFF, _little_endian(content, 28, 2) & 0x3FFF
    raise BrokenImage


def _big_endian(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_field(content, at, size), "big")


def _little_endian(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_field(content, at, size), "little")


def _field(content: bytes, at: int, size: int) -> bytes:
    """The `size` bytes at the offset `at`. Raises IndexError where the content ends earlier."""
    field = content[at : at + size]
    if len(field) < size:
        raise IndexError(at)
    return field


class ImageConfig(ImageSettings):
    """Which images are loaded, and how large they may be."""

    time_limit_s: Seconds = Field(20.0, description="Time limit of loading and decoding one image.")
    max_bytes: int = Field(32 * 1024 * 1024, ge=1, description="Size of the largest file that is loaded.")
    max_pixels: int = Field(50_000_000, ge=1, description="Most pixels of an image that is loaded.")
    max_model_pixels: int = Field(12_000_000, ge=1, description="Most pixels of an image that had to be scaled down.")
    max_model_side: int = Field(8_000, ge=1, description="Largest width and height of an image for the model.")
    at_once: int = Field(16, ge=1, le=256, description="Images that are loaded at once.")
    tenant_at_once: int = Field(8, ge=1, le=256, description="Images of one tenant that are loaded at once.")
    decoded_at_once: int = Field(2, ge=1, le=16, description="Images that are decoded at once.")


def checked_header(content: bytes, max_pixels: int) -> ImageHeader:
    """The header of a whole image file that has at most so many pixels. Raises FetchRefused."""
    try:
        header = read_image_header(content)
    except UnknownImage:
        raise FetchRefused("it is no PNG, JPEG, GIF or WebP image") from None
    except BrokenImage:
        raise FetchRefused(DAMAGED) from None
    if not header.width or not header.height:
        raise FetchRefused(DAMAGED)
    if header.width * header.height > max_pixels:
        raise FetchRefused(f"it has more than {max_pixels / 1_000_000:g} million pixels")
    return header

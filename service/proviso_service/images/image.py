"""Checks an image file: its type and size are read from its first bytes, and compared with the Content-Type header and
the limits. The image itself is never decoded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from proviso_service.images.destinations import FetchRefused
from proviso_service.settings import ImageSettings, Seconds


@dataclass(frozen=True, slots=True)
class Image:
    """A checked image file. `media_type` is image/png, image/jpeg, image/gif or image/webp, according to its bytes."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class NoImage:
    """No image could be loaded. `reason` follows the words "could not be loaded:" and never repeats the server's
    words."""

    reason: str


class ImageFetcher(Protocol):
    """Loads the images of messages; WebImageFetcher does, and tests bring their own."""

    async def fetch(self, url: str, tenant: str) -> Image | NoImage:
        """The image at an https URL, for a message of the tenant. It has a time limit of its own, and returns NoImage
        where the image cannot be loaded, instead of raising an exception."""
        ...


_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_MAX_JPEG_SEGMENTS = 1_000
_JPEG_FILL = 0xFF
_JPEG_SCAN = 0xDA
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
    if content.rfind(b"\xff\xd9") < 0:
        raise BrokenImage
    at = 2
    for _ in range(_MAX_JPEG_SEGMENTS):
        if content[at] != _JPEG_FILL:
            break
        marker = content[at + 1]
        if marker == _JPEG_FILL:
            at += 1
        elif marker in _JPEG_FRAMES:
            return _big_endian(content, at + 7, 2), _big_endian(content, at + 5, 2)
        elif marker == _JPEG_SCAN:
            break
        else:
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


_UNSPECIFIC_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Content types that servers send when they do not know the type of a file."""

_TYPE_ALIASES = {"image/jpg": "image/jpeg"}


class ImageConfig(ImageSettings):
    """Which images are loaded, and how large they may be."""

    time_limit_s: Seconds = Field(10.0, description="Time limit of loading one image.")
    max_bytes: int = Field(4 * 1024 * 1024, ge=1, description="Size of the largest image.")
    max_side_pixels: int = Field(16_384, ge=1, description="Largest width and largest height of an image.")
    max_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image.")
    at_once: int = Field(32, ge=1, le=256, description="Images that are loaded at once.")
    tenant_at_once: int = Field(16, ge=1, le=256, description="Images of one tenant that are loaded at once.")


def check_image(content: bytes, content_type: str, settings: ImageConfig) -> Image:
    """The image, if its bytes match the Content-Type header and are within the limits. Raises FetchRefused."""
    header = _header(content)
    declared = content_type.partition(";")[0].strip().lower()
    if declared not in _UNSPECIFIC_TYPES and _TYPE_ALIASES.get(declared, declared) != header.media_type:
        raise FetchRefused("its server says that it is something else than it is")
    if not header.width or not header.height:
        raise FetchRefused("it is damaged or incomplete")
    if max(header.width, header.height) > settings.max_side_pixels:
        raise FetchRefused(f"it is more than {settings.max_side_pixels} pixels wide or high")
    if header.width * header.height > settings.max_pixels:
        raise FetchRefused(f"it has more than {settings.max_pixels / 1_000_000:g} million pixels")
    return Image(header.media_type, content)


def _header(content: bytes) -> ImageHeader:
    try:
        return read_image_header(content)
    except UnknownImage:
        raise FetchRefused("it is no PNG, JPEG, GIF or WebP image") from None
    except BrokenImage:
        raise FetchRefused("it is damaged or incomplete") from None

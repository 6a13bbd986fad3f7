"""What an image file is: read from its bytes, checked against what its server says and against the limits, never
decoded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from proviso_service.images.destinations import Refused
from proviso_service.settings import ImageSettings, Seconds


@dataclass(frozen=True, slots=True)
class Image:
    """A checked image file. `media_type`: image/png, image/jpeg, image/gif or image/webp, as its bytes say."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class NoImage:
    """`reason` says why there is none, in words that follow "could not be loaded:"; never in words of the server's."""

    reason: str


class ImageFetcher(Protocol):
    async def fetch(self, url: str, tenant: str) -> Image | NoImage:
        """The image at an https URL, for a message of the tenant's. Within a time limit of its own; raises nothing that
        concerns the URL."""
        ...


_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
_MAX_JPEG_SEGMENTS = 1_000
_JPEG_FILL = 0xFF
_JPEG_SCAN = 0xDA
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of frames; the three left out are tables."""


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """`width` and `height` in pixels, as the file states them; both are 0 or more."""

    media_type: str
    width: int
    height: int


class UnknownImage(Exception):
    """The bytes are no PNG, JPEG, GIF or WebP image."""


class BrokenImage(Exception):
    """The bytes begin as an image does, but its size or its end is missing."""


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
    return _big(content, 16, 4), _big(content, 20, 4)


def _gif(content: bytes) -> tuple[int, int]:
    if not content.rstrip(b"\x00").endswith(b";"):
        raise BrokenImage
    return _little(content, 6, 2), _little(content, 8, 2)


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
            return _big(content, at + 7, 2), _big(content, at + 5, 2)
        elif marker == _JPEG_SCAN:
            break
        else:
            at += 2 + _big(content, at + 2, 2)
    raise BrokenImage


def _webp(content: bytes) -> tuple[int, int]:
    if _little(content, 4, 4) + 8 > len(content):
        raise BrokenImage
    match content[12:16]:
        case b"VP8X":
            return _little(content, 24, 3) + 1, _little(content, 27, 3) + 1
        case b"VP8L":
            bits = _little(content, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(content, 26, 2) & 0x3FFF, _little(content, 28, 2) & 0x3FFF
    raise BrokenImage


def _big(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_exactly(content, at, size), "big")


def _little(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(_exactly(content, at, size), "little")


def _exactly(content: bytes, at: int, size: int) -> bytes:
    """Raises IndexError where the content ends before."""
    field = content[at : at + size]
    if len(field) < size:
        raise IndexError(at)
    return field


_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Content types of stores that do not know what they keep."""

_OTHER_NAMES = {"image/jpg": "image/jpeg"}


class ImageConfig(ImageSettings):
    """Which images are loaded, and how large they may be."""

    time_limit_s: Seconds = Field(10.0, description="Time limit of loading one image.")
    max_bytes: int = Field(4 * 1024 * 1024, ge=1, description="Size of the largest image.")
    max_side_pixels: int = Field(16_384, ge=1, description="Largest width and largest height of an image.")
    max_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image.")
    at_once: int = Field(32, ge=1, le=256, description="Images that are loaded at once.")
    tenant_at_once: int = Field(16, ge=1, le=256, description="Images of one tenant that are loaded at once.")


def check_image(content: bytes, content_type: str, settings: ImageConfig) -> Image:
    """The image, if the bytes are what the Content-Type header says they are. Raises Refused."""
    header = _header(content)
    declared = content_type.partition(";")[0].strip().lower()
    if declared not in _SAYS_NOTHING and _OTHER_NAMES.get(declared, declared) != header.media_type:
        raise Refused("its server says that it is something else than it is")
    if not header.width or not header.height:
        raise Refused("it is damaged or incomplete")
    if max(header.width, header.height) > settings.max_side_pixels:
        raise Refused(f"it is more than {settings.max_side_pixels} pixels wide or high")
    if header.width * header.height > settings.max_pixels:
        raise Refused(f"it has more than {settings.max_pixels / 1_000_000:g} million pixels")
    return Image(header.media_type, content)


def _header(content: bytes) -> ImageHeader:
    try:
        return read_image_header(content)
    except UnknownImage:
        raise Refused("it is no PNG, JPEG, GIF or WebP image") from None
    except BrokenImage:
        raise Refused("it is damaged or incomplete") from None

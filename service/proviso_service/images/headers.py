"""Type and size of an image file, read from its first bytes without decoding it."""

from collections.abc import Callable
from dataclasses import dataclass

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

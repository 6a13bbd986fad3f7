"""Image files: real pictures, and small files whose headers state any size."""

import random
import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image


def painted(kind: str = "PNG", width: int = 8, height: int = 6, **options: Any) -> bytes:
    """A whole file of a picture in which no two places are alike, so that it can hardly be compressed. `kind` is PNG,
    JPEG, GIF or WEBP."""
    noise = random.Random(7).randbytes(3 * width * height)  # noqa: S311 - the same picture each time
    return written(Image.frombytes("RGB", (width, height), noise), kind, **options)


def written(picture: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def png(width: int = 1, height: int = 1) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0\0\0\0")), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def jpeg(width: int = 1, height: int = 1) -> bytes:
    application = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    tables = b"\xff\xc4" + struct.pack(">H", 3) + b"\0"
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 8, 8, height, width, 1)
    return b"\xff\xd8" + application + tables + frame + b"\xff\xda\0\x02data\xff\xd9"


def gif(width: int = 1, height: int = 1) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0,data;"


def webp(width: int = 1, height: int = 1, form: str = "VP8X") -> bytes:
    match form:
        case "VP8X":
            data = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        case "VP8L":
            data = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
        case _:
            data = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    chunk = form.ljust(4).encode() + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

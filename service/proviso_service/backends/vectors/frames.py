"""The messages between the service and the vector index's process. A frame is two lengths, a JSON header and a payload
of raw bytes. Vectors are sent as little-endian float32, row after row."""

import json
import struct
from typing import Any

LENGTHS = struct.Struct("<II")
MAX_BYTES = 256 * 1024 * 1024
"""The longest header or payload. A longer one is a fault of the other side."""

Header = dict[str, Any]


class BadFrame(Exception):
    """The bytes received are not a frame."""


def frame(header: Header, payload: bytes | memoryview = b"") -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((LENGTHS.pack(len(text), len(payload)), text, payload))


def lengths(start: bytes) -> tuple[int, int]:
    """The lengths in bytes of the header and of the payload that follow. Raises BadFrame."""
    header, payload = LENGTHS.unpack(start)
    if header > MAX_BYTES or payload > MAX_BYTES:
        raise BadFrame(f"a frame of {header} and {payload} bytes")
    return header, payload


def read_header(text: bytes) -> Header:
    """The decoded header. Raises BadFrame."""
    try:
        header = json.loads(text)
    except ValueError as error:
        raise BadFrame("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise BadFrame("a header that is no object")
    return header

"""What the service and the vector index's process send each other: a JSON header and raw bytes, both with their length
ahead. Vectors travel as little-endian float32, row after row."""

import json
import struct
from typing import Any

LENGTHS = struct.Struct("<II")
MAX_BYTES = 256 * 1024 * 1024
"""Of a header or a payload; more is a fault of the other side."""

Header = dict[str, Any]


class BadFrame(Exception):
    """The stream holds something else."""


def frame(header: Header, payload: bytes | memoryview = b"") -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((LENGTHS.pack(len(text), len(payload)), text, payload))


def lengths(start: bytes) -> tuple[int, int]:
    """Bytes of the header and of the payload that follow. Raises BadFrame."""
    header, payload = LENGTHS.unpack(start)
    if header > MAX_BYTES or payload > MAX_BYTES:
        raise BadFrame(f"a frame of {header} and {payload} bytes")
    return header, payload


def read_header(text: bytes) -> Header:
    """Raises BadFrame."""
    try:
        header = json.loads(text)
    except ValueError as error:
        raise BadFrame("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise BadFrame("a header that is no object")
    return header

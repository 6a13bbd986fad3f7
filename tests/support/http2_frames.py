"""Frames of HTTP/2 as bytes (RFC 9113), for clients that do what no library would."""

import struct
from collections.abc import Mapping

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW_SIZE = 4
CANCEL = 8


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(values: Mapping[int, int] | None = None) -> bytes:
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *value) for value in (values or {}).items()))


def _text(value: bytes) -> bytes:
    """A literal of HPACK (RFC 7541) without Huffman's code: its length with a prefix of seven bits, and the bytes."""
    if len(value) < 127:
        return bytes([len(value)]) + value
    left, length = len(value) - 127, b"\x7f"
    while left >= 128:
        length += bytes([left % 128 + 128])
        left //= 128
    return length + bytes([left]) + value


def header(name: bytes, value: bytes) -> bytes:
    """A field that enters no table."""
    return b"\x00" + _text(name) + _text(value)


def request(path: str, *more: bytes) -> bytes:
    """The block of fields of a call by gRPC."""
    fields = {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": path.encode(),
        b":authority": b"localhost",
        b"content-type": b"application/grpc",
        b"te": b"trailers",
    }
    return b"".join(header(name, value) for name, value in fields.items()) + b"".join(more)


EMPTY_MESSAGE = b"\0" * 5


def call(stream: int, path: str) -> bytes:
    """A whole call with an empty message."""
    return frame(HEADERS, END_HEADERS, stream, request(path)) + frame(DATA, END_STREAM, stream, EMPTY_MESSAGE)

"""Frames between the processes: a kind of one byte, a length of four, the payload."""

import os
import struct
from collections.abc import Iterator
from typing import Final

HEADER: Final = struct.Struct("!cI")
MAX_PAYLOAD_BYTES: Final = 64 * 1024

REQUEST: Final = b"R"
"""To the supervisor: a Request as JSON; the bytes of the file follow it without a frame."""
DATA: Final = b"D"
"""From the supervisor: a piece of what the child wrote."""
ENDING: Final = b"E"
"""From the supervisor, last: how the child ended, an Ending as JSON."""


class BrokenStream(Exception):
    """The other side ended, or wrote what is no frame."""


def frame(kind: bytes, payload: bytes) -> bytes:
    return HEADER.pack(kind, len(payload)) + payload


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Raises OSError."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view[:MAX_PAYLOAD_BYTES]) :]


def read_exactly(descriptor: int, size: int) -> bytes:
    """Raises BrokenStream at the end of the stream."""
    pieces = list(pieces_of(descriptor, size))
    return b"".join(pieces)


def pieces_of(descriptor: int, size: int) -> Iterator[bytes]:
    """The next `size` bytes as they come. Raises BrokenStream at the end of the stream."""
    while size:
        piece = os.read(descriptor, min(size, MAX_PAYLOAD_BYTES))
        if not piece:
            raise BrokenStream
        size -= len(piece)
        yield piece

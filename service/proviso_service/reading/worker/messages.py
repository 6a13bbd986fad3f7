"""The frames that pass between the processes, what the service asks a supervisor for, and what it is told about the end
of a child.

A frame is a kind of one byte, a length of four bytes, and the payload."""

import json
import os
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final, Self

from proviso_service.reading.model import ReadingLimits

HEADER: Final = struct.Struct("!cI")
MAX_PAYLOAD_BYTES: Final = 64 * 1024

REQUEST: Final = b"R"
"""To the supervisor: a ReadRequest as JSON; the bytes of the file follow it without a frame."""
DATA: Final = b"D"
"""From the supervisor: a piece of what the child wrote."""
ENDING: Final = b"E"
"""From the supervisor, as the last frame: how the child ended, a ChildEnding as JSON."""


class BrokenStream(Exception):
    """The other side has ended, or wrote something that is no frame."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """Returns a frame as bytes."""
    return HEADER.pack(kind, len(payload)) + payload


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Writes all bytes, however many calls that takes. Raises OSError."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view[:MAX_PAYLOAD_BYTES]) :]


def read_exactly(descriptor: int, size: int) -> bytes:
    """Reads so many bytes. Raises BrokenStream at the end of the stream."""
    pieces = list(pieces_of(descriptor, size))
    return b"".join(pieces)


def pieces_of(descriptor: int, size: int) -> Iterator[bytes]:
    """Yields the next `size` bytes as they come. Raises BrokenStream at the end of the stream."""
    while size:
        piece = os.read(descriptor, min(size, MAX_PAYLOAD_BYTES))
        if not piece:
            raise BrokenStream
        size -= len(piece)
        yield piece


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Asks for one file of `content_bytes` bytes to be read. The time limit is one of the clock and of the processor;
    that of memory counts address space. `answer_bytes` is the most that the child may write."""

    media_type: str
    content_bytes: int
    limits: ReadingLimits
    answer_bytes: int

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        fields = json.loads(content)
        return cls(**fields | {"limits": ReadingLimits(**fields["limits"])})


class ChildOutcome(StrEnum):
    """How a child ended. What it wrote is an answer only after EXITED."""

    EXITED = "exited"
    OUT_OF_TIME = "out_of_time"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_LARGE = "too_large"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class ChildEnding:
    """How a child ended, and its exit status, which is negative for the signal that ended it."""

    outcome: ChildOutcome
    status: int = 0

    def encode(self) -> bytes:
        return json.dumps({"outcome": self.outcome, "status": self.status}).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        fields = json.loads(content)
        return cls(ChildOutcome(fields["outcome"]), int(fields["status"]))

"""What the service asks a worker for and what it is told about its end."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

from proviso_service.reading.canonical import ReadingLimits


@dataclass(frozen=True, slots=True)
class Request:
    """Read one file of `content_bytes` bytes. `time_limit_s` is of the clock and of the processor; `memory_bytes` of
    address space; `answer_bytes` of what the child may write."""

    media_type: str
    content_bytes: int
    chunk_chars: int
    max_text_chars: int
    max_pages: int
    time_limit_s: float
    memory_bytes: int
    answer_bytes: int

    @property
    def limits(self) -> ReadingLimits:
        return ReadingLimits(self.max_text_chars, self.max_pages)

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        return cls(**json.loads(content))


class Outcome(StrEnum):
    """How a child ended. Only after EXITED is what it wrote an answer."""

    EXITED = "exited"
    OUT_OF_TIME = "out_of_time"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_LARGE = "too_large"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Ending:
    """`status` is the exit status of the child, negative for the signal that ended it."""

    outcome: Outcome
    status: int = 0

    def encode(self) -> bytes:
        return json.dumps({"outcome": self.outcome, "status": self.status}).encode()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        fields = json.loads(content)
        return cls(Outcome(fields["outcome"]), int(fields["status"]))

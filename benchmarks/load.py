"""What a client is asked to do, and what it saw. Travels as one line of JSON each way."""

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` readers at once, each reading `turns` turns one after the other."""

    address: str
    matter_id: str
    workload: str
    streams: int
    turns: int

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Seen:
    """`tokens` counts those delivered, also when one event joined several; `events` counts messages. Latencies are
    seconds from the call to its first event and to its first token, of every turn."""

    elapsed_s: float
    turns: int
    tokens: int
    events: int
    first_event_s: tuple[float, ...]
    first_token_s: tuple[float, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        return cls(**json.loads(line))


class WrongStream(Exception):
    """A server did not stream the workload; its numbers would mean nothing."""


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """One turn, as Seen counts them."""

    events: int
    tokens: int
    first_event_s: float
    first_token_s: float

"""What servers stream, what a client is asked to read, and what it saw. The last two are sent as one line of JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Self

# A question, since what states facts without a source is refused. Its words make whole sentences of 200 tokens.
_WORDS = ("Which", "of", "these", "documents", "shall", "we", "read", "for", "you", "first?")


@dataclass(frozen=True, slots=True)
class Workload:
    """Turns of `tokens` tokens each, one every `interval_s` seconds; 0 means as fast as possible."""

    name: str
    tokens: int
    interval_s: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each token, in order."""
        return tuple(f"{_WORDS[i % len(_WORDS)]} " for i in range(self.tokens))


FLAT_OUT = Workload("flat-out", 200, 0.0)
PACED = Workload("paced", 200, 0.02)
ONE_TOKEN = Workload("one-token", 1, 0.0)

WORKLOADS = {workload.name: workload for workload in (FLAT_OUT, PACED, ONE_TOKEN)}
"""The workloads by name. A request names one in `ChatOptions.model`."""


@dataclass(frozen=True, slots=True)
class Load:
    """A load: `streams` readers at once, each of which reads `turns` turns one after the other. `is_raw` asks for the
    text as the model writes it, without waiting for the check of each sentence. The address may name several servers,
    separated by commas, over which the readers spread. `callers` take turns, where there are any: each shows its token,
    and asks about its own matter instead of `matter_id`."""

    address: str
    matter_id: str
    workload: str
    streams: int
    turns: int
    is_raw: bool = False
    callers: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Seen:
    """What the client saw. `tokens` counts the model's tokens, also where one event held several; `events` counts
    messages. The latencies are seconds, for every turn, from the call to its first event and to its first token or
    sentence."""

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
    """A server did not stream the workload, so its figures would be meaningless."""


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """What the client saw of one turn, counted as in Seen."""

    events: int
    tokens: int
    first_event_s: float
    first_token_s: float

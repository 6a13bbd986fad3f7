"""What every server streams: turns of a given number of one-word tokens, as fast as possible or at a fixed rate."""

from dataclasses import dataclass

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

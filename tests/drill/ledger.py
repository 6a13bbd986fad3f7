"""What the users of the drill have asked for, what was acknowledged, and what each reader of a turn has seen."""

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from proviso_client.v1 import chat_pb2


@dataclass
class Seen:
    """What one reader saw of a turn, from its beginning. `missed`: it was told that events before the end are lost."""

    reader: str
    events: list[chat_pb2.AgentEvent] = field(default_factory=list)
    missed: bool = False


@dataclass
class Question:
    """One turn: what was asked, and what became of it. `effects` is the file that the tool `note` writes to, where the
    turn calls it, and `answer` the text of the last reply of the model."""

    session_id: str
    request_id: str
    message: str
    answer: str
    effects: Path | None = None
    is_denied: bool = False
    turn_ids: set[str] = field(default_factory=set)
    seen: list[Seen] = field(default_factory=list)
    begun_s: float = field(default_factory=time.monotonic)
    final: chat_pb2.FinalState | None = None
    note_error: str | None = None
    """The error of the call of `note`; empty where it succeeded, and None where it was not made."""

    @property
    def turn_id(self) -> str:
        return next(iter(self.turn_ids), "")


@dataclass
class Ledger:
    """Documents are kept by their id, as the matter's id and the hash of the bytes. What is in `gone` was deleted."""

    questions: list[Question] = field(default_factory=list)
    matters: set[str] = field(default_factory=set)
    documents: dict[str, tuple[str, str]] = field(default_factory=dict)
    gone_matters: set[str] = field(default_factory=set)
    gone_documents: set[str] = field(default_factory=set)
    deletions: set[str] = field(default_factory=set)
    redis_lost_until_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def fault(self, text: str) -> None:
        """Something that must not be."""
        self.wrong.append(text)
        print(f"WRONG {text}", flush=True)

    def kept(self, matter_id: str) -> dict[str, str]:
        """The documents that a matter has to have, with the hashes of their bytes."""
        found = {one: digest for one, (matter, digest) in self.documents.items() if matter == matter_id}
        return {one: digest for one, digest in found.items() if one not in self.gone_documents}


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

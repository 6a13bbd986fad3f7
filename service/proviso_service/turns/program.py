"""What the turn engine is given to run: requests, the program that answers them, and what the program works with."""

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import TypeAdapter

from proviso_service.context.marker import parse_marker
from proviso_service.context.model import DocumentSummary, ItemRef, MatterContext, NewSession
from proviso_service.identity import Caller
from proviso_service.language import language_of
from proviso_service.turns.events import (
    Event,
    FinalState,
)
from proviso_service.turns.records import Decision, ExitCause, ExitReason
from proviso_service.turns.sessions import ChatMessage, HistoryMessage

Emit = Callable[[Event], None]
"""Appends an event to the turn's log and returns at once. Raises TurnLogFull at the log's limit."""


class OnDisconnect(StrEnum):
    """What happens to a turn that nobody reads: it ends after some grace, it goes on, or it ends at once."""

    GRACE = "grace"
    CONTINUE = "continue"
    CANCEL = "cancel"


class TextRelease(StrEnum):
    """When the text of an answer is sent: each sentence once it has been checked, or as the model writes it."""

    CHECKED = "checked"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """What a request chooses for its turn. The limits are already checked against those of the settings; None means the
    setting."""

    model: str = ""
    max_turns: int | None = None
    max_tool_calls: int | None = None
    max_context_chars: int | None = None
    disable_cache: bool = False
    text_release: TextRelease = TextRelease.CHECKED


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A validated ChatRequest. `history` is empty when `session_id` is set, because then the session has the history.
    `selected_assets` names the assets that are used; all are where it is empty."""

    message: str
    matter_context: MatterContext | None = None
    image_urls: tuple[str, ...] = ()
    document_context: tuple[DocumentSummary, ...] = ()
    session_id: str = ""
    history: tuple[HistoryMessage, ...] = ()
    request_id: str = ""
    on_disconnect: OnDisconnect = OnDisconnect.GRACE
    options: TurnOptions = TurnOptions()
    selected_assets: tuple[str, ...] = ()

    @property
    def language(self) -> str:
        """The language that the message is written in, English where it cannot be told."""
        return language_of(parse_marker(self.message).text)


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What a turn leaves behind: its final state, and what its session keeps.

    `new_messages` are appended to the session. `matter_context` replaces the session's last known context when
    `update_matter_context` is set; None clears it. An unknown session is made from `new_session` when there is
    something to keep. `contents` are the texts that the request context names by their SHA-256. `documents_read` counts
    the documents of which the model was shown anything."""

    final_state: FinalState
    new_messages: tuple[ChatMessage, ...] = ()
    matter_context: MatterContext | None = None
    update_matter_context: bool = False
    new_session: NewSession = NewSession()
    contents: Mapping[str, str] = field(default_factory=dict)
    documents_read: int = 0


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call that needs a person's decision. `tool` is the name that the model calls the tool by, and `ref` the
    tool in the catalog. `sha256` says what the tool was when the person was asked: an approval for the session holds
    for exactly that."""

    call_id: str
    tool: str
    ref: ItemRef
    input_json: str
    sha256: str = ""


class TurnApprovals(Protocol):
    """How a program asks persons about tool calls."""

    @property
    def made(self) -> Sequence[tuple[AskedCall, Decision]]:
        """The decisions on the calls that were asked about last, also while decisions on other calls are missing."""
        ...

    async def decide(
        self, calls: Sequence[AskedCall], suspend: Callable[[], Awaitable[str]]
    ) -> Mapping[str, Decision | None]:
        """Asks about the calls and returns the decisions by call id once all are made or the time for them is over;
        None where nobody decided.

        Nobody is asked twice about the same call, even when the program asks again after a restart. `suspend` gives the
        state from which `TurnProgram.resume` goes on."""
        ...


class TurnClock:
    """The one clock of a turn's time limit. It stands still while the turn waits for a person.

    A new clock runs at once. One that is given `used_s`, the seconds that the turn has run before a restart, stands
    still until `start` is called."""

    def __init__(self, limit_s: float, used_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._used_s = used_s or 0.0
        self._since = time.monotonic() if used_s is None else None

    @property
    def used_s(self) -> float:
        """The seconds for which the turn has run so far."""
        running_s = 0.0 if self._since is None else time.monotonic() - self._since
        return self._used_s + running_s

    @property
    def left_s(self) -> float:
        """The seconds for which the turn may still run, 0 once the limit has passed."""
        return max(0.0, self._limit_s - self.used_s)

    def start(self) -> None:
        """Lets the clock run from now on."""
        self._since = time.monotonic()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The clock stands still while the context is open, and runs afterwards."""
        self._used_s, self._since = self.used_s, None
        try:
            yield
        finally:
            self.start()


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn as its program works on it. The program reads `clock` and never changes it.

    `checkpoint` stores the state from which `TurnProgram.resume` goes on, should the process end. `was_cut` says that
    an earlier process was at work on the turn when it ended: what it did after its last checkpoint is not known, and
    its readers may have had more events."""

    turn_id: str
    caller: Caller
    request: TurnRequest
    emit: Emit
    approvals: TurnApprovals
    clock: TurnClock
    checkpoint: Callable[[str], Awaitable[None]]
    was_cut: bool = False


class TurnExecution(Protocol):
    """One run of a program.

    `run` is called once at most. `interrupted` is called after `run` was cancelled or failed, or instead of it, and
    again when an outcome could not be stored. `release` is called instead when another process goes on with the
    turn."""

    async def run(self) -> TurnOutcome:
        """Emits every event but the final state, and returns the final state in the outcome. Lets CancelledError pass
        through."""
        ...

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        """The outcome of a turn that `run` could not finish, with the counters and the usage so far. Makes no calls."""
        ...

    def release(self) -> None:
        """Frees what the run holds. Everything that the turn goes on from is stored."""
        ...


class TurnProgram(Protocol):
    """What runs inside a turn. The agent is one."""

    def start(self, turn: RunningTurn) -> TurnExecution:
        """Begins a new turn, or one that was cut before its first checkpoint."""
        ...

    async def resume(self, turn: RunningTurn, state: str) -> TurnExecution:
        """Goes on with a turn from the state that an earlier process has stored, which may be large. By the time that
        the execution runs, `turn.approvals` has the answers to what was asked last. Raises SuspensionUnreadable."""
        ...


_REQUEST = TypeAdapter(TurnRequest)


def payload_sha256(request: TurnRequest) -> str:
    """The SHA-256, in hexadecimal, of what a request asks for. Its request_id does not count, and neither does
    on_disconnect, which only says how the answer is fetched. Fields at their default are left out, so that a field that
    is added later changes no earlier hash."""
    payload = _REQUEST.dump_python(request, mode="json", exclude={"request_id", "on_disconnect"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode("ascii")).hexdigest()

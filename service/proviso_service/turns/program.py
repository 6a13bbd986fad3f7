"""What the turn engine needs: a program to run, a store for what must survive, a log of events."""

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import TypeAdapter

from proviso_service.context.model import DocumentSummary, ItemRef, MatterContext, NewSession
from proviso_service.identity import Caller
from proviso_service.turns.events import (
    Event,
    FinalState,
)
from proviso_service.turns.records import Decision, ExitReason, Retryable
from proviso_service.turns.sessions import ChatMessage, MessageRole

Emit = Callable[[Event], None]
"""Appends an event to the turn's log; returns at once. Raises TurnLogFull at the log's bound."""


class OnDisconnect(StrEnum):
    GRACE = "grace"
    CONTINUE = "continue"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """Limits are already checked against the settings; None means the setting."""

    model: str = ""
    max_turns: int | None = None
    max_tool_calls: int | None = None
    max_context_chars: int | None = None
    disable_cache: bool = False


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    role: MessageRole
    content: str


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A validated ChatRequest. `history` is empty when `session_id` is set; `selected_assets` names the assets that
    enter, all where it is empty."""

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


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What a turn leaves behind: its final state, and what the session keeps.

    `new_messages` are appended to the session; `matter_context` replaces its last known context when
    `update_matter_context` is set (None clears it). `new_session` is what a session is made with for them. `contents`
    are what its request context names by hash."""

    final_state: FinalState
    new_messages: tuple[ChatMessage, ...] = ()
    matter_context: MatterContext | None = None
    update_matter_context: bool = False
    new_session: NewSession = NewSession()
    contents: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call that needs a person's decision. `tool` is the name that the model calls it by, `ref` the tool in the
    catalog, and `sha256` what it is then: an approval for the session is of both."""

    call_id: str
    tool: str
    ref: ItemRef
    input_json: str
    sha256: str = ""


class TurnApprovals(Protocol):
    """How a program asks persons."""

    @property
    def made(self) -> Sequence[tuple[AskedCall, Decision]]:
        """The decisions on the calls that were asked about last, also while others of them are missing."""
        ...

    async def decide(
        self, calls: Sequence[AskedCall], suspend: Callable[[], Awaitable[str]]
    ) -> Mapping[str, Decision | None]:
        """The decisions by call id, once all are made or the time for them is over; None where nobody decided. A call
        is asked about once, also where a turn that was taken up again asks again. `suspend` gives the state that
        `TurnProgram.resume` goes on from."""
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
    """A turn as its program works on it. `emit` appends an event to the turn's log and returns at once; it raises
    TurnLogFull at the log's bound. The program reads `clock` and never sets it."""

    turn_id: str
    caller: Caller
    request: TurnRequest
    emit: Emit
    approvals: TurnApprovals
    clock: TurnClock


class TurnExecution(Protocol):
    """One run of the program. `run` is called once; `interrupted` after `run` was cancelled or failed, or instead of
    it, and again when an outcome could not be stored. `release` ends a run that waits for a person when the service is
    stopped: `run` was cancelled, or not called, and the next life of the service goes on with `TurnProgram.resume`."""

    async def run(self) -> TurnOutcome:
        """Emits every event but the final state, which it returns. CancelledError passes through."""
        ...

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        """The outcome of a turn that `run` could not finish, with the counters and usage so far. Makes no calls."""
        ...

    def release(self) -> None: ...


class TurnProgram(Protocol):
    """What runs inside a turn: the agent."""

    def start(self, turn: RunningTurn) -> TurnExecution:
        """Begins a new turn."""
        ...

    async def resume(self, turn: RunningTurn, state: str) -> TurnExecution:
        """Goes on with a turn from the state that an earlier life of the service has stored, which may be large. By the
        time that the execution runs, `turn.approvals` has the answers. Raises SuspensionUnreadable."""
        ...


_REQUEST = TypeAdapter(TurnRequest)


def payload_sha256(request: TurnRequest) -> str:
    """SHA-256 (hex) of what a request asks for: without its request_id, and without on_disconnect, which says how the
    answer is fetched. Fields at their default are left out, so that a field added later changes no earlier hash."""
    payload = _REQUEST.dump_python(request, mode="json", exclude={"request_id", "on_disconnect"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode("ascii")).hexdigest()

"""What the turn engine needs: a program to run, a store for what must survive, a log of events."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from pydantic import TypeAdapter

from proviso_service.context.model import ApprovedTool, DocumentSummary, ItemRef, MatterContext, NewSession
from proviso_service.identity import Caller
from proviso_service.turns.events import (
    ApprovalRequired,
    Citation,
    Event,
    FinalState,
    LoggedEvent,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.records import Decision
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


class Approvals(Protocol):
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


class TurnExecution(Protocol):
    """One run of the program. `run` is called once; `interrupted` after `run` was cancelled or failed, or instead of
    it, and again when an outcome could not be stored. `left` ends a run that waits for a person when the service is
    stopped: `run` was cancelled, or not called, and the next life of the service goes on with `TurnProgram.resume`."""

    async def run(self) -> TurnOutcome:
        """Emits every event but the final state, which it returns. CancelledError passes through."""
        ...

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        """The outcome of a turn that `run` could not finish, with the counters and usage so far. Makes no calls."""
        ...

    def left(self) -> None: ...


class TurnProgram(Protocol):
    """What runs inside a turn: the agent."""

    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> TurnExecution: ...

    async def resume(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals, state: str
    ) -> TurnExecution:
        """Goes on from a state that an earlier life of the service has stored, which may be large: `approvals` has the
        answers by the time that the execution runs. Raises SuspensionUnreadable."""
        ...


class TurnState(StrEnum):
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn's row. `final_state` is set once it has ended, `pending_approvals` while it waits in this process."""

    turn_id: str
    caller: Caller
    session_id: str
    state: TurnState
    last_sequence: int
    final_state: FinalState | None
    pending_approvals: tuple[ApprovalRequired, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """`created` is False when the same request_id and payload had begun `turn_id` before."""

    turn_id: str
    created: bool


class TurnStore(Protocol):
    """Rows of turns; shared by replicas."""

    async def begin(
        self, caller: Caller, turn_id: str, request: TurnRequest, payload_sha256: str, owner: str, lease_s: float
    ) -> TurnBegun:
        """Registers a running turn, atomically. With a known request_id of this caller: the earlier turn when the
        payload is equal, else raises RequestIdReused. Raises SessionBusy when the request's session runs a turn."""
        ...

    async def begun_before(self, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        """The turn that this caller's request_id began, None when it began none. Raises RequestIdReused when it began
        one with another payload."""
        ...

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> None:
        """Extends the leases of running turns."""
        ...

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome
    ) -> None:
        """In one transaction: the final state, the session's new messages and its matter context. An unknown session is
        made when there is something to keep. A turn that has ended already is left as it is."""
        ...

    async def suspend(self, caller: Caller, turn_id: str, last_sequence: int, suspended: "SuspendedTurn") -> None:
        """A running turn waits from now on. Raises TurnUnknown for one that does not run."""
        ...

    async def record_decision(
        self,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ApprovedTool | None,
    ) -> None:
        """In one transaction: the decision on the calls at `positions` of a waiting turn, and the tool that needs no
        further approval in the session, if any. Raises TurnUnknown for a turn that does not wait."""
        ...

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        """A waiting turn runs again; nothing remains of what it was suspended with. Raises TurnUnknown for one that
        does not wait."""
        ...

    async def waiting(self, owner: str) -> Sequence[TurnRecord]:
        """The waiting turns of an owner."""
        ...

    async def suspended(self, caller: Caller, turn_id: str) -> "SuspendedTurn":
        """What a waiting turn was suspended with, and the decisions since. Raises SuspensionUnreadable, and TurnUnknown
        for a turn that does not wait."""
        ...

    async def get(self, caller: Caller, turn_id: str) -> TurnRecord:
        """Raises TurnUnknown, also for another caller's turn."""
        ...

    async def close_interrupted(self, owner: str) -> int:
        """Ends in INTERNAL_ERROR the running turns whose lease has expired and those of `owner` itself (an earlier life
        of this process; "" names nobody); returns how many. Turns that await an approval are left alone."""
        ...


_VERSION = 1

_EVENTS: Mapping[str, TypeAdapter[Any]] = {
    "turn_start": TypeAdapter(TurnStart),
    "token": TypeAdapter(Token),
    "text_discarded": TypeAdapter(TextDiscarded),
    "tool_start": TypeAdapter(ToolStart),
    "tool_end": TypeAdapter(ToolEnd),
    "citation": TypeAdapter(Citation),
    "approval_required": TypeAdapter(ApprovalRequired),
}
_KINDS: Mapping[type, str] = {
    TurnStart: "turn_start",
    Token: "token",
    TextDiscarded: "text_discarded",
    ToolStart: "tool_start",
    ToolEnd: "tool_end",
    Citation: "citation",
    ApprovalRequired: "approval_required",
}


class SuspensionUnreadable(Exception):
    """What was stored of a waiting turn cannot be gone on from: it is of another version, damaged, or needs what is not
    there any more. Says which, and quotes nothing that was stored: it goes to the log."""


@dataclass(frozen=True, slots=True)
class SuspendedTurn:
    """`state` is the program's own account of where it stands. `decisions` are those on `calls`, in their order;
    `earlier_decisions` are those on calls that the turn waited for before, by call id. `used_s` is the time that it has
    used of its limit; `events` are all of its events."""

    request: TurnRequest
    state: str
    calls: tuple[AskedCall, ...]
    decisions: tuple[Decision | None, ...]
    expire_time: datetime
    used_s: float
    earlier_decisions: Mapping[str, Decision] = field(default_factory=dict)
    events: tuple[LoggedEvent, ...] = ()

    @property
    def all_decisions(self) -> dict[str, Decision]:
        """That persons have made, by call id."""
        made = zip(self.calls, self.decisions, strict=True)
        return dict(self.earlier_decisions) | {call.call_id: decision for call, decision in made if decision}


_FORM = TypeAdapter(SuspendedTurn)


def encode(turn: SuspendedTurn) -> str:
    """As JSON; takes long where there are images, so not for the event loop. The stores write new decisions to
    `$.decisions[position]`."""
    plain = _FORM.dump_python(replace(turn, events=()), mode="json")
    return json.dumps(plain | {"version": _VERSION, "events": [_plain(logged) for logged in turn.events]})


def decode(text: str | None) -> SuspendedTurn:
    """Raises SuspensionUnreadable."""
    try:
        plain = json.loads(text or "")
        if plain["version"] != _VERSION:
            raise SuspensionUnreadable(f"version {plain['version']}")
        events = tuple(_logged(sequence, stored) for sequence, stored in enumerate(plain["events"], 1))
        turn = replace(_FORM.validate_python(plain | {"events": ()}), events=events)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        # Not the error itself, which may quote what was stored: this goes to the log.
        raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None
    if len(turn.decisions) != len(turn.calls):
        raise SuspensionUnreadable("damaged")
    return turn


def _plain(logged: LoggedEvent) -> dict[str, Any]:
    kind = _KINDS[type(logged.event)]
    return {"kind": kind, "time_s": logged.emit_time_s, "event": _EVENTS[kind].dump_python(logged.event, mode="json")}


def _logged(sequence: int, stored: dict[str, Any]) -> LoggedEvent:
    event = _EVENTS[stored["kind"]].validate_python(stored["event"])
    return LoggedEvent(sequence, sequence, stored["time_s"], event)

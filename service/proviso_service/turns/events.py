"""The typed events of a turn. They are logged in order, from TurnStart to exactly one FinalState."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from proviso_service.context.model import RequestContext
from proviso_service.turns.records import ExitReason, Retryable, ToolCallRecord, Usage
from proviso_service.turns.sessions import ChatMessage


class DiscardReason(StrEnum):
    GROUNDING = "grounding"
    MODEL_RETRY = "model_retry"
    EMPTY_RETRIEVAL = "empty_retrieval"
    NOT_FINAL = "not_final"


class ContextProblem(StrEnum):
    MATTER_REQUIRED = "matter_required"
    MATTER_NOT_FOUND = "matter_not_found"
    DOCUMENT_PROCESSING = "document_processing"
    DOCUMENT_FAILED = "document_failed"
    DOCUMENT_NOT_FOUND = "document_not_found"


@dataclass(frozen=True, slots=True)
class TurnStart:
    request_context: RequestContext
    session_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Token:
    """Some text of the model call `text_id`."""

    text_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """All tokens of `text_id` are void."""

    text_id: str
    reason: DiscardReason


@dataclass(frozen=True, slots=True)
class ToolStart:
    call_id: str
    tool: str
    server_name: str
    input_json: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """`output` is what the model read, `output_json` the typed result; `error` is empty on success."""

    call_id: str
    tool: str
    output: str
    output_json: str
    truncated: bool
    error: str
    duration_s: float
    from_cache: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """`quote` is the document's text from `start` to `end`; `answer_start` and `answer_end` lie in FinalState.message.
    All offsets are code points, end exclusive."""

    number: int
    answer_start: int
    answer_end: int
    document_id: str
    filename: str
    start: int
    end: int
    page: int
    heading: str
    quote: str

    @property
    def permalink(self) -> str:
        return f"cite:{self.document_id}@{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class ApprovalRequired:
    call_id: str
    tool: str
    server_name: str
    input_json: str
    expire_time: datetime


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of a turn; `cycles` is AgentState.turns. `from_cache`: the answer is a reply from the response cache.
    `retry_after_s` is None when unknown, and so is `duration_s`, the time of the whole turn."""

    exit_reason: ExitReason
    retryable: Retryable
    display_message: bool
    message: str
    messages: tuple[ChatMessage, ...] = ()
    request_context: RequestContext | None = None
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()
    cycles: int = 0
    tool_calls: int = 0
    from_cache: bool = False
    retry_after_s: float | None = None
    context_problem: ContextProblem | None = None
    duration_s: float | None = None
    tool_call_records: tuple[ToolCallRecord, ...] = ()


Event = TurnStart | Token | TextDiscarded | ToolStart | ToolEnd | Citation | ApprovalRequired | FinalState


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event as a reader gets it: it covers `first_sequence` to `sequence` (equal unless tokens were joined);
    `emit_time_s` is Unix time of the last of them."""

    first_sequence: int
    sequence: int
    emit_time_s: float
    event: Event


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Made by a reader after silence; not logged, sequence 0."""

    emit_time_s: float

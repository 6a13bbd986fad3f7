"""The events of a turn. They are logged in order, from TurnStart to exactly one FinalState."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from proviso_service.context.model import RequestContext
from proviso_service.errors import FailureCause
from proviso_service.turns.records import ExitCause, ExitReason, Retryable, ToolCallRecord, Usage
from proviso_service.turns.sessions import ChatMessage, HistoryMessage

MAX_ANSWER_CHARS = 200_000
"""The most code points of an answer. A model's reply is read up to here, so that an answer always fits into one message
of at most 3 MB, whatever its characters."""


CALL_UNFINISHED = "The turn ended before the call did."
"""The error of a tool call that was still running when its turn ended."""


class DiscardReason(StrEnum):
    """Why text that was already sent is void."""

    GROUNDING = "grounding"
    MODEL_RETRY = "model_retry"
    EMPTY_RETRIEVAL = "empty_retrieval"
    NOT_FINAL = "not_final"


class ContextProblem(StrEnum):
    """What is wrong with the matter or document that a message is about."""

    MATTER_REQUIRED = "matter_required"
    MATTER_NOT_FOUND = "matter_not_found"
    DOCUMENT_PROCESSING = "document_processing"
    DOCUMENT_FAILED = "document_failed"
    DOCUMENT_NOT_FOUND = "document_not_found"
    CONTEXT_UNCLEAR = "context_unclear"


class CitationKind(StrEnum):
    """What a citation points to: a document's text, the result of a tool call, a reference, or an asset."""

    DOCUMENT = "document"
    TOOL_CALL = "tool_call"
    REFERENCE = "reference"
    ASSET = "asset"


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The first event: the request context of the answer, and the model that writes it."""

    request_context: RequestContext
    session_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text that the model call `text_id` writes."""

    text_id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDiscarded:
    """All tokens of `text_id` are void: readers remove them."""

    text_id: str
    reason: DiscardReason


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A tool call begins."""

    call_id: str
    tool: str
    server_name: str
    input_json: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A tool call has ended. `output` is the text that the model read, and `output_json` the typed result; `error` is
    empty on success; `cause` is it for programs."""

    call_id: str
    tool: str
    output: str
    output_json: str
    truncated: bool
    error: str
    duration_s: float
    from_cache: bool = False
    cause: FailureCause | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a source that the answer cites. `quote` is the source's text from `start` to `end`; `answer_start` and
    `answer_end` are offsets in FinalState.message. All offsets count code points, with an exclusive end.

    `number` is 0 where the answer names or quotes the source without a number. `call_id` and `server_name` belong to a
    tool call, and `name` is that of its tool or of a reference. `matter_id` is that of a document's matter, or
    DOCUMENTATION."""

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
    kind: CitationKind = CitationKind.DOCUMENT
    call_id: str = ""
    name: str = ""
    server_name: str = ""
    matter_id: str = ""

    @property
    def permalink(self) -> str:
        """The reference to this place that clients turn into a link; empty where it is not in a document."""
        if self.kind is not CitationKind.DOCUMENT:
            return ""
        return f"cite:{self.document_id}@{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class ApprovalRequired:
    """The turn waits for a person's decision on a tool call until `expire_time`."""

    call_id: str
    tool: str
    server_name: str
    input_json: str
    expire_time: datetime


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of a turn. `messages` are those that it adds to the conversation, and `history` those before it; an
    earlier version stored both in `messages`. `cycles` counts the rounds of model and tools. `from_cache` says that the
    answer is a reply from the response cache. `retry_after_s` and `duration_s`, the time of the whole turn, are None
    when unknown.
    `omitted_sentences` counts the sentences that no source holds; `message` has a mark in the place of each, or of
    several in a row. `removed_markup` counts the places of `message` where markup was that could load or run something.
    `message_truncated` says that the end of `message` was left out because of its length."""

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
    exit_cause: ExitCause | None = None
    omitted_sentences: int = 0
    message_truncated: bool = False
    removed_markup: int = 0
    history: tuple[HistoryMessage, ...] = ()


Event = TurnStart | Token | TextDiscarded | ToolStart | ToolEnd | Citation | ApprovalRequired | FinalState


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event as a reader gets it. It covers the sequences from `first_sequence` to `sequence`, which are equal unless
    tokens were joined. `emit_time_s` is the Unix time of the last of them."""

    first_sequence: int
    sequence: int
    emit_time_s: float
    event: Event


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a reader gets after a time of silence. It is not logged and has no sequence."""

    emit_time_s: float

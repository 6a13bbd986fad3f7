"""What is kept of a turn beside its messages: why it ended, what it cost, and which tools it called."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from proviso_service.errors import FailureCause


class ExitReason(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    MAX_TURNS_REACHED = "max_turns_reached"
    MAX_TOOL_CALLS_REACHED = "max_tool_calls_reached"
    MAX_CONTEXT_REACHED = "max_context_reached"
    EMPTY_INPUT = "empty_input"
    RATE_LIMITED = "rate_limited"
    LLM_ERROR = "llm_error"
    LLM_GENERATION_FAILURE = "llm_generation_failure"
    INVALID_TOOL_CALL = "invalid_tool_call"
    CANCELLED = "cancelled"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    INTERNAL_ERROR = "internal_error"


class ExitCause(StrEnum):
    """What exactly ended a turn, where the exit reason leaves that open."""

    BLOCKED = "blocked"
    CUT = "cut"
    RECITATION = "recitation"
    LANGUAGE = "language"
    EMPTY = "empty"
    MALFORMED = "malformed"
    UNGROUNDED = "ungrounded"
    NOTHING_FOUND = "nothing_found"
    STOPPED = "stopped"
    MESSAGE_TOO_LONG = "message_too_long"
    CONVERSATION_FULL = "conversation_full"
    PROVIDER_PAUSED = "provider_paused"
    PROVIDER_FAILED = "provider_failed"
    PROVIDER_REFUSED = "provider_refused"
    OVER_BUDGET = "over_budget"
    ABANDONED = "abandoned"
    STOPPING = "stopping"
    CANCELLED_BY_CALLER = "cancelled_by_caller"


class Retryable(StrEnum):
    """Whether it makes sense to send the same message again."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"
    NOT_APPLICABLE = "not_applicable"


class Decision(StrEnum):
    """A person's decision on a tool call."""

    APPROVE_ONCE = "approve_once"
    APPROVE_FOR_SESSION = "approve_for_session"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class ModelCallUsage:
    """What one call of a model cost; each attempt counts separately. `cached_input_tokens` are those of `input_tokens`
    that the provider had in its own cache. `from_cache` says that the reply came from the response cache and no model
    was called. `failed` is also set when the turn ended during the call."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    duration_s: float = 0.0
    from_cache: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of all model calls of a turn. `model_calls` counts retries too, but no replies from the response
    cache. `calls` are the single calls in their order, including those replies."""

    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    cached_input_tokens: int = 0
    calls: tuple[ModelCallUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A tool call that was made, or that nobody approved. `error` is empty on success; `cause` is it for
    programs. `decision` is None where the
    tool needs no approval, and where nobody decided in time."""

    call_id: str
    tool: str
    server_name: str
    input_json: str
    start_time: datetime
    duration_s: float
    error: str = ""
    from_cache: bool = False
    decision: Decision | None = None
    cause: FailureCause | None = None


class Rating(StrEnum):
    """Whether a person found an answer good."""

    UP = "up"
    DOWN = "down"


class RatingReason(StrEnum):
    """What was wrong with an answer."""

    INCORRECT = "incorrect"
    INCOMPLETE = "incomplete"
    WRONG_SOURCE = "wrong_source"
    UNCLEAR = "unclear"
    OFF_TOPIC = "off_topic"
    TOO_SLOW = "too_slow"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class AnswerRating:
    """What a person said of a turn's answer, and when. `reason` and `text` may be missing."""

    rating: Rating
    rate_time: datetime
    reason: RatingReason | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """What is kept with the message that ended a turn. `duration_s` is None when unknown."""

    exit_reason: ExitReason
    tool_calls: tuple[ToolCallRecord, ...] = ()
    usage: Usage = Usage()
    duration_s: float | None = None
    model: str = ""
    exit_cause: ExitCause | None = None

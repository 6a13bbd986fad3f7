"""What is kept of a turn beside its messages: why it ended, what it cost, and which tools it called."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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


class Retryable(StrEnum):
    """Whether it makes sense to send the same message again."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class ExitSemantics:
    """What an exit reason means for a caller. `message` is a fixed text; it is empty where the agent writes the text or
    where nothing is shown."""

    retryable: Retryable
    display_message: bool
    message: str = ""


NOT_ENOUGH_INFORMATION = "I don't have enough information in the current documentation to answer that."
"""The answer where the documents hold none."""

EXIT_SEMANTICS: dict[ExitReason, ExitSemantics] = {
    ExitReason.COMPLETED: ExitSemantics(Retryable.NOT_APPLICABLE, True),
    ExitReason.MAX_TURNS_REACHED: ExitSemantics(
        Retryable.YES,
        True,
        "I could not finish this within the number of steps I am allowed. "
        "Please rephrase the question or ask for less at once.",
    ),
    ExitReason.MAX_TOOL_CALLS_REACHED: ExitSemantics(Retryable.YES, True),
    ExitReason.MAX_CONTEXT_REACHED: ExitSemantics(
        Retryable.NO,
        True,
        "This conversation has grown longer than I can take into account. "
        "Please start a new conversation so that my answers rest on all of it.",
    ),
    ExitReason.EMPTY_INPUT: ExitSemantics(Retryable.YES, False),
    ExitReason.RATE_LIMITED: ExitSemantics(
        Retryable.YES, True, "The language model is receiving too many requests just now. Please try again shortly."
    ),
    ExitReason.LLM_ERROR: ExitSemantics(
        Retryable.MAYBE, True, "An internal error kept the language model from answering. Please try again."
    ),
    ExitReason.LLM_GENERATION_FAILURE: ExitSemantics(Retryable.YES, True, NOT_ENOUGH_INFORMATION),
    ExitReason.INVALID_TOOL_CALL: ExitSemantics(
        Retryable.YES, True, "I could not use my tools correctly for this question. Please rephrase it and try again."
    ),
    ExitReason.CANCELLED: ExitSemantics(Retryable.NOT_APPLICABLE, False),
    ExitReason.DEADLINE_EXCEEDED: ExitSemantics(
        Retryable.YES, True, "This took longer than the time I am allowed. Please try again or ask for less at once."
    ),
    ExitReason.INTERNAL_ERROR: ExitSemantics(
        Retryable.MAYBE, True, "An internal error kept me from answering. Please try again."
    ),
}
"""The only table of what exit reasons mean. One exception stands elsewhere: a turn that ends because the service stops
is CANCELLED but retryable, which the runner says where it ends the turn."""


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
    """A tool call that was made, or that nobody approved. `error` is empty on success. `decision` is None where the
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


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """What is kept with the message that ended a turn. `duration_s` is None when unknown."""

    exit_reason: ExitReason
    tool_calls: tuple[ToolCallRecord, ...] = ()
    usage: Usage = Usage()
    duration_s: float | None = None
    model: str = ""

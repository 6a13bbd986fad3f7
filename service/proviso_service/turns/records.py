"""What is kept of a turn beside its messages: what it cost, which tools it called."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from proviso_service.turns.exit_reasons import ExitReason


class Decision(StrEnum):
    """A person's decision on a tool call."""

    APPROVE_ONCE = "approve_once"
    APPROVE_FOR_SESSION = "approve_for_session"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class ModelCallUsage:
    """One model call, each try on its own. `cached_input_tokens` are those of `input_tokens` that the provider had in a
    cache of its own. `from_cache`: the reply came from the response cache, no model was called. `failed`: also when the
    turn was cut short meanwhile."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    duration_s: float = 0.0
    from_cache: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens over all model calls of a turn; `model_calls` counts retries too, but no replies from the response cache.
    `calls` are the single ones in their order, those replies among them."""

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
    """What is kept with the message that ended a turn; `duration_s` is None when unknown."""

    exit_reason: ExitReason
    tool_calls: tuple[ToolCallRecord, ...] = ()
    usage: Usage = Usage()
    duration_s: float | None = None
    model: str = ""

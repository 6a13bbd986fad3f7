"""A turn's life: one user message leads to exactly one final state.

`Turns` starts turns, lets readers follow them, and ends them. A turn runs a `TurnProgram`, which is the agent; its
events go to a log that any number of readers follow. Other folders import from here, not from the modules.
"""

from proviso_service.turns.config import TurnConfig
from proviso_service.turns.events import (
    ApprovalRequired,
    Citation,
    ContextProblem,
    DiscardReason,
    Event,
    FinalState,
    Heartbeat,
    LoggedEvent,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from proviso_service.turns.item_status import (
    ANSWERS_LOOKED_AT,
    RemovalSuggestion,
    mark_missing_in_message,
    mark_missing_in_session,
    mark_missing_in_state,
    removal_suggestions,
)
from proviso_service.turns.log import TurnLogFull, TurnLogSealed
from proviso_service.turns.program import (
    AskedCall,
    Emit,
    HistoryMessage,
    OnDisconnect,
    RunningTurn,
    TurnApprovals,
    TurnClock,
    TurnExecution,
    TurnOptions,
    TurnOutcome,
    TurnProgram,
    TurnRequest,
)
from proviso_service.turns.records import (
    EXIT_SEMANTICS,
    NOT_ENOUGH_INFORMATION,
    Decision,
    ExitReason,
    ModelCallUsage,
    Retryable,
    ToolCallRecord,
    TurnSummary,
    Usage,
)
from proviso_service.turns.service import Turns
from proviso_service.turns.sessions import ChatMessage, MessageRole, Session, SessionStore, with_late_items
from proviso_service.turns.store import TurnBegun, TurnRecord, TurnState, TurnStore
from proviso_service.turns.suspension import SuspendedTurn, SuspensionUnreadable, suspended_from_json, suspended_to_json
from proviso_service.turns.tracing import TracedProgram

__all__ = [
    "ANSWERS_LOOKED_AT",
    "EXIT_SEMANTICS",
    "NOT_ENOUGH_INFORMATION",
    "ApprovalRequired",
    "AskedCall",
    "ChatMessage",
    "Citation",
    "ContextProblem",
    "Decision",
    "DiscardReason",
    "Emit",
    "Event",
    "ExitReason",
    "FinalState",
    "Heartbeat",
    "HistoryMessage",
    "LoggedEvent",
    "MessageRole",
    "ModelCallUsage",
    "OnDisconnect",
    "RemovalSuggestion",
    "Retryable",
    "RunningTurn",
    "Session",
    "SessionStore",
    "SuspendedTurn",
    "SuspensionUnreadable",
    "TextDiscarded",
    "Token",
    "ToolCallRecord",
    "ToolEnd",
    "ToolStart",
    "TracedProgram",
    "TurnApprovals",
    "TurnBegun",
    "TurnClock",
    "TurnConfig",
    "TurnExecution",
    "TurnLogFull",
    "TurnLogSealed",
    "TurnOptions",
    "TurnOutcome",
    "TurnProgram",
    "TurnRecord",
    "TurnRequest",
    "TurnStart",
    "TurnState",
    "TurnStore",
    "TurnSummary",
    "Turns",
    "Usage",
    "mark_missing_in_message",
    "mark_missing_in_session",
    "mark_missing_in_state",
    "removal_suggestions",
    "suspended_from_json",
    "suspended_to_json",
    "with_late_items",
]

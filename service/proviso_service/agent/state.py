"""The graph's state and the working memory of one turn."""

import operator
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage

from proviso_service.agent.answer_text import AnswerText
from proviso_service.agent.approvals import ToolApprovals, in_words
from proviso_service.agent.caching.turn_cache import NoCache, TurnCache
from proviso_service.agent.model_gate import ModelGate
from proviso_service.agent.sources import Sources
from proviso_service.agent.usage import UsageMeter
from proviso_service.context.model import ItemRef
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolScope
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import Citation, ContextProblem, Decision, Emit, ExitReason, ToolCallRecord, TurnClock


class AgentState(TypedDict):
    """What the behavioural contract names; everything else is derived from the messages.

    `messages` is the whole payload, system prompt first; `turns` counts model calls, `tool_calls` tool executions.
    `exit_reason` is None while the agent works; MAX_TOOL_CALLS_REACHED already stands there while the last answer is
    being written."""

    messages: Annotated[list[AnyMessage], operator.add]
    turns: int
    tool_calls: int
    exit_reason: ExitReason | None


@dataclass(frozen=True, slots=True)
class Limits:
    max_turns: int
    max_tool_calls: int
    max_context_chars: int
    tool_result_chars: int
    output_json_bytes: int


@dataclass(slots=True)
class TurnMemory:
    """What a turn has come to so far; the final state is made of it, also when the turn is cut short. `other_results`
    are those of tools that give no passages, such as lists. `context_tokens` are those of the turn's first payload,
    None while unknown. `from_cache`: the answer is a reply from the response cache. `model` is the chat model, as
    settings and requests name it, empty until one is chosen. `tool_call_records` hold the calls that run, too.
    `decisions` are those on the calls that persons were asked about, by call id, None where nobody decided in time;
    `approval_notes` say them in words."""

    model: str = ""
    meter: UsageMeter = field(default_factory=UsageMeter)
    cycles: int = 0
    tool_calls: int = 0
    tool_call_records: list[ToolCallRecord] = field(default_factory=list)
    call_ids: set[str] = field(default_factory=set)
    citations: tuple[Citation, ...] = ()
    answer: str = ""
    from_cache: bool = False
    context_tokens: int | None = None
    context_problem: ContextProblem | None = None
    retry_after_s: float | None = None
    retrievals: int = 0
    empty_retrievals: int = 0
    other_results: int = 0
    decisions: dict[str, Decision | None] = field(default_factory=dict)
    approval_notes: list[str] = field(default_factory=list)

    def note_decision(self, call_id: str, tool: ItemRef, decision: Decision | None) -> None:
        """The first one on a call counts."""
        if call_id not in self.decisions:
            self.decisions[call_id] = decision
            self.approval_notes.append(in_words(tool, decision))


@dataclass(frozen=True, slots=True)
class TurnScope:
    """LangGraph's runtime context: what the nodes of one turn work with. `model_name` is what settings and requests
    call the model; `suspend` gives what a turn goes on from that waits for a person, as JSON."""

    emit: Emit
    model: BaseChatModel
    model_name: str
    gate: ModelGate | None
    cache: TurnCache | NoCache
    tools: ToolRegistry
    tool_scope: ToolScope
    limits: Limits
    sources: Sources
    text: AnswerText
    memory: TurnMemory
    clock: TurnClock
    approvals: ToolApprovals
    suspend: Callable[[AgentState], Awaitable[str]]
    spans: Spans = NO_SPANS

    @property
    def time_left_s(self) -> float:
        return self.clock.left_s

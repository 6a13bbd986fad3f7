"""The graph's state and the working memory of one turn, with the text as readers hold it and the usage of the model."""

import operator
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langchain_core.messages.ai import UsageMetadata

from proviso_service.agent.approvals import ToolApprovals, in_words
from proviso_service.agent.caching import NoCache, TurnCache
from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.agent.grounding import Sources
from proviso_service.agent.request_context import SelectedItems
from proviso_service.context.model import ApprovedTool, ItemRef, MatterContext, RequestContext
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolScope
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import (
    Citation,
    ContextProblem,
    Decision,
    DiscardReason,
    Emit,
    ExitReason,
    HistoryMessage,
    ModelCallUsage,
    TextDiscarded,
    Token,
    ToolCallRecord,
    TurnClock,
    Usage,
)


class UsageMeter:
    """Right at any moment, also when the turn is cut short. The calls of a turn follow each other; their number is
    bounded by the limits of turns and retries."""

    def __init__(self, calls: Iterable[ModelCallUsage] = ()) -> None:
        """`calls` were made before."""
        self._calls = list(calls)

    @contextmanager
    def call(self, model: str) -> Iterator[None]:
        """Around a call of `model`; one that is left by an exception has failed, and so has one that still runs."""
        started = time.monotonic()
        self._calls.append(ModelCallUsage(model, failed=True))
        try:
            yield
            self._change(failed=False)
        finally:
            self._change(duration_s=time.monotonic() - started)

    def count(self, usage: UsageMetadata) -> None:
        """Adds what a part of the running call's reply says."""
        call = self._calls[-1]
        self._change(
            input_tokens=call.input_tokens + usage["input_tokens"],
            output_tokens=call.output_tokens + usage["output_tokens"],
            cached_input_tokens=call.cached_input_tokens + usage.get("input_token_details", {}).get("cache_read", 0),
        )

    def count_cached(self, model: str) -> None:
        """A reply came from the response cache: nothing was called, nothing was paid."""
        self._calls.append(ModelCallUsage(model, from_cache=True))

    @property
    def last_input_tokens(self) -> int | None:
        """Of the last call; None where the provider did not tell."""
        return self._calls[-1].input_tokens or None

    @property
    def usage(self) -> Usage:
        calls = self._calls
        return Usage(
            input_tokens=sum(call.input_tokens for call in calls),
            output_tokens=sum(call.output_tokens for call in calls),
            model_calls=sum(not call.from_cache for call in calls),
            cached_input_tokens=sum(call.cached_input_tokens for call in calls),
            calls=tuple(calls),
        )

    def _change(self, **values: Any) -> None:
        self._calls[-1] = replace(self._calls[-1], **values)


class AnswerText:
    """Sends text as tokens, and voids it. One text stands at most: the last one begun, unless it is void."""

    def __init__(self, emit: Emit, texts: int = 0) -> None:
        """`texts` were begun before, by an earlier life of the service; none stands."""
        self._emit = emit
        self._texts = texts
        self._pieces: list[str] = []

    def __str__(self) -> str:
        """The text that stands, empty when none does."""
        return "".join(self._pieces)

    @property
    def texts(self) -> int:
        """How many have been begun."""
        return self._texts

    def begin(self) -> None:
        """Begins the text of a model call; none stands."""
        self._texts += 1

    def write(self, piece: str) -> None:
        self._emit(Token(self._text_id, piece))
        self._pieces.append(piece)

    def discard(self, reason: DiscardReason) -> None:
        """Voids the text that stands, if any."""
        if self._pieces:
            self._pieces.clear()
            self._emit(TextDiscarded(self._text_id, reason))

    def settle(self, message: str) -> None:
        """The turn's message is known: text that differs from it is void."""
        if str(self) != message:
            self.discard(DiscardReason.NOT_FINAL)

    @property
    def _text_id(self) -> str:
        return f"text-{self._texts}"


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
class AgentLimits:
    max_turns: int
    max_tool_calls: int
    max_context_chars: int
    tool_result_chars: int
    output_json_bytes: int


@dataclass(slots=True)
class TurnMemory:
    """All that a turn knows so far. Its outcome can be made of it at any moment, also when the turn is cut short.

    What the turn was asked, known from its preparation on: `text` is the message without its marker, `history` the
    earlier messages, `matter_context` the matter and document that it is about, checked, and `is_new_matter_context`
    says whether the session is to remember that; `items` are those of the request, `request_context` what is told of
    them, and `model` is the chat model, as settings and requests name it. `approved_tools` need no further approval.

    What the turn has come to: `other_results` counts results of tools that give no passages, such as lists.
    `context_tokens` are the tokens of the first payload, None while unknown. `from_cache` says that the answer is a
    reply from the response cache. `tool_call_records` hold the calls that still run, too. `decisions` are those on the
    calls that persons were asked about, by call id, None where nobody decided in time; `approval_notes` say them in
    words."""

    text: str = ""
    history: tuple[HistoryMessage, ...] = ()
    matter_context: MatterContext | None = None
    is_new_matter_context: bool = False
    items: SelectedItems = field(default_factory=SelectedItems)
    request_context: RequestContext | None = None
    model: str = ""
    approved_tools: tuple[ApprovedTool, ...] = ()
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
    """LangGraph's runtime context: what the nodes of one turn work with. `suspend` gives, as JSON, what a turn that
    waits for a person goes on from."""

    emit: Emit
    model: NamedChatModel
    cache: TurnCache | NoCache
    tools: ToolRegistry
    tool_scope: ToolScope
    limits: AgentLimits
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

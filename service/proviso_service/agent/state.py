"""The state of the graph and the memory of one turn; also the turn's text as its readers have it, and the usage of the
chat model."""

import operator
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Protocol, TypedDict

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata

from proviso_service.agent.approvals import ToolApprovals, in_words
from proviso_service.agent.caching import NoCache, TurnCache
from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.agent.grounding import AnswerCheck, DocumentOnView, Sources
from proviso_service.agent.markup import SafeMarkup, addresses_in
from proviso_service.agent.request_context import SelectedItems
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import ApprovedTool, ItemRef, MatterContext, RequestContext
from proviso_service.language import language_of
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.tools.base import ToolScope
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import (
    Citation,
    ContextProblem,
    Decision,
    DiscardReason,
    Emit,
    ExitCause,
    ExitReason,
    HistoryMessage,
    MessageRole,
    ModelCallUsage,
    TextDiscarded,
    Token,
    ToolCallRecord,
    TurnClock,
    Usage,
)


class UsageMeter:
    """Measures what the model calls of a turn use. The figures are correct at any moment, also when the turn is cut
    short. The calls of a turn follow each other, and their number is bounded by the limits of turns and retries."""

    def __init__(self, calls: Iterable[ModelCallUsage] = ()) -> None:
        """`calls` were made before, in a turn that was suspended."""
        self._calls = list(calls)

    @contextmanager
    def call(self, model: str) -> Iterator[None]:
        """The block in which `model` is called. A call that is left by an exception has failed, and one that still runs
        counts as failed."""
        started = time.monotonic()
        self._calls.append(ModelCallUsage(model, failed=True))
        try:
            yield
            self._change(failed=False)
        finally:
            self._change(duration_s=time.monotonic() - started)

    def count(self, usage: UsageMetadata) -> None:
        """Adds the usage that a part of the running call's reply reports."""
        call = self._calls[-1]
        self._change(
            input_tokens=call.input_tokens + usage["input_tokens"],
            output_tokens=call.output_tokens + usage["output_tokens"],
            cached_input_tokens=call.cached_input_tokens + usage.get("input_token_details", {}).get("cache_read", 0),
        )

    def count_cached(self, model: str) -> None:
        """Notes that a reply came from the response cache: no model was called and nothing was paid."""
        self._calls.append(ModelCallUsage(model, from_cache=True))

    @property
    def last_input_tokens(self) -> int | None:
        """The input tokens of the last call; None where the provider did not tell."""
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
    """The text of a turn as its readers have it: each model call begins a text and sends it as tokens. At most one text
    is valid: the last one that was begun, unless it was discarded."""

    def __init__(self, emit: Emit, texts: int = 0) -> None:
        """`texts` is the number of texts that were begun before the turn was suspended; none of them is valid any
        more."""
        self._emit = emit
        self._texts = texts
        self._pieces: list[str] = []

    def __str__(self) -> str:
        """The valid text, empty where there is none."""
        return "".join(self._pieces)

    @property
    def texts(self) -> int:
        """The number of texts that have been begun."""
        return self._texts

    def begin(self) -> None:
        """Begins the text of a model call. The text before it must have been discarded."""
        self._texts += 1

    def write(self, piece: str) -> None:
        self._emit(Token(self._text_id, piece))
        self._pieces.append(piece)

    def discard(self, reason: DiscardReason) -> None:
        """Discards the valid text, if there is one: readers are told that its tokens are void."""
        if self._pieces:
            self._pieces.clear()
            self._emit(TextDiscarded(self._text_id, reason))

    def settle(self, message: str) -> None:
        """Discards the valid text where it differs from `message`, the final message of the turn."""
        if str(self) != message:
            self.discard(DiscardReason.NOT_FINAL)

    def void(self, most: int) -> None:
        """Tells readers that the texts of a model call that an earlier process was at are void. At most so many were
        begun, one in each attempt; no later text has an id of theirs."""
        for _ in range(most):
            self._texts += 1
            self._emit(TextDiscarded(self._text_id, DiscardReason.MODEL_RETRY))

    @property
    def _text_id(self) -> str:
        return f"text-{self._texts}"


class AgentState(TypedDict):
    """The state of the graph. Everything else that the nodes need to decide on is derived from the messages.

    `messages` is all that the model is sent, the system message first; `turns` counts model calls, `tool_calls`
    executions of tools. `exit_reason` is None while the agent works, except that it already is MAX_TOOL_CALLS_REACHED
    while the last answer is written."""

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
    """What a turn knows so far. The outcome of the turn is made of it, also when the turn is cut short.

    Known from the preparation on: `text` is the message without its marker; `history` are the earlier messages;
    `matter_context` is the matter and document that the turn is about, checked, and `is_new_matter_context` says
    whether the session should remember it; `items` are those of the request, and `request_context` is what is told and
    stored of them; `model` is the name of the chat model; `approved_tools` need no further approval.

    Counted and collected while the turn runs: `omitted_sentences` counts those that were left out of the answer,
    and `removed_markup` the places where markup was.
    `context_tokens` is the number of tokens of the first payload, None while unknown. `from_cache` says that the
    answer came from the response cache, and `reply_was_cut` that the last reply was longer than an answer may be.
    `tool_call_records` include the calls that still run. `decisions` are those on the calls that persons were asked
    about, by call id, None where nobody decided in time; `approval_notes` are the same in words. `exit_cause` is
    set by what ends the turn; `message_limit` is the number of characters that a message which is too long may have."""

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
    reply_was_cut: bool = False
    context_tokens: int | None = None
    context_problem: ContextProblem | None = None
    retry_after_s: float | None = None
    message_limit: int = 0
    retrievals: int = 0
    empty_retrievals: int = 0
    omitted_sentences: int = 0
    removed_markup: int = 0
    exit_cause: ExitCause | None = None
    decisions: dict[str, Decision | None] = field(default_factory=dict)
    approval_notes: list[str] = field(default_factory=list)

    @property
    def language(self) -> str:
        """The language that the service's own sentences are in: that of the message, else that of the person's last
        message before it, else English."""
        earlier = (m.content for m in reversed(self.history) if m.role is MessageRole.USER)
        return language_of(self.text, parse_marker(next(earlier, "")).text)

    def snapshot(self) -> "TurnMemory":
        """A copy that tools which still run do not change."""
        return replace(
            self,
            tool_call_records=list(self.tool_call_records),
            call_ids=set(self.call_ids),
            decisions=dict(self.decisions),
            approval_notes=list(self.approval_notes),
        )

    def note_decision(self, call_id: str, tool: ItemRef, decision: Decision | None) -> None:
        """Notes a person's decision on a call. Where there are several, the first one counts."""
        if call_id not in self.decisions:
            self.decisions[call_id] = decision
            self.approval_notes.append(in_words(tool, decision))


NONE_CALLED: Mapping[str, bool] = MappingProxyType({})


class Checkpoint(Protocol):
    def __call__(
        self, state: AgentState, calling: Mapping[str, bool] = NONE_CALLED, answers: Sequence[ToolMessage] = ()
    ) -> Awaitable[None]:
        """Stores what another process goes on from: the state, the calls that are about to be made, and the answers to
        the calls of the last message that are known already."""
        ...


@dataclass(frozen=True, slots=True)
class CallsUnderWay:
    """The calls of a message that an earlier process was at when it ended. `calling` says of each that had begun, by
    its id, whether it does no harm to make it again; `answers` are those to the calls that needed none, or had ended,
    by call id."""

    calling: Mapping[str, bool] = field(default_factory=dict)
    answers: Mapping[str, ToolMessage] = field(default_factory=dict)


NONE_UNDER_WAY = CallsUnderWay()


@dataclass(frozen=True, slots=True)
class TurnScope:
    """The runtime context of LangGraph: what the nodes of one turn work with. `suspend` returns the JSON from which a
    turn that waits for a person can be resumed; `checkpoint` stores it for a turn that goes on. `check_matter` raises
    MatterNotFound where the caller may not read the turn's matter any more. `asked_by` names who asks: the user, else
    the session, else the turn. `is_raw` says that text goes out before it has been checked. `under_way` are the calls
    that an earlier process was at."""

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
    checkpoint: Checkpoint
    check_matter: Callable[[], Awaitable[None]]
    under_way: CallsUnderWay = NONE_UNDER_WAY
    asked_by: str = ""
    spans: Spans = NO_SPANS
    is_raw: bool = False

    @property
    def time_left_s(self) -> float:
        return self.clock.left_s

    def answer_check(self, *, is_last_try: bool) -> AnswerCheck:
        """The check of a reply of the model."""
        memory, context = self.memory, self.memory.matter_context
        on_view = None
        if context is not None and context.document_id:
            on_view = DocumentOnView(context.document_id, context.document_name)
        return AnswerCheck(
            self.sources,
            memory.text,
            memory.language,
            on_view,
            is_last_try=is_last_try,
            is_raw=self.is_raw,
            markup=SafeMarkup(self._given_addresses),
        )

    def _given_addresses(self) -> frozenset[str]:
        """The web addresses of what the model was given: the conversation, the items, and the sources of the turn."""
        memory = self.memory
        said = (memory.text, *(message.content for message in memory.history))
        return addresses_in((*said, *memory.items.contents.values(), *(source.text for source in self.sources.all())))

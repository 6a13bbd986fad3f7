"""The node `llm`: one call of the chat model, and what its reply means for the turn. Tokens go to the turn's log as
they come.

The model's own method `_astream` is called instead of `astream`: LangChain's callbacks would cost more time than all
the rest of the way from model to wire, and the service makes the spans of model calls itself."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, nullcontext
from itertools import count
from typing import Any, cast

import structlog
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    BaseMessageChunk,
)
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableBinding
from langgraph.runtime import Runtime

from proviso_service.agent.caching import CachedReply
from proviso_service.agent.chat_models import NO_TOOL_CALLS
from proviso_service.agent.failures import MAY_PASS, UnusableReply, classify, ending_of, may_retry, retry_after_s
from proviso_service.agent.grounding import AnswerCheck, CheckedAnswer
from proviso_service.agent.outcome import ANSWERED
from proviso_service.agent.payload import characters_of, grounding_reminder, has_grounding_reminder
from proviso_service.agent.state import AgentState, TurnMemory, TurnScope
from proviso_service.agent.tool_calls import ValidCall, read_calls
from proviso_service.retrying import RetryPolicy
from proviso_service.telemetry.spans import ModelCallSpan
from proviso_service.turns import (
    MAX_ANSWER_CHARS,
    REST_LEFT_OUT,
    DiscardReason,
    ExitCause,
    ExitReason,
    in_language,
)

_MAX_CALL_ID_CHARS = 128
"""The longest id of a tool call that the contract allows."""


class ModelCall:
    """One call of the chat model with the tools of the turn. An instance is used once. `checked` is the check of the
    reply, once it is there."""

    def __init__(
        self, scope: TurnScope, retries: RetryPolicy, new_check: Callable[[], AnswerCheck], *, may_call_tools: bool
    ) -> None:
        """`new_check` makes the check of an attempt's reply. The tools are declared in any case: without them some
        models still write calls, or are refused for the calls that the conversation holds. `may_call_tools` says
        whether the model may call them."""
        self._scope = scope
        self._retries = retries
        self._new_check = new_check
        self.checked = CheckedAnswer()
        self._kwargs = _tool_kwargs(scope.model.model, scope.tools.schemas(), may_call_tools=may_call_tools)

    async def run(self, messages: Sequence[AnyMessage]) -> AIMessage:
        """Makes the call, with retries, and returns the reply. Its text is written to the text of the turn. Raises what
        the last attempt raised."""
        text, name, spans = self._scope.text, self._scope.model.name, self._scope.spans
        meter = self._scope.memory.meter
        with spans.chat(name, lambda: meter.usage) as span:
            async for attempt in self._retries.attempts(
                may_retry,
                retry_after_s,
                time_left_s=self._scope.time_left_s,
                before_retry=lambda _: text.discard(DiscardReason.MODEL_RETRY),
            ):
                with attempt, spans.attempt(attempt.retry_state.attempt_number, name):
                    return await self._stream(list(messages), span)
        raise AssertionError("the retry policy ends in a reply or an exception")

    async def _stream(self, messages: list[BaseMessage], span: ModelCallSpan) -> AIMessage:
        gate, meter = self._scope.model.gate, self._scope.memory.meter
        async with gate.call(self._scope.asked_by) if gate else nullcontext():
            # A call that the gate rejects is not measured.
            with meter.call(self._scope.model.name):
                return await self._streamed(messages, span)

    async def _streamed(self, messages: list[BaseMessage], span: ModelCallSpan) -> AIMessage:
        memory, text = self._scope.memory, self._scope.text
        rest: BaseMessageChunk | None = None
        text.begin()
        check = self._new_check()
        written: list[str] = []
        room = MAX_ANSWER_CHARS
        stream = cast(
            AsyncGenerator[ChatGenerationChunk, None], self._scope.model.model._astream(messages, **self._kwargs)
        )
        async with aclosing(stream):
            async for generation in stream:
                chunk = generation.message
                if piece := text_of(chunk.content):
                    memory.reply_was_cut |= len(piece) > room
                    piece = piece[:room]
                    written.append(piece)
                    room -= len(piece)
                    if released := check.feed(piece):
                        text.write(released)
                if info := generation.generation_info:
                    span.finished(info.get("finish_reason"))
                if not isinstance(chunk, AIMessageChunk):
                    continue
                if usage := chunk.usage_metadata:
                    # Counted at once, so that it is known even if the call fails later.
                    memory.meter.count(usage)
                if chunk.tool_call_chunks:
                    # Text is left out of the merged chunk: adding up text chunks costs the square of its length.
                    bare = chunk.model_copy(update={"content": "", "usage_metadata": None})
                    rest = bare if rest is None else rest + bare
                if memory.reply_was_cut:
                    break
        if released := check.finish():
            text.write(released)
        self.checked = check.answer
        return _reply("".join(written), rest, memory)


def text_of(content: str | list[Any]) -> str:
    """The text of a message's content, without the model's thoughts and without images."""
    if isinstance(content, str):
        return content
    return "".join(
        part if isinstance(part, str) else str(part.get("text", ""))
        for part in content
        if isinstance(part, str) or part.get("type") == "text"
    )


def _reply(text: str, rest: BaseMessageChunk | None, memory: TurnMemory) -> AIMessage:
    if not isinstance(rest, AIMessageChunk):
        return AIMessage(text)
    for call in rest.tool_calls:
        call["id"] = _own_id(call["id"], memory.call_ids)
    for broken in rest.invalid_tool_calls:
        broken["id"] = _own_id(broken["id"], memory.call_ids)
    # Some providers want more back with their calls, such as Gemini its signatures of thoughts.
    extras = {name: value for name, value in rest.additional_kwargs.items() if name != "function_call"}
    return AIMessage(
        text, tool_calls=rest.tool_calls, invalid_tool_calls=rest.invalid_tool_calls, additional_kwargs=extras
    )


def _own_id(call_id: str | None, used: set[str]) -> str:
    """The id of a tool call: the one that the provider gave where it is short and not used in the turn yet, else a new
    one. Some providers give no ids, or count from one again in each reply."""
    own = (
        call_id
        if call_id and len(call_id) <= _MAX_CALL_ID_CHARS and call_id not in used
        else next(n for n in map("call-{}".format, count(1)) if n not in used)
    )
    used.add(own)
    return own


def _tool_kwargs(model: BaseChatModel, tools: Sequence[dict[str, Any]], *, may_call_tools: bool) -> dict[str, Any]:
    """The tools as keyword arguments of this provider's `_astream`."""
    if not tools:
        return {}
    bound = model.bind_tools(tools) if may_call_tools else model.bind_tools(tools, tool_choice=NO_TOOL_CALLS)
    if not isinstance(bound, RunnableBinding):
        raise TypeError(f"{type(model).__name__}.bind_tools does not return a binding")
    return dict(bound.kwargs)


_log = structlog.get_logger(__name__)

Update = dict[str, Any]


class LlmNode:
    """The node `llm`. It calls the model with the messages of the state, and then ends the turn, hands over to the node
    `tools`, or has the model called once more."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._retries = retries

    async def __call__(self, state: AgentState, runtime: Runtime[TurnScope]) -> Update:
        scope = runtime.context
        answer_step = state["exit_reason"] is ExitReason.MAX_TOOL_CALLS_REACHED
        if not answer_step and state["turns"] >= scope.limits.max_turns:
            return {"exit_reason": ExitReason.MAX_TURNS_REACHED}
        messages = _sendable(state["messages"])
        if characters_of(messages) > scope.limits.max_context_chars:
            return _ended(scope, ExitReason.MAX_CONTEXT_REACHED, ExitCause.CONVERSATION_FULL)

        turns = state["turns"] if answer_step else state["turns"] + 1
        scope.memory.cycles = turns
        scope.memory.reply_was_cut = False
        async with scope.cache.reply(messages, with_tools=not answer_step) as lookup:
            try:
                given, checked = await self._reply(state, scope, lookup.found, messages)
            except Exception as error:
                scope.text.discard(DiscardReason.NOT_FINAL)
                return {"turns": turns} | _failed(state, scope, error)
            if state["turns"] == 0:
                scope.memory.context_tokens = given.input_tokens
            reply = given.message
            update = _judge(state, scope, reply, checked, from_cache=lookup.found is not None)
            if lookup.wanted and _is_worth_keeping(scope, reply, update):
                lookup.keep(given.copy())
        return {"messages": [reply], "turns": turns} | update

    async def _reply(
        self, state: AgentState, scope: TurnScope, kept: CachedReply | None, messages: Sequence[AnyMessage]
    ) -> tuple[CachedReply, CheckedAnswer]:
        """The model's reply with its check, or the one that the cache has kept."""

        def new_check() -> AnswerCheck:
            return scope.answer_check(is_last_try=has_grounding_reminder(state["messages"]))

        if cached := _cached_reply(scope, kept):
            check = new_check()
            check.feed(text_of(cached.message.content))
            check.finish()
            return cached, check.answer
        answer_step = state["exit_reason"] is ExitReason.MAX_TOOL_CALLS_REACHED
        call = ModelCall(scope, self._retries, new_check, may_call_tools=not answer_step)
        reply = await call.run(messages)
        if answer_step:
            text = AIMessage(reply.content)
            if is_empty_reply(text) and not is_empty_reply(reply):
                raise UnusableReply("the model calls tools where it may not", ExitCause.MALFORMED)
            reply = text
        return CachedReply(reply, scope.memory.meter.last_input_tokens), call.checked


def _cached_reply(scope: TurnScope, kept: CachedReply | None) -> CachedReply | None:
    """The cached reply, if there is one, as a reply of this turn. Its tool calls keep their ids: they are unused in
    this turn, because all earlier messages are the same as when the ids were given."""
    if kept is None:
        return None
    with scope.spans.kept_reply(scope.model.name):
        reply = kept.copy()
    scope.memory.meter.count_cached(scope.model.name)
    scope.memory.call_ids.update(str(call["id"]) for call in reply.message.tool_calls)
    return reply


def _is_worth_keeping(scope: TurnScope, reply: AIMessage, update: Update) -> bool:
    """Whether the reply was accepted, as the answer or as tool calls that are all valid."""
    if reply.tool_calls or reply.invalid_tool_calls:
        return all(isinstance(call, ValidCall) for call in read_calls(reply, scope.tools))
    return update.get("exit_reason") in ANSWERED and not scope.memory.reply_was_cut


def _judge(
    state: AgentState, scope: TurnScope, reply: AIMessage, checked: CheckedAnswer, *, from_cache: bool
) -> Update:
    """The update of the state that the reply leads to. Where the update has the key `messages`, it takes the place of
    the reply alone."""
    if reply.tool_calls or reply.invalid_tool_calls:
        scope.text.discard(DiscardReason.NOT_FINAL)
        return {}
    if not text_of(reply.content).strip():
        scope.text.discard(DiscardReason.NOT_FINAL)
        return _without_text(state, scope, ExitCause.EMPTY)
    found_nothing = _found_nothing(scope) and not checked.tells_what_is_there
    if found_nothing and (checked.failed or checked.omitted or not checked.asks_back):
        if checked.failed or checked.omitted or not checked.refuses:
            scope.text.discard(DiscardReason.EMPTY_RETRIEVAL)
        else:
            scope.memory.answer = checked.text
        return _ended(scope, ExitReason.LLM_GENERATION_FAILURE, ExitCause.NOTHING_FOUND)
    if checked.failed or (checked.omitted and not (checked.says_something or checked.refuses)):
        return _refuse(state, scope, reply, is_last_try=not checked.failed)
    scope.memory.answer = checked.text
    if scope.memory.reply_was_cut:
        note = in_language(REST_LEFT_OUT, scope.memory.language)
        scope.text.write(note)
        scope.memory.answer += note
    scope.memory.from_cache = from_cache
    scope.memory.omitted_sentences = checked.omitted
    scope.memory.removed_markup = checked.removed_markup
    scope.memory.citations = tuple(checked.citations)
    for citation in checked.citations:
        scope.emit(citation)
    return {"exit_reason": state["exit_reason"] or ExitReason.COMPLETED}


def _refuse(state: AgentState, scope: TurnScope, reply: AIMessage, *, is_last_try: bool) -> Update:
    """Asks once more. A reply for which there is no room any more is left out of what the model is sent."""
    scope.text.discard(DiscardReason.GROUNDING)
    if is_last_try:
        return _ended(scope, ExitReason.LLM_GENERATION_FAILURE, ExitCause.UNGROUNDED)
    reminder = grounding_reminder()
    has_room = characters_of([*state["messages"], reply, reminder]) <= scope.limits.max_context_chars
    return {"messages": [reply, reminder] if has_room else [reminder]}


def _found_nothing(scope: TurnScope) -> bool:
    """Whether every retrieval of the turn came back empty and no other tool gave a passage."""
    memory = scope.memory
    return memory.retrievals > 0 and memory.retrievals == memory.empty_retrievals and not len(scope.sources)


def _sendable(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The messages without empty replies, which providers reject."""
    # Asked of hundreds of messages: nearly all have text, and are known by it alone.
    return [m for m in messages if m.type != "ai" or _is_text(m.content) or not is_empty_reply(m)]


def _is_text(content: str | list[Any]) -> bool:
    return type(content) is str and content != "" and not content.isspace()


def is_empty_reply(message: AnyMessage) -> bool:
    """Whether the model returned neither text nor a tool call."""
    return (
        isinstance(message, AIMessage)
        and not message.tool_calls
        and not message.invalid_tool_calls
        and not text_of(message.content).strip()
    )


def _failed(state: AgentState, scope: TurnScope, error: Exception) -> Update:
    """The update after a call of the model that came to nothing."""
    _log.warning("model_call_failed", kind=classify(error).value, exc_info=error)
    if isinstance(error, UnusableReply) and error.cause is ExitCause.MALFORMED:
        return {"messages": [AIMessage("")]} | _without_text(state, scope, error.cause)
    reason, cause = ending_of(error)
    if cause is not ExitCause.OVER_BUDGET:
        scope.memory.retry_after_s = retry_after_s(error) or _pause_s(scope, error)
    return _ended(scope, reason, cause)


def _pause_s(scope: TurnScope, error: Exception) -> float | None:
    """The seconds for which the model is not called, where failures such as this one have led to a pause."""
    gate = scope.model.gate
    return gate.wait_s(scope.asked_by) if gate is not None and classify(error) in MAY_PASS else None


def _without_text(state: AgentState, scope: TurnScope, cause: ExitCause) -> Update:
    """The update after a reply that is empty or not readable: the model is called once more, then the turn ends. A
    model that only wants to call tools where none may be called any more ends it at the limit of tool calls."""
    if not any(is_empty_reply(m) for m in state["messages"]):
        return {}
    if state["exit_reason"] is ExitReason.MAX_TOOL_CALLS_REACHED and cause is ExitCause.MALFORMED:
        return {"exit_reason": ExitReason.MAX_TOOL_CALLS_REACHED}
    return _ended(scope, ExitReason.LLM_GENERATION_FAILURE, cause)


def _ended(scope: TurnScope, reason: ExitReason, cause: ExitCause | None) -> Update:
    scope.memory.exit_cause = cause
    return {"exit_reason": reason}

"""One call of the chat model: tokens go to the turn's log as they come, failures are retried.

The model's own `_astream` is called, not `astream`: LangChain's callback machinery costs more than all the rest of
the way from model to wire, and the spans of model calls are made by the service itself."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, nullcontext
from itertools import count
from typing import Any, cast

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

from proviso_service.agent.failures import may_retry, retry_after_s
from proviso_service.agent.state import TurnMemory, TurnScope
from proviso_service.retrying import RetryPolicy
from proviso_service.telemetry.spans import ModelCallSpan
from proviso_service.turns import DiscardReason

_MAX_CALL_ID_CHARS = 128
"""What the contract allows."""


class ModelCall:
    """A call with the tools of a turn, or without any. Use once."""

    def __init__(self, scope: TurnScope, retries: RetryPolicy, tools: Sequence[dict[str, Any]]) -> None:
        self._scope = scope
        self._retries = retries
        self._kwargs = _tool_kwargs(scope.model.model, tools)

    async def run(self, messages: Sequence[AnyMessage]) -> AIMessage:
        """The model's reply, whose text stands in the scope's text. Raises what the last attempt raised."""
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
        async with gate.call() if gate else nullcontext():
            # A call that the gate did not let through was none.
            with meter.call(self._scope.model.name):
                return await self._streamed(messages, span)

    async def _streamed(self, messages: list[BaseMessage], span: ModelCallSpan) -> AIMessage:
        memory, text = self._scope.memory, self._scope.text
        rest: BaseMessageChunk | None = None
        text.begin()
        stream = cast(
            AsyncGenerator[ChatGenerationChunk, None], self._scope.model.model._astream(messages, **self._kwargs)
        )
        async with aclosing(stream):
            async for generation in stream:
                chunk = generation.message
                if piece := text_of(chunk.content):
                    text.write(piece)
                if info := generation.generation_info:
                    span.finished(info.get("finish_reason"))
                if not isinstance(chunk, AIMessageChunk):
                    continue
                if usage := chunk.usage_metadata:
                    # At once, so that it counts whatever becomes of the call.
                    memory.meter.count(usage)
                if chunk.tool_call_chunks:
                    # Only what is not text is merged: adding up text chunks would cost the square of the length.
                    bare = chunk.model_copy(update={"content": "", "usage_metadata": None})
                    rest = bare if rest is None else rest + bare
        return _reply(str(text), rest, memory)


def text_of(content: str | list[Any]) -> str:
    """The text parts of a message's content; thoughts and images are left out."""
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
    # What a provider wants back with its calls, such as Gemini's signatures of thoughts; the calls themselves are here.
    extras = {name: value for name, value in rest.additional_kwargs.items() if name != "function_call"}
    return AIMessage(
        text, tool_calls=rest.tool_calls, invalid_tool_calls=rest.invalid_tool_calls, additional_kwargs=extras
    )


def _own_id(call_id: str | None, used: set[str]) -> str:
    """The call's id where it is its own in the turn, and short, else a new one: providers leave ids out or count
    anew."""
    own = (
        call_id
        if call_id and len(call_id) <= _MAX_CALL_ID_CHARS and call_id not in used
        else next(n for n in map("call-{}".format, count(1)) if n not in used)
    )
    used.add(own)
    return own


def _tool_kwargs(model: BaseChatModel, tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tools in the form that this provider's `_astream` takes them."""
    if not tools:
        return {}
    bound = model.bind_tools(tools)
    if not isinstance(bound, RunnableBinding):
        raise TypeError(f"{type(model).__name__}.bind_tools does not return a binding")
    return dict(bound.kwargs)

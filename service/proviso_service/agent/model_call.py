"""One call of the chat model: tokens go to the turn's log as they come, failures are retried.

The model's own `_astream` is called, not `astream`: LangChain's callback machinery costs more than all the rest of the
way from model to wire, and the spans of model calls are made by the service itself."""

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, BaseMessageChunk
from langchain_core.runnables import RunnableBinding

from proviso_service.agent.retries import RetryPolicy
from proviso_service.agent.state import TurnMemory, TurnScope
from proviso_service.turns.events import DiscardReason, TextDiscarded, Token, Usage


class ModelCall:
    """A call with the tools of a turn, or without any. Use once."""

    def __init__(self, scope: TurnScope, retries: RetryPolicy, tools: Sequence[dict[str, Any]]) -> None:
        self._scope = scope
        self._retries = retries
        self._kwargs = _tool_kwargs(scope.model, tools)
        self._text_id = ""
        self._pieces: list[str] = []

    @property
    def text_id(self) -> str:
        """Of the text that the last attempt wrote."""
        return self._text_id

    async def run(self, messages: Sequence[AnyMessage]) -> AIMessage:
        """The model's reply, its text already sent as tokens. Raises what the last attempt raised."""
        async for attempt in self._retries.attempts(lambda: self.discard_text(DiscardReason.MODEL_RETRY)):
            with attempt:
                return await self._stream(list(messages))
        raise AssertionError("the retry policy ends in a reply or an exception")

    async def _stream(self, messages: list[BaseMessage]) -> AIMessage:
        memory = self._scope.memory
        self._pieces = []
        memory.texts += 1
        self._text_id = f"text-{memory.texts}"
        rest: BaseMessageChunk | None = None
        memory.usage = _add(memory.usage, Usage(model_calls=1))
        async for generation in self._scope.model._astream(messages, **self._kwargs):
            chunk = generation.message
            if text := text_of(chunk.content):
                self._pieces.append(text)
                self._scope.emit(Token(self._text_id, text))
            if isinstance(chunk, AIMessageChunk) and (chunk.tool_call_chunks or chunk.usage_metadata):
                # Only what is not text is merged: adding up text chunks would cost the square of the answer's length.
                bare = chunk.model_copy(update={"content": ""})
                rest = bare if rest is None else rest + bare
        return _reply("".join(self._pieces), rest, memory)

    def discard_text(self, reason: DiscardReason) -> None:
        """Voids what the last attempt wrote, if anything."""
        if self._pieces:
            self._scope.emit(TextDiscarded(self._text_id, reason))


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
    if usage := rest.usage_metadata:
        memory.usage = _add(memory.usage, Usage(usage["input_tokens"], usage["output_tokens"]))
    return AIMessage(text, tool_calls=rest.tool_calls, invalid_tool_calls=rest.invalid_tool_calls)


def _add(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.model_calls + other.model_calls,
    )


def _tool_kwargs(model: BaseChatModel, tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tools in the form that this provider's `_astream` takes them."""
    if not tools:
        return {}
    bound = model.bind_tools(tools)
    if not isinstance(bound, RunnableBinding):
        raise TypeError(f"{type(model).__name__}.bind_tools does not return a binding")
    return dict(bound.kwargs)

"""A chat model that plays a script: what a provider could send, down to streams that break in the middle."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr


@dataclass(frozen=True)
class Call:
    """A tool call; `args` is the JSON text as the model wrote it."""

    name: str
    args: str = "{}"
    call_id: str = ""


@dataclass(frozen=True)
class Step:
    """One reply: tokens, then tool calls; `error` is raised after the tokens; `hold` is awaited before anything,
    `hold_after` after the tokens."""

    tokens: Sequence[str] = ()
    calls: Sequence[Call] = ()
    error: Exception | None = None
    hold: asyncio.Event | None = field(default=None, compare=False)
    hold_after: asyncio.Event | None = field(default=None, compare=False)


class ScriptedChatModel(BaseChatModel):
    """Plays its steps in order and keeps what it was sent; `tools_seen` has the tools of each call, and `tool_choices`
    what it was told about calling them."""

    script: list[Step]
    _held: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)
    _payloads: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[list[str]] = PrivateAttr(default_factory=list)
    _choices: list[str | None] = PrivateAttr(default_factory=list)

    @property
    def held(self) -> asyncio.Event:
        """Set when a step waits for its `hold_after`."""
        return self._held

    @property
    def payloads(self) -> list[list[BaseMessage]]:
        return self._payloads

    @property
    def tools_seen(self) -> list[list[str]]:
        return self._tools

    @property
    def tool_choices(self) -> list[str | None]:
        return self._choices

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self._payloads.append(list(messages))
        self._tools.append([tool["function"]["name"] for tool in kwargs.get("tools", ())])
        self._choices.append(kwargs.get("tool_choice"))
        number = len(self._payloads)
        if number > len(self.script):
            raise AssertionError(f"call {number} is not in the script")
        step = self.script[number - 1]
        if step.hold is not None:
            await step.hold.wait()
        for token in step.tokens:
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))
        if step.hold_after is not None:
            self._held.set()
            await step.hold_after.wait()
        if step.error is not None:
            raise step.error
        calls = [
            tool_call_chunk(name=c.name, args=c.args, id=c.call_id or f"call-{number}-{i}", index=i)
            for i, c in enumerate(step.calls)
        ]
        usage = {"input_tokens": 10, "output_tokens": len(step.tokens), "total_tokens": 10 + len(step.tokens)}
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls, usage_metadata=usage))


def text(*tokens: str) -> Step:
    """A reply of text alone."""
    return Step(tokens)


def calls(*wanted: Call) -> Step:
    """A reply of tool calls alone."""
    return Step(calls=wanted)

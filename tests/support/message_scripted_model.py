"""A chat model that plays the script that it finds in the message: `{"steps": [{"tokens": ["Good ", "day."]}]}`.

So clients in other languages, which talk to a service in another process, say in each test what the model does."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ConfigDict

_BEGINNING = '{"steps":'
_LOOK_S = 0.02


class ToolCall(BaseModel):
    """A call of a tool."""

    model_config = ConfigDict(extra="forbid")

    name: str
    args: dict[str, Any] = {}


class Gate(BaseModel):
    """The token at `before` waits until the file exists."""

    model_config = ConfigDict(extra="forbid")

    before: int
    path: Path

    async def opened(self) -> None:
        while not self.path.exists():  # noqa: ASYNC110 - another process makes it, and nothing else is to be done
            await asyncio.sleep(_LOOK_S)


class Step(BaseModel):
    """One reply: tokens, `repeat` times over and `pause_ms` after each, then tool calls; with `hold` it never ends."""

    model_config = ConfigDict(extra="forbid")

    tokens: list[str] = []
    repeat: int = 1
    pause_ms: float = 0
    calls: list[ToolCall] = []
    gate: Gate | None = None
    hold: bool = False


class Script(BaseModel):
    """The replies to a message, in order."""

    model_config = ConfigDict(extra="forbid")

    steps: list[Step]


@dataclass(frozen=True)
class Position:
    """The reply that is due: step `number` of a script."""

    script: Script
    number: int

    @property
    def step(self) -> Step:
        return self.script.steps[self.number]


class MessageScriptedModel(BaseChatModel):
    """Plays the newest script of the conversation; the step is the number of replies that have followed it."""

    @property
    def _llm_type(self) -> str:
        return "message-scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools))

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise AssertionError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        due = position(messages)
        for number, token in enumerate(due.step.tokens * due.step.repeat):
            if due.step.gate is not None and number == due.step.gate.before:
                await due.step.gate.opened()
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))
            if due.step.pause_ms:
                await asyncio.sleep(due.step.pause_ms / 1000)
        if due.step.hold:
            await asyncio.Event().wait()
        wanted = [
            tool_call_chunk(name=call.name, args=json.dumps(call.args), id=f"call-{due.number}-{index}", index=index)
            for index, call in enumerate(due.step.calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=wanted))


def position(messages: list[BaseMessage]) -> Position:
    """Raises ValueError where no message holds a script."""
    for at in reversed(range(len(messages))):
        content = messages[at].text
        if messages[at].type == "human" and _BEGINNING in content:
            script, _ = json.JSONDecoder().raw_decode(content[content.index(_BEGINNING) :])
            replies = sum(message.type == "ai" for message in messages[at + 1 :])
            return Position(Script.model_validate(script), replies)
    raise ValueError("no message holds a script")

"""A stand-in for OpenAI's API on loopback: /v1/chat/completions as a stream, with every request checked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Json, ValidationError, model_validator

from tests.support.gemini_replies import Ending, Refused, Reply, Streamed
from tests.support.scripted_server import ScriptedServer, serving

MODEL = "gpt-stand-in"
KEY = "sk-openai-test-key-4c7a"
DONE = b"data: [DONE]\n\n"


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Function(Wire):
    name: str
    arguments: Json[dict[str, Any]]


class ToolCall(Wire):
    id: Annotated[str, Field(min_length=1)]
    type: Literal["function"]
    function: Function


class ImageUrl(Wire):
    url: Annotated[str, Field(pattern=r"^data:image/(png|jpeg|gif|webp);base64,")]


class Part(Wire):
    type: Literal["text", "image_url"]
    text: str | None = None
    image_url: ImageUrl | None = None


class Message(Wire):
    role: Literal["system", "user", "assistant", "tool"]
    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")] | None = None
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] = []
    tool_call_id: str | None = None


class Declared(Wire):
    name: str
    description: str
    parameters: dict[str, Any]


class Tool(Wire):
    type: Literal["function"]
    function: Declared


class StreamOptions(Wire):
    include_usage: Literal[True]


class ChatRequest(Wire):
    model: Literal["gpt-stand-in"]
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: Literal[True]
    stream_options: StreamOptions
    tools: list[Tool] = []
    tool_choice: Literal["auto", "none"] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None

    @model_validator(mode="after")
    def _answered(self) -> "ChatRequest":
        """Every tool call is answered by the messages after it, in any order."""
        waiting: set[str | None] = set()
        for message in self.messages:
            if message.role == "tool":
                waiting.remove(message.tool_call_id)
            elif waiting:
                raise ValueError("an assistant message with tool_calls must be followed by tool messages")
            waiting |= {call.id for call in message.tool_calls}
        return self


class OpenAIServer(ScriptedServer[ChatRequest]):
    """`key` is the one that requests must carry."""

    key = KEY

    def check(self, request_line: str, headers: dict[str, str], content: bytes) -> Reply:
        if request_line != "POST /v1/chat/completions HTTP/1.1":
            return self._refuse(404, request_line)
        if headers.get("authorization") != f"Bearer {self.key}":
            return self._refuse(401, "Incorrect API key provided.")
        try:
            self.asked.append(ChatRequest.model_validate_json(content))
        except (ValidationError, KeyError) as error:
            return self._refuse(400, str(error))
        return self.next_reply() or self._refuse(400, "The script holds no further reply.")

    def _refuse(self, status: int, message: str) -> Refused:
        self.refused.append(message)
        return refuses(status, message)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chat.completion.chunk; without `delta` one that has no choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return head | {"choices": choices, "usage": None} | more


def usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    """The last chunk, in which the usage comes."""
    counted: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    counted |= {"total_tokens": prompt + completion, "prompt_tokens_details": {"cached_tokens": cached}}
    return chunk(usage=counted)


def says(*pieces: str, finish: str = "stop", cached: int = 0) -> Streamed:
    return Streamed(
        [
            chunk({"role": "assistant", "content": ""}),
            *(chunk({"content": piece}) for piece in pieces),
            chunk({}, finish),
            usage(100, len(pieces), cached),
            DONE,
        ]
    )


def calls(*wanted: tuple[str, dict[str, Any]]) -> Streamed:
    """Parallel tool calls, whose arguments come in pieces."""
    chunks: list[dict[str, Any] | bytes] = [chunk({"role": "assistant", "content": None})]
    for index, (name, args) in enumerate(wanted):
        head = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        chunks.append(chunk({"tool_calls": [head]}))
        text = json.dumps(args)
        pieces = ({"index": index, "function": {"arguments": piece}} for piece in (text[:3], text[3:]))
        chunks.extend(chunk({"tool_calls": [piece]}) for piece in pieces)
    return Streamed([*chunks, chunk({}, "tool_calls"), usage(100, 7), DONE])


def cut(*pieces: str, ending: Ending = Ending.CUT) -> Streamed:
    """Text that never comes to its end."""
    return Streamed([chunk({"content": piece}) for piece in pieces], ending)


def breaks_with(kind: str, *pieces: str, message: str = "No.") -> Streamed:
    """A stream that says in its middle that it failed."""
    error = {"error": {"message": message, "type": kind, "param": None, "code": None}}
    return Streamed([*(chunk({"content": piece}) for piece in pieces), error])


def refuses(status: int, message: str = "No.", kind: str = "invalid_request_error", **headers: str) -> Refused:
    """`retry_after="1"` is the header Retry-After."""
    error = {"message": message, "type": kind, "param": None, "code": None}
    return Refused(status, {"error": error}, {key.replace("_", "-"): value for key, value in headers.items()})


@asynccontextmanager
async def openai_server() -> AsyncIterator[OpenAIServer]:
    """Fails at the end where a request was refused, unless the test has taken that off `refused`."""
    async with serving(OpenAIServer()) as server:
        yield server

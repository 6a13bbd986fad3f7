"""Tests of Anthropic's chat models against a stand-in that speaks Anthropic's protocol."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proviso_service.agent.failures import FailureKind, classify, retry_after_s
from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.backends.llm.replies import GuardedChatModel
from proviso_service.settings import Settings
from tests.support.gemini_replies import Ending, HangsUp, Refused, Reply, Streamed
from tests.support.scripted_server import ScriptedServer, serving

KEY = "sk-ant-test-key"
MODEL = "claude-stand-in"
ECHO = "Quixote"
TOOL = {
    "type": "function",
    "function": {"name": "lookup", "description": "Looks up.", "parameters": {"type": "object"}},
}


class AnthropicServer(ScriptedServer[dict[str, Any]]):
    """A stand-in that answers /v1/messages with a stream."""

    def check(self, request_line: str, headers: dict[str, str], content: bytes) -> Reply:
        assert request_line == "POST /v1/messages HTTP/1.1"
        assert headers["authorization"] == f"Bearer {KEY}"
        self.asked.append(json.loads(content))
        assert self.asked[-1]["stream"] is True
        return self.next_reply() or HangsUp()


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()


START = event(
    "message_start",
    message={
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 0},
    },
)


def block(begin: dict[str, Any], *deltas: dict[str, Any]) -> list[bytes]:
    return [
        event("content_block_start", index=0, content_block=begin),
        *(event("content_block_delta", index=0, delta=delta) for delta in deltas),
        event("content_block_stop", index=0),
    ]


def text(*pieces: str) -> list[bytes]:
    return block({"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def end(reason: str) -> list[bytes]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [event("message_delta", delta=delta, usage={"input_tokens": 100, "output_tokens": 5}), event("message_stop")]


def failed(kind: str) -> bytes:
    return event("error", error={"type": kind, "message": ECHO})


def refuses(status: int, kind: str, **headers: str) -> Refused:
    error = {"type": "error", "error": {"type": kind, "message": ECHO}}
    return Refused(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with serving(AnthropicServer()) as anthropic:
        yield anthropic


@asynccontextmanager
async def model_of(server: AnthropicServer, silence_s: float = 30.0) -> AsyncIterator[GuardedChatModel]:
    chosen = {"llm": f"anthropic:{MODEL}", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.base_url}
    hosted = build_chat_model(Settings.model_validate({**chosen, "chat_model": {"silence_s": silence_s}}))
    assert isinstance(hosted.model, GuardedChatModel)
    assert hosted.close is not None
    yield hosted.model
    await hosted.close()


@pytest.fixture
async def model(server: AnthropicServer) -> AsyncIterator[GuardedChatModel]:
    async with model_of(server) as chat_model:
        yield chat_model


async def test_text_comes_with_its_usage(server: AnthropicServer, model: GuardedChatModel) -> None:
    server.then(Streamed([START, *text("Hello ", "there."), *end("end_turn")]))
    reply = await model.ainvoke("Hello")
    assert reply.text == "Hello there."
    assert reply.usage_metadata is not None
    assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (100, 5)


async def test_tool_calls_come_whole(server: AnthropicServer, model: GuardedChatModel) -> None:
    begin = {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {}}
    pieces = ({"type": "input_json_delta", "partial_json": piece} for piece in ('{"que', 'ry": "law"}'))
    server.then(Streamed([START, *block(begin, *pieces), *end("tool_use")]))
    reply = await model.bind_tools([TOOL]).ainvoke("Hello")
    assert [(call["name"], call["args"]) for call in reply.tool_calls] == [("lookup", {"query": "law"})]
    assert [tool["name"] for tool in server.asked[0]["tools"]] == ["lookup"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refuses(429, "rate_limit_error"), FailureKind.RATE_LIMITED),
        (refuses(529, "overloaded_error"), FailureKind.TRANSIENT),
        (refuses(500, "api_error"), FailureKind.TRANSIENT),
        (refuses(400, "invalid_request_error"), FailureKind.FINAL),
        (refuses(401, "authentication_error"), FailureKind.FINAL),
        (HangsUp(), FailureKind.TRANSIENT),
        (Streamed([START, failed("overloaded_error")]), FailureKind.TRANSIENT),
        (Streamed([START, failed("rate_limit_error")]), FailureKind.RATE_LIMITED),
        (Streamed([START, failed("invalid_request_error")]), FailureKind.FINAL),
        (Streamed([START, *text("Hel")], Ending.CUT), FailureKind.TRANSIENT),
        (Streamed([START, *text("Hel")]), FailureKind.TRANSIENT),
        (Streamed([START, *text("Hel"), *end("max_tokens")]), FailureKind.FINAL),
        (Streamed([START, *text("Hel"), *end("refusal")]), FailureKind.FINAL),
    ],
)
async def test_a_failure_is_told_by_its_kind_and_not_in_the_providers_words(
    server: AnthropicServer, model: GuardedChatModel, reply: Reply, kind: FailureKind
) -> None:
    server.then(reply)
    with pytest.raises(Exception, match="anthropic") as caught:
        await model.ainvoke("Hello")
    assert classify(caught.value) is kind
    assert ECHO not in str(caught.value)
    assert server.attempts == 1


async def test_a_reply_that_stalls_fails_for_now(server: AnthropicServer) -> None:
    server.then(Streamed([START, *text("Hel")], Ending.STALLS))
    async with model_of(server, silence_s=0.2) as model:
        with pytest.raises(TimeoutError, match="anthropic took too long"):
            await model.ainvoke("Hello")


async def test_the_wait_that_is_asked_for_is_known(server: AnthropicServer, model: GuardedChatModel) -> None:
    server.then(refuses(429, "rate_limit_error", retry_after="7"))
    with pytest.raises(Exception, match="429") as caught:
        await model.ainvoke("Hello")
    assert retry_after_s(caught.value) == 7

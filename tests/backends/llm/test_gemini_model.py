"""Tests of GeminiChatModel alone, against a stand-in that speaks Gemini's protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage

from proviso_service.agent.failures import UnusableReply
from proviso_service.agent.llm_node import text_of
from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.backends.llm.gemini import GeminiChatModel
from proviso_service.backends.llm.replies import ProviderRefusal
from proviso_service.settings import Settings
from tests.support.gemini_replies import (
    MODEL,
    Ending,
    HangsUp,
    Reply,
    Streamed,
    blocked,
    breaks_with,
    calls,
    chunk,
    cut,
    refuses,
    says,
    usage,
)
from tests.support.gemini_server import KEY, GeminiServer, gemini_server


@pytest.fixture
async def gemini() -> AsyncIterator[GeminiServer]:
    async with gemini_server() as server:
        yield server


@asynccontextmanager
async def model_of(gemini: GeminiServer, silence_s: float = 30.0) -> AsyncIterator[GeminiChatModel]:
    chosen = {"llm": f"google_genai:{MODEL}", "GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
    hosted = build_chat_model(Settings.model_validate({**chosen, "chat_model": {"silence_s": silence_s}}))
    assert isinstance(hosted.model, GeminiChatModel)
    assert hosted.close is not None
    yield hosted.model
    await hosted.close()


@pytest.fixture
async def model(gemini: GeminiServer) -> AsyncIterator[GeminiChatModel]:
    async with model_of(gemini) as chat_model:
        yield chat_model


async def chunks_of(model: GeminiChatModel) -> list[AIMessageChunk]:
    generations = [generation async for generation in model._astream([HumanMessage("Hello")])]
    return [generation.message for generation in generations if isinstance(generation.message, AIMessageChunk)]


async def test_a_call_without_a_stream_gives_the_same_reply(gemini: GeminiServer, model: GeminiChatModel) -> None:
    gemini.then(says("Hello ", "there."), calls(("lookup", {"query": "law"})))
    assert (await model.ainvoke("Hello")).text == "Hello there."
    assert [call["args"] for call in (await model.ainvoke("Hello")).tool_calls] == [{"query": "law"}]


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (blocked(), UnusableReply),
        (says("Sure, ", finish="SAFETY"), UnusableReply),
        (says("A b", finish="MAX_TOKENS"), UnusableReply),
        (refuses(429, "RESOURCE_EXHAUSTED"), ProviderRefusal),
        (refuses(500, "INTERNAL"), ProviderRefusal),
        (breaks_with(503, "UNAVAILABLE", "Hel"), ProviderRefusal),
        (cut("Hel"), ConnectionError),
        (cut("Hel", ending=Ending.WHOLE), ConnectionError),
        (HangsUp(), ConnectionError),
    ],
)
async def test_a_call_without_a_stream_fails_as_a_stream_does(
    gemini: GeminiServer, model: GeminiChatModel, reply: Reply, failure: type[Exception]
) -> None:
    gemini.then(reply)
    with pytest.raises(failure):
        await model.ainvoke("Hello")
    assert gemini.attempts == 1


async def test_a_reply_that_stalls_fails(gemini: GeminiServer) -> None:
    gemini.then(cut("Hel", ending=Ending.STALLS))
    async with model_of(gemini, silence_s=0.2) as model:
        with pytest.raises(TimeoutError):
            await model.ainvoke("Hello")


def test_a_call_that_would_block_the_event_loop_is_refused() -> None:
    chosen = {"llm": f"google_genai:{MODEL}", "GOOGLE_API_KEY": KEY}
    with pytest.raises(NotImplementedError):
        build_chat_model(Settings.model_validate(chosen)).model.invoke("Hello")


async def test_tokens_of_the_cache_come_with_the_usage(gemini: GeminiServer, model: GeminiChatModel) -> None:
    gemini.then(Streamed([chunk({"text": "Hello."}, finish="STOP", usage=usage(100, 2, cached=64))]))
    counted = [message.usage_metadata for message in await chunks_of(model) if message.usage_metadata]
    assert sum(one["input_tokens"] for one in counted) == 100
    assert sum(one.get("input_token_details", {}).get("cache_read") or 0 for one in counted) == 64


async def test_thoughts_are_no_text(gemini: GeminiServer, model: GeminiChatModel) -> None:
    thought = chunk({"text": "Let me see.", "thought": True}, usage=usage(100, 0, thoughts=3))
    both = chunk(
        {"text": "And now?", "thought": True}, {"text": "Hello."}, finish="STOP", usage=usage(100, 2, thoughts=5)
    )
    gemini.then(Streamed([thought, both]))
    assert "".join(text_of(message.content) for message in await chunks_of(model)) == "Hello."

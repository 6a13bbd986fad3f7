"""Requests to OpenAI and Anthropic carry the context of the trace, each its own."""

import contextlib

import pytest
from opentelemetry import trace
from opentelemetry.baggage import set_baggage
from opentelemetry.context import attach, detach

from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.settings import Settings
from tests.support.gemini_replies import HangsUp, Reply
from tests.support.scripted_server import ScriptedServer, serving

SPAN = trace.NonRecordingSpan(
    trace.SpanContext(0x4BF92F3577B34DA6A3CE929D0E0E4736, 0xB7AD6B7169203331, False, trace.TraceFlags(1))
)


class Silent(ScriptedServer[None]):
    def check(self, request_line: str, headers: dict[str, str], content: bytes) -> Reply:
        return HangsUp()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_each_request_carries_the_current_span_and_no_baggage(provider: str) -> None:
    async with serving(Silent()) as server:
        values = {
            "llm": f"{provider}:some-model",
            "OPENAI_API_KEY": "sk-one",
            "OPENAI_BASE_URL": f"{server.base_url}/v1",
            "ANTHROPIC_API_KEY": "sk-two",
            "ANTHROPIC_BASE_URL": server.base_url,
        }
        hosted = build_chat_model(Settings.model_validate(values))
        token = attach(set_baggage("matter", "Quixote"))
        with trace.use_span(SPAN), contextlib.suppress(ConnectionError):
            await hosted.model.ainvoke("Hello")
        with contextlib.suppress(ConnectionError):
            await hosted.model.ainvoke("Hello")
        detach(token)
        assert hosted.close is not None
        await hosted.close()
    traced, untraced = server.headers
    assert traced["traceparent"] == "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01"
    assert "traceparent" not in untraced
    assert "baggage" not in traced

"""The settings of chat models, as they stand in the requests that providers get."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.messages import HumanMessage

from proviso_service.backends.llm.factory import ChatModelUnavailable, build_chat_model
from proviso_service.settings import Settings
from tests.support.gemini_replies import MODEL as GEMINI
from tests.support.gemini_replies import says as gemini_says
from tests.support.gemini_server import KEY as GEMINI_KEY
from tests.support.gemini_server import GeminiServer, gemini_server
from tests.support.openai_server import KEY as OPENAI_KEY
from tests.support.openai_server import MODEL as GPT
from tests.support.openai_server import OpenAIServer, openai_server
from tests.support.openai_server import says as openai_says


@pytest_asyncio.fixture
async def gemini() -> AsyncIterator[GeminiServer]:
    async with gemini_server() as server:
        yield server


@pytest_asyncio.fixture
async def openai() -> AsyncIterator[OpenAIServer]:
    async with openai_server() as server:
        yield server


async def ask(**settings: Any) -> None:
    hosted = build_chat_model(Settings.model_validate(settings))
    await hosted.model.ainvoke([HumanMessage("Hello")])
    assert hosted.close is not None
    await hosted.close()


@pytest.mark.parametrize(
    ("chosen", "sent"),
    [
        ({}, {"temperature": 0.0}),
        ({"temperature": "0.3"}, {"temperature": 0.3}),
        ({"temperature": ""}, {}),
        ({"max_output_tokens": "900"}, {"temperature": 0.0, "max_output_tokens": 900}),
        ({"thinking": "low"}, {"temperature": 0.0, "thinking_config": {"thinking_level": "LOW"}}),
        ({"thinking": "512"}, {"temperature": 0.0, "thinking_config": {"thinking_budget": 512}}),
        ({"thinking": "0"}, {"temperature": 0.0, "thinking_config": {"thinking_budget": 0}}),
    ],
)
async def test_gemini_is_sent_what_the_settings_say(
    gemini: GeminiServer, chosen: dict[str, str], sent: dict[str, Any]
) -> None:
    gemini.then(gemini_says("Hello."))
    named = {"llm": f"google_genai:{GEMINI}", "GOOGLE_API_KEY": GEMINI_KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
    await ask(**named, chat_model=chosen)
    (request,) = gemini.asked
    assert request.generation_config is not None
    config = request.generation_config.model_dump(exclude_none=True)
    config.pop("candidate_count", None)
    assert config == sent
    assert request.safety_settings == []


@pytest.mark.parametrize(("safety", "threshold"), [("off", "OFF"), ("only_high", "BLOCK_ONLY_HIGH")])
async def test_gemini_is_told_what_to_block(gemini: GeminiServer, safety: str, threshold: str) -> None:
    gemini.then(gemini_says("Hello."))
    named = {"llm": f"google_genai:{GEMINI}", "GOOGLE_API_KEY": GEMINI_KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
    await ask(**named, chat_model={"safety": safety})
    (request,) = gemini.asked
    assert {setting.threshold for setting in request.safety_settings} == {threshold}
    assert len({setting.category for setting in request.safety_settings}) == 4


@pytest.mark.parametrize(
    ("chosen", "sent"),
    [
        ({}, {"temperature": 0.0}),
        ({"temperature": "", "max_output_tokens": "900"}, {"max_completion_tokens": 900}),
        ({"temperature": "1.5", "thinking": "high"}, {"temperature": 1.5, "reasoning_effort": "high"}),
    ],
)
async def test_openai_is_sent_what_the_settings_say(
    openai: OpenAIServer, chosen: dict[str, str], sent: dict[str, Any]
) -> None:
    openai.then(openai_says("Hello."))
    named = {"llm": f"openai:{GPT}", "OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": f"{openai.base_url}/v1"}
    await ask(**named, chat_model=chosen)
    (request,) = openai.asked
    names = {"temperature", "max_completion_tokens", "reasoning_effort"}
    assert request.model_dump(include=names, exclude_none=True) == sent


@pytest.mark.parametrize(
    ("llm", "chosen", "told"),
    [
        ("openai:gpt-4.1", {"thinking": "512"}, "openai:gpt-4.1 takes a level"),
        ("openai:gpt-4.1", {"safety": "off"}, "google_genai models only"),
        ("anthropic:claude-sonnet-4-5", {"safety": "off"}, "google_genai models only"),
        ("mistralai:mistral-large", {"thinking": "low"}, "takes no such setting"),
    ],
)
def test_a_setting_that_a_provider_does_not_have_is_named(llm: str, chosen: dict[str, str], told: str) -> None:
    keys = {"OPENAI_API_KEY": "a-key", "ANTHROPIC_API_KEY": "a-key"}
    with pytest.raises(ChatModelUnavailable, match=told):
        build_chat_model(Settings.model_validate({"llm": llm, **keys, "chat_model": chosen}))


@pytest.mark.parametrize(
    ("model", "chosen", "sent"),
    [
        ("claude-sonnet-4-5", {}, {"temperature": 0.0}),
        ("claude-sonnet-5-5", {}, {}),
        ("claude-sonnet-4-5", {"thinking": "2048"}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ("claude-sonnet-4-5", {"max_output_tokens": "700"}, {"temperature": 0.0, "max_tokens": 700}),
    ],
)
async def test_claude_is_built_as_the_settings_say(model: str, chosen: dict[str, str], sent: dict[str, Any]) -> None:
    settings = {"llm": f"anthropic:{model}", "ANTHROPIC_API_KEY": "a-key", "chat_model": chosen}
    hosted = build_chat_model(Settings.model_validate(settings))
    inner = hosted.model.inner  # type: ignore[attr-defined]
    payload = inner._get_request_payload([HumanMessage("Hello")])
    payload |= payload.get("extra_body", {})
    names = ("temperature", "thinking", "max_tokens") if "max_tokens" in sent else ("temperature", "thinking")
    assert {name: payload[name] for name in names if payload.get(name) is not None} == sent
    assert hosted.close is not None
    await hosted.close()


@pytest.mark.parametrize("model", ["o3-mini", "gpt-5", "gpt-5.1-mini"])
async def test_a_model_that_refuses_a_temperature_is_sent_none(model: str) -> None:
    hosted = build_chat_model(Settings.model_validate({"llm": f"openai:{model}", "OPENAI_API_KEY": "a-key"}))
    assert hosted.model.inner.temperature is None  # type: ignore[attr-defined]
    assert hosted.close is not None
    await hosted.close()

"""Tests of which chat model the settings build, and of the errors for settings that name none."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import SecretStr

from proviso_service.backends.llm.factory import ChatModelUnavailable, build_chat_model
from proviso_service.backends.llm.gemini import GeminiChatModel
from proviso_service.settings import Settings

KEYS = {"GOOGLE_API_KEY": "confidential", "OPENAI_API_KEY": "confidential", "ANTHROPIC_API_KEY": "confidential"}


def settings(llm: str, **more: Any) -> Settings:
    return Settings.model_validate({"llm": llm, **KEYS, **more})


@pytest.mark.parametrize("llm", ["google_genai:gemini-2.5-flash", "openai:gpt-5", "anthropic:claude-sonnet-4-5"])
async def test_a_model_is_built_without_a_call_and_does_not_show_its_key(llm: str) -> None:
    hosted = build_chat_model(settings(llm))
    assert "confidential" not in repr(hosted)
    assert hosted.close is not None
    await hosted.close()


@pytest.mark.parametrize(
    ("llm", "more", "told"),
    [
        ("google_genai:gemini-2.5-flash", {"GOOGLE_API_KEY": ""}, "set GOOGLE_API_KEY"),
        ("openai:gpt-5", {"OPENAI_API_KEY": None}, "set OPENAI_API_KEY"),
        ("openai:gpt-5", {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "https://api.openai.com/v1/"}, "set OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", {"ANTHROPIC_API_KEY": None}, "set ANTHROPIC_API_KEY"),
        ("google_genai:gemini-2.5-flash", {"GOOGLE_API_KEY": " \n"}, "set GOOGLE_API_KEY"),
        ("google_genai:gemini-2.5-flash", {"GOOGLE_API_KEY": "a\nkey"}, "GOOGLE_API_KEY is not a key"),
        ("openai:gpt-5", {"OPENAI_API_KEY": "a kéy"}, "OPENAI_API_KEY is not a key"),
        ("openai:llama", {"OPENAI_API_KEY": "a key", "OPENAI_BASE_URL": "http://vllm"}, "OPENAI_API_KEY is not a key"),
        ("anthropic:claude-sonnet-4-5", {"ANTHROPIC_API_KEY": "schlüssel"}, "ANTHROPIC_API_KEY is not a key"),
        ("google_genai:", {}, "`local` or `<provider>:<model>`"),
        ("gpt-5", {}, "`local` or `<provider>:<model>`"),
        (":gpt-5", {}, "`local` or `<provider>:<model>`"),
        ("nobody:model", {}, "check the provider's name"),
        ("mistralai:mistral-large", {}, "pip install langchain-mistralai"),
    ],
)
def test_what_cannot_be_used_says_what_to_set(llm: str, more: dict[str, Any], told: str) -> None:
    with pytest.raises(ChatModelUnavailable) as caught:
        build_chat_model(settings(llm, **more))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_white_space_around_a_key_is_no_part_of_it() -> None:
    hosted = build_chat_model(settings("google_genai:gemini-2.5-flash", GOOGLE_API_KEY=" confidential\n"))
    assert isinstance(hosted.model, GeminiChatModel)
    assert isinstance(hosted.model.google_api_key, SecretStr)
    assert hosted.model.google_api_key.get_secret_value() == "confidential"


@pytest.mark.parametrize(
    ("llm", "missing", "extra"),
    [
        ("openai:gpt-5", "langchain_openai", "openai"),
        ("anthropic:claude-sonnet-4-5", "langchain_anthropic", "anthropic"),
        ("mistralai:mistral-large", "langchain.chat_models", "langchain"),
    ],
)
def test_a_package_that_is_not_installed_is_named_by_its_extra(
    llm: str, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for adapter in ("openai_chat", "anthropic_chat"):
        monkeypatch.delitem(sys.modules, f"proviso_service.backends.llm.{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ChatModelUnavailable) as caught:
        build_chat_model(settings(llm))
    assert str(caught.value).endswith(f"pip install 'proviso-service[{extra}]'")


@given(st.text(max_size=20).filter(lambda name: name.partition(":")[0] not in ("google_genai", "openai", "anthropic")))
def test_no_name_ends_in_anything_but_a_sentence(name: str) -> None:
    with pytest.raises(ChatModelUnavailable):
        build_chat_model(settings(name))


async def test_a_model_of_another_provider_streams_whole_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def init_chat_model(model: str, **chosen: Any) -> GenericFakeChatModel:
        asked.update(chosen, model=model)
        return GenericFakeChatModel(messages=iter([AIMessage("Hello there.")]))

    monkeypatch.setattr("langchain.chat_models.init_chat_model", init_chat_model)
    hosted = build_chat_model(settings("groq:llama"))
    assert (asked["model"], asked["model_provider"], asked["max_retries"]) == ("llama", "groq", 0)
    assert (await hosted.model.ainvoke("Hi")).content == "Hello there."
    assert hosted.close is None

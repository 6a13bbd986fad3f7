"""Chat models of providers."""

import pytest

from proviso_service.models.llm.factory import ChatModelUnavailable, build_chat_model
from proviso_service.settings import Settings


def settings(llm: str, key: str = "confidential") -> Settings:
    return Settings.model_validate({"llm": llm, "GOOGLE_API_KEY": key})


async def test_a_gemini_model_is_built_without_a_call_and_does_not_show_its_key() -> None:
    hosted = build_chat_model(settings("google_genai:gemini-2.5-flash"))
    assert "confidential" not in repr(hosted)
    await hosted.close()


@pytest.mark.parametrize(
    ("llm", "key", "told"),
    [
        ("google_genai:gemini-2.5-flash", "", "set GOOGLE_API_KEY"),
        ("google_genai:", "key", "use `local` or `google_genai:<model>`"),
        ("openai:gpt", "key", "use `local` or `google_genai:<model>`"),
    ],
)
def test_what_cannot_be_used_says_what_to_set(llm: str, key: str, told: str) -> None:
    with pytest.raises(ChatModelUnavailable, match=told.replace("<", r"\<")):
        build_chat_model(settings(llm, key))

"""Chat models of providers."""

from pydantic import SecretStr

from proviso_service.models.llm.factory import build_chat_model


def test_a_gemini_model_is_built_without_a_call_and_without_retries_of_its_own() -> None:
    model = build_chat_model("google_genai:gemini-2.5-flash", SecretStr("confidential"), timeout_s=30)
    assert getattr(model, "max_retries", None) == 0
    assert "confidential" not in repr(model)

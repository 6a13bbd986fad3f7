"""Chat models of providers, through LangChain. Retries are the service's own, so the client's are off."""

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

GOOGLE = "google_genai"


class ChatModelUnavailable(Exception):
    """The chosen chat model cannot be used; the message says what to set."""


def build_chat_model(name: str, google_api_key: SecretStr | None, timeout_s: float) -> BaseChatModel:
    """The model that a setting such as `google_genai:gemini-2.5-flash` names. Makes no call. Raises
    ChatModelUnavailable."""
    provider, _, model = name.partition(":")
    if provider != GOOGLE or not model:
        raise ChatModelUnavailable(f"PROVISO_LLM={name!r} names no chat model; use `local` or `google_genai:<model>`")
    if google_api_key is None or not google_api_key.get_secret_value():
        raise ChatModelUnavailable(f"PROVISO_LLM={name} needs a key: set GOOGLE_API_KEY")
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(model=model, google_api_key=google_api_key, max_retries=0, timeout=timeout_s)

"""Chat models of providers, through LangChain. Retries are the service's own, so the client's are off."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from proviso_service.settings import Settings

GOOGLE = "google_genai"


class ChatModelUnavailable(Exception):
    """The chosen chat model cannot be used; the message says what to set."""


@dataclass(frozen=True, slots=True)
class HostedChatModel:
    """A provider's model; `close` ends its connections."""

    model: BaseChatModel
    close: Callable[[], Awaitable[None]]


def build_chat_model(settings: Settings) -> HostedChatModel:
    """The model that `settings.llm` names, such as `google_genai:gemini-2.5-flash`. Makes no call. Raises
    ChatModelUnavailable."""
    name, key = settings.llm, settings.google_api_key
    provider, _, model = name.partition(":")
    if provider != GOOGLE or not model:
        raise ChatModelUnavailable(f"PROVISO_LLM={name!r} names no chat model; use `local` or `google_genai:<model>`")
    if key is None or not key.get_secret_value():
        raise ChatModelUnavailable(f"PROVISO_LLM={name} needs a key: set GOOGLE_API_KEY")
    from proviso_service.models.llm.gemini import GeminiChatModel  # takes long to import

    gemini = GeminiChatModel(
        model=model,
        google_api_key=key,
        base_url=settings.google_base_url,
        max_retries=0,
        timeout=settings.gemini.timeout_s,
        silence_s=settings.gemini.silence_s,
        vertexai=False,
    )
    return HostedChatModel(gemini, gemini.aclose)

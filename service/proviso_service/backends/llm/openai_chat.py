"""OpenAI's chat models, and those of servers that speak its API, such as vLLM and Ollama."""

from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from pydantic import SecretStr

from proviso_service.telemetry.spans import send_trace_context


class OpenAiChatModel(ChatOpenAI):
    """Gives the client messages and tools as they are to be sent. It would look at each of their fields for what to
    convert, which takes 0.1 ms for each message on the event loop, again at every call, and finds nothing."""

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload = super()._get_request_payload(input_, stop=stop, **kwargs)
        as_they_are = {name: payload.pop(name) for name in ("messages", "tools") if name in payload}
        return payload | {"messages": (), "extra_body": (payload.get("extra_body") or {}) | as_they_are}


def openai_model(
    model: str, key: SecretStr, base_url: str, timeout_s: float, options: Mapping[str, Any]
) -> tuple[OpenAiChatModel, DefaultAsyncHttpxClient]:
    """The model with these further `options` of the client, and the HTTP connections that are its own, to be closed by
    the caller; LangChain would share them among models."""
    connections = DefaultAsyncHttpxClient(timeout=timeout_s, event_hooks={"request": [send_trace_context]})
    chat = OpenAiChatModel(
        model=model,
        api_key=key,
        base_url=base_url,
        max_retries=0,
        timeout=timeout_s,
        stream_usage=True,
        stream_chunk_timeout=None,
        use_responses_api=False,  # other servers do not have this API
        http_async_client=connections,
        **options,
    )
    return chat, connections

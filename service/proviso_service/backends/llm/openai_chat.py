"""OpenAI's chat models, and those of servers that speak its API, such as vLLM and Ollama."""

from collections.abc import Mapping
from typing import Any

from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from pydantic import SecretStr

from proviso_service.telemetry.spans import send_trace_context


def openai_model(
    model: str, key: SecretStr, base_url: str, timeout_s: float, options: Mapping[str, Any]
) -> tuple[ChatOpenAI, DefaultAsyncHttpxClient]:
    """The model with these further `options` of the client, and the HTTP connections that are its own, to be closed by
    the caller; LangChain would share them among models."""
    connections = DefaultAsyncHttpxClient(timeout=timeout_s, event_hooks={"request": [send_trace_context]})
    chat = ChatOpenAI(
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

"""Anthropic's chat models."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

from proviso_service.agent.chat_models import NO_TOOL_CALLS
from proviso_service.telemetry.spans import send_trace_context


class ClaudeChatModel(ChatAnthropic):
    """A chat model with HTTP connections of its own; LangChain would share them among models, and nobody could close
    them."""

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        connections = DefaultAsyncHttpxClient(event_hooks={"request": [send_trace_context]})
        # The client's own tracing is off: it could record contents, and would pass on the caller's baggage.
        return AsyncAnthropic(**self._client_params, http_client=connections, open_telemetry=False)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        if kwargs.get("tool_choice") == NO_TOOL_CALLS:  # LangChain would take it for the name of a tool
            kwargs["tool_choice"] = {"type": "none"}
        return super().bind_tools(tools, **kwargs)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._async_client.close()

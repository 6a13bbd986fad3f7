"""Anthropic's chat models."""

from functools import cached_property

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from langchain_anthropic import ChatAnthropic

from proviso_service.telemetry.spans import send_trace_context


class ClaudeChatModel(ChatAnthropic):
    """A chat model with HTTP connections of its own; LangChain would share them among models, and nobody could close
    them."""

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        connections = DefaultAsyncHttpxClient(event_hooks={"request": [send_trace_context]})
        # The client's own tracing is off: it could record contents, and would pass on the caller's baggage.
        return AsyncAnthropic(**self._client_params, http_client=connections, open_telemetry=False)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._async_client.close()

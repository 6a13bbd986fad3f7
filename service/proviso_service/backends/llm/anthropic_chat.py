"""Anthropic's chat models."""

from functools import cached_property

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from langchain_anthropic import ChatAnthropic

from proviso_service.telemetry.spans import send_trace_context


class ClaudeChatModel(ChatAnthropic):
    """With connections of its own, which LangChain would else share among models."""

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        connections = DefaultAsyncHttpxClient(event_hooks={"request": [send_trace_context]})
        # The client's own traces could tell contents, and would pass the caller's baggage on.
        return AsyncAnthropic(**self._client_params, http_client=connections, open_telemetry=False)

    async def aclose(self) -> None:
        """Ends what calls have opened."""
        await self._async_client.close()

"""Anthropic's chat models."""

from functools import cached_property

from anthropic import AsyncAnthropic
from langchain_anthropic import ChatAnthropic


class ClaudeChatModel(ChatAnthropic):
    """With connections of its own, which LangChain would else share among models."""

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        return AsyncAnthropic(**self._client_params)

    async def aclose(self) -> None:
        """Ends what calls have opened."""
        await self._async_client.close()

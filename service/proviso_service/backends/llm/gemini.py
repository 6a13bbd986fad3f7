"""Gemini through LangChain's client, with what that client leaves open: replies that are not whole, and silence."""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable
from langchain_google_genai import ChatGoogleGenerativeAI

from proviso_service.backends.llm.gemini_failures import told
from proviso_service.backends.llm.refusals import ProviderRefusal
from proviso_service.backends.llm.replies import StreamedReplies, parts_of
from proviso_service.telemetry.propagation import trace_headers

_WHOLE = frozenset({"STOP", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""A broken tool call leaves an empty reply behind, which the agent asks for once more."""


class GeminiChatModel(StreamedReplies, ChatGoogleGenerativeAI):
    """Streams replies. Nothing may come for `silence_s` at most, before the reply and between its parts.

    A call is one request, whatever comes of it. It raises ProviderRefusal for an HTTP status other than 200 and for a
    reply that Gemini blocked or broke off; ConnectionError where the connection failed or the stream ended before its
    reply did; TimeoutError where it took too long."""

    silence_s: float

    def bind_tools(self, tools: Sequence[Any], *args: Any, **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Takes tools in OpenAI's form."""
        return super().bind_tools([_without_unknown_words(tool) for tool in tools], *args, **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        # Google's client would go on with a broken stream by itself, in further requests.
        kwargs |= {"automatic_continuation": False}
        if headers := trace_headers():
            kwargs |= {"http_options": {"headers": headers}}
        stream = ChatGoogleGenerativeAI._astream(self, messages, stop=stop, run_manager=run_manager, **kwargs)
        finish_reason = ""
        async with aclosing(parts_of(stream, self.silence_s, self.timeout or math.inf, told)) as parts:
            async for chunk in parts:
                feedback = chunk.message.response_metadata.get("prompt_feedback") or {}
                if blocked := feedback.get("block_reason"):
                    finish_reason = f"{blocked.value} in the request"
                finish_reason = (chunk.generation_info or {}).get("finish_reason", finish_reason)
                yield chunk
        if not finish_reason:
            raise ConnectionError("Gemini's stream ended before its reply did")
        if finish_reason not in _WHOLE:
            raise ProviderRefusal(f"Gemini gave no whole reply: {finish_reason}")


def _without_unknown_words(schema: Any) -> Any:
    """What Gemini's schemas do not know is left out, else the client warns of it at every call."""
    if isinstance(schema, dict):
        return {name: _without_unknown_words(v) for name, v in schema.items() if name != "additionalProperties"}
    return [_without_unknown_words(item) for item in schema] if isinstance(schema, list) else schema

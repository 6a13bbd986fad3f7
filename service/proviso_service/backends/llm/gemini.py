"""Gemini through LangChain's client, with what the client does not have: limits of time, and errors for incomplete
replies."""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import takewhile
from typing import Any, Self, TypeGuard

import aiohttp
from google.genai.errors import APIError, UnknownApiResponseError
from google.genai.types import HarmBlockThreshold, HarmCategory
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_google_genai.chat_models import _parse_chat_history
from pydantic import ValidationError

from proviso_service.agent.failures import UnusableReply
from proviso_service.backends.llm.replies import ProviderRefusal, StreamedReplies, cause_of, parts_of
from proviso_service.retrying import retry_after_seconds
from proviso_service.telemetry.spans import trace_headers
from proviso_service.turns import ExitCause

_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,62}")
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_HINTS = {
    "API_KEY_INVALID": "check GOOGLE_API_KEY",
    "UNAUTHENTICATED": "check GOOGLE_API_KEY",
    "PERMISSION_DENIED": "check what the key of GOOGLE_API_KEY may be used for",
    "NOT_FOUND": "check the model's name in PROVISO_LLM",
}


def gemini_failure(error: Exception) -> Exception:
    """The exception to raise for `error`, without its cause, whose message may repeat what was sent. An exception of no
    known kind is returned as it is."""
    if isinstance(error, TimeoutError):
        return TimeoutError("Gemini took too long")
    if isinstance(error, (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError)):
        return ConnectionError(f"the connection to Gemini failed: {type(error).__name__}")
    if isinstance(error, (UnknownApiResponseError, json.JSONDecodeError)):
        return ConnectionError("what Gemini sent is not JSON")
    if isinstance(error, ValidationError):
        return ProviderRefusal("what Gemini sent, or was to be sent, does not fit its API")
    api_error = next((e for e in (error, error.__cause__) if isinstance(e, APIError)), None)
    return error if api_error is None else _refusal(api_error)


def _refusal(error: APIError) -> ProviderRefusal:
    details = list(_details(error.details))
    names = [name for name in (error.status, *(d.get("reason") for d in details)) if _is_name(name)]
    hint = next((_HINTS[name] for name in reversed(names) if name in _HINTS), "")
    summary = " ".join(["Gemini refused the call:", str(error.code), *names])
    words = f"{summary}; {hint}" if hint else summary
    return ProviderRefusal(words, error.code, _retry_after_s(error, details), is_over_budget=_is_daily(details))


def _is_daily(details: list[Mapping[str, Any]]) -> bool:
    """Whether a quota of the day is used up. The wait that Google asks for in this case is too short."""
    violations = (one for detail in details if isinstance(found := detail.get("violations"), list) for one in found)
    return any(isinstance(one, dict) and "PerDay" in str(one.get("quotaId")) for one in violations)


def _is_name(name: object) -> TypeGuard[str]:
    """Whether it is one of Google's own words, such as INVALID_ARGUMENT."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _details(body: Any) -> Iterator[Mapping[str, Any]]:
    """The google.rpc details of an error's body."""
    problem = body.get("error") if isinstance(body, dict) else None
    details = problem.get("details") if isinstance(problem, dict) else None
    yield from (detail for detail in details or () if isinstance(detail, dict))


def _retry_after_s(error: APIError, details: list[Mapping[str, Any]]) -> float | None:
    """The wait in seconds that google.rpc.RetryInfo asks for, else the header Retry-After; None where neither does."""
    delays = [d.get("retryDelay") for d in details if str(d.get("@type", "")).endswith("google.rpc.RetryInfo")]
    for delay in delays:
        if isinstance(delay, str) and (match := _SECONDS.fullmatch(delay)):
            return float(match[1])
    header = (getattr(error.response, "headers", None) or {}).get("retry-after")
    return retry_after_seconds(header) if isinstance(header, str) else None


_THRESHOLDS = {
    "off": HarmBlockThreshold.OFF,
    "none": HarmBlockThreshold.BLOCK_NONE,
    "only_high": HarmBlockThreshold.BLOCK_ONLY_HIGH,
    "medium_and_above": HarmBlockThreshold.BLOCK_MEDIUM_AND_ABOVE,
    "low_and_above": HarmBlockThreshold.BLOCK_LOW_AND_ABOVE,
}
_HARMS = (
    HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
    HarmCategory.HARM_CATEGORY_HARASSMENT,
    HarmCategory.HARM_CATEGORY_HATE_SPEECH,
    HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
)


def safety_settings(chosen: str) -> dict[HarmCategory, HarmBlockThreshold] | None:
    """The setting `chat_model.safety` as Gemini takes it; None where it is left to Google."""
    return dict.fromkeys(_HARMS, _THRESHOLDS[chosen]) if chosen else None


class GeminiChatModel(StreamedReplies, ChatGoogleGenerativeAI):
    """Streams replies, with at most `silence_s` seconds before the first part and between two parts.

    Each call is exactly one request. Raises ProviderRefusal for an HTTP status other than 200; UnusableReply for a
    reply that did not end by itself, and for a request that Gemini blocked; ConnectionError when the connection failed
    or the stream ended before the reply did; TimeoutError when a limit has passed."""

    silence_s: float

    def bind_tools(self, tools: Sequence[Any], *args: Any, **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools, which are in OpenAI's form."""
        return super().bind_tools([_without_unknown_keywords(tool) for tool in tools], *args, **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        # Google's client would otherwise continue a broken stream by itself, in further requests.
        kwargs |= {"automatic_continuation": False}
        instructions = [message for message in messages if isinstance(message, SystemMessage)]
        contents = await self._contents(messages[len(instructions) :])
        kwargs |= {"http_options": {"headers": trace_headers(), "extra_body": {"contents": contents}}}
        shown = [*instructions, _IN_PLACE]
        stream = ChatGoogleGenerativeAI._astream(self, shown, stop=stop, run_manager=run_manager, **kwargs)
        finish_reason = blocked_for = ""
        async with aclosing(parts_of(stream, self.silence_s, self.timeout or math.inf, gemini_failure)) as parts:
            async for chunk in parts:
                feedback = chunk.message.response_metadata.get("prompt_feedback") or {}
                if blocked := feedback.get("block_reason"):
                    blocked_for = blocked.value
                finish_reason = (chunk.generation_info or {}).get("finish_reason", finish_reason)
                yield chunk
        if blocked_for:
            raise UnusableReply(f"Gemini blocked the request: {blocked_for}", ExitCause.BLOCKED)
        if not finish_reason:
            raise ConnectionError("Gemini's stream ended before its reply did")
        if finish_reason != "STOP":
            cause = cause_of(finish_reason) or ExitCause.STOPPED
            raise UnusableReply(f"Gemini gave no whole reply: {finish_reason}", cause)

    async def _contents(self, messages: Sequence[BaseMessage]) -> list["_Content"]:
        """The conversation as the API takes it. The client's own way takes half a millisecond for each message on the
        event loop, again at every call, and would hold up everybody else; what was said before the turn is plain text
        and needs none of it. Images are converted in a thread."""
        plain = list(takewhile(_is_plain_text, messages))[:-1]
        said = [_Content(role=_ROLES[message.type], parts=[{"text": message.content}]) for message in plain]
        rest = messages[len(plain) :]
        if all(isinstance(message.content, str) for message in rest):
            return said + self._converted(rest)
        return said + await asyncio.to_thread(self._converted, rest)

    def _converted(self, messages: Sequence[BaseMessage]) -> list["_Content"]:
        _, contents = _parse_chat_history(messages, model=self.model)
        return [_Content(content.model_dump(mode="json", by_alias=True, exclude_none=True)) for content in contents]


class _Content(dict[str, Any]):
    """A message as JSON. The client copies the options of a call with all that they hold, which these need not be."""

    def __deepcopy__(self, memo: object) -> Self:
        return self


_ROLES = {"human": "user", "ai": "model"}

_IN_PLACE = HumanMessage("-")
"""What the client is given in place of the conversation, which it does not convert then."""


def _is_plain_text(message: BaseMessage) -> bool:
    """Whether a message is nothing but text of the person or of the model."""
    if not message.content or not isinstance(message.content, str) or message.additional_kwargs:
        return False
    if isinstance(message, AIMessage):
        return not (message.tool_calls or message.invalid_tool_calls)
    return isinstance(message, HumanMessage)


def _without_unknown_keywords(schema: Any) -> Any:
    """The schema without a keyword that Gemini does not know; the client would warn of it at every call."""
    if isinstance(schema, dict):
        return {name: _without_unknown_keywords(v) for name, v in schema.items() if name != "additionalProperties"}
    return [_without_unknown_keywords(item) for item in schema] if isinstance(schema, list) else schema

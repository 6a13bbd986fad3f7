"""What a call of Gemini that failed is told as. Google's own words are left out: they may repeat what was sent."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

import aiohttp
from google.genai.errors import APIError, UnknownApiResponseError
from pydantic import ValidationError

from proviso_service.backends.llm.refusals import ProviderRefusal
from proviso_service.retry_after import retry_after_seconds

_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,62}")
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_HINTS = {
    "API_KEY_INVALID": "check GOOGLE_API_KEY",
    "UNAUTHENTICATED": "check GOOGLE_API_KEY",
    "PERMISSION_DENIED": "check what the key of GOOGLE_API_KEY may be used for",
    "NOT_FOUND": "check the model's name in PROVISO_LLM",
}


def told(error: Exception) -> Exception:
    """The failure without its cause, whose text may hold what was sent; the error itself where it is none of these."""
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
    said = " ".join(["Gemini refused the call:", str(error.code), *names])
    return ProviderRefusal(f"{said}; {hint}" if hint else said, error.code, _retry_after_s(error, details))


def _is_name(name: object) -> TypeGuard[str]:
    """Whether it is one of Google's own words, such as INVALID_ARGUMENT."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _details(body: Any) -> Iterator[Mapping[str, Any]]:
    """The google.rpc details of an error's body."""
    problem = body.get("error") if isinstance(body, dict) else None
    details = problem.get("details") if isinstance(problem, dict) else None
    yield from (detail for detail in details or () if isinstance(detail, dict))


def _retry_after_s(error: APIError, details: list[Mapping[str, Any]]) -> float | None:
    """Of google.rpc.RetryInfo, else of the header."""
    delays = [d.get("retryDelay") for d in details if str(d.get("@type", "")).endswith("google.rpc.RetryInfo")]
    for said in delays:
        if isinstance(said, str) and (match := _SECONDS.fullmatch(said)):
            return float(match[1])
    header = (getattr(error.response, "headers", None) or {}).get("retry-after")
    return retry_after_seconds(header) if isinstance(header, str) else None

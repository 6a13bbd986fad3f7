"""What a failed call of any provider's client is told as. Clients have exceptions of their own, which LangChain sorts
for some: what they have in common is an HTTP status, and names. The provider's own words are left out: they may repeat
what was sent, or the key."""

from collections.abc import Mapping
from typing import Any

from langchain_core.exceptions import ModelAPIError, ModelConnectionError, ModelRateLimitError, ModelTimeoutError

from proviso_service.backends.llm.refusals import ProviderRefusal
from proviso_service.causes import with_causes
from proviso_service.retry_after import retry_after_seconds

_TIMEOUTS = frozenset({"TimeoutError", "TimeoutException", "APITimeoutError", "ServerTimeoutError"})
_CONNECTIONS = frozenset(
    {"ConnectionError", "APIConnectionError", "TransportError", "ClientConnectionError", "ClientPayloadError"}
)
"""By name: which libraries a client is made of depends on what is installed."""

_NOT_JSON = frozenset({"JSONDecodeError"})
_STATUS_OF_TYPE = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Of failures that are told in the middle of a stream, whose status was 200."""

_HINTS = {
    401: "check its key",
    403: "check what its key may be used for",
    404: "check the model's name in PROVISO_LLM and the address of the API",
}


def told(provider: str, error: Exception) -> Exception:
    """The failure in words of the service's own. What is no failure of a call is told by its type only, too."""
    chain = list(with_causes(error))
    if code := next((code for one in chain if (code := _status(one))), None):
        hint = f"; {_HINTS[code]}" if code in _HINTS else ""
        return ProviderRefusal(f"{provider} refused the call: {code}{hint}", code, _retry_after_s(chain))
    names = {base.__name__ for one in chain for base in type(one).__mro__}
    if isinstance(error, ModelTimeoutError) or names & _TIMEOUTS:
        return TimeoutError(f"{provider} took too long")
    if isinstance(error, ModelConnectionError) or names & _CONNECTIONS:
        return ConnectionError(f"the connection to {provider} failed: {type(error).__name__}")
    if names & _NOT_JSON:
        return ConnectionError(f"what {provider} sent is not JSON")
    return ProviderRefusal(f"the call of {provider} failed: {type(error).__name__}")


def _status(error: BaseException) -> int | None:
    """The HTTP status of a refusal, or the one that it would have had before the reply began."""
    response = getattr(error, "response", None)
    candidates = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(response, "status_code", None),
    )
    for value in candidates:
        if (status := _number(value)) is not None and 400 <= status <= 599:
            return status
    if said := _STATUS_OF_TYPE.get(_type_said(error)):
        return said
    if isinstance(error, ModelRateLimitError):
        return 429
    return 500 if isinstance(error, ModelAPIError) else None


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        return int(value)
    return value if isinstance(value, int) else None


def _type_said(error: BaseException) -> str:
    """The provider's word for the kind of failure: `{"type": ...}`, or inside `error`."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for said in (inner, body):
        if isinstance(said, Mapping) and isinstance(kind := said.get("type"), str):
            return kind
    return ""


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        value = headers.get("retry-after") if isinstance(headers, Mapping) else None
        if isinstance(value, str):
            return retry_after_seconds(value)
    return None

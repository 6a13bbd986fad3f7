"""What a call that failed is told as: never with the key, and never with words of what was sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from unicodedata import normalize

import httpx

from proviso_service.errors import ModelApiError, ModelApiRefused, ModelApiUnavailable
from proviso_service.reading import WORD
from proviso_service.retry_after import retry_after_seconds

SERVICE = "Isaacus"

_TRANSIENT = frozenset({408, 409, 429})
_HINTS = {
    401: "check ISAACUS_API_KEY",
    402: "check the account's balance",
    403: "check what the key of ISAACUS_API_KEY may be used for",
    404: "check ISAACUS_BASE_URL",
}
_REDIRECTED = "check ISAACUS_BASE_URL"
_TITLE_CHARS = 100
_DETAIL_CHARS = 300
_READ_CHARS = 2_000
_LONGEST_RETRY_AFTER_S = 24 * 3_600.0
_DEFAULT_RETRY_AFTER_S = 1.0
_RUN_WORDS = 4
_PLAIN_TEXT = """
a an and any are as at be been by can could did do does for from had has have if in into is it its longer longest many
may more most must no not of on one only or other over please should so some such than that the their then there these
this to too try under up was were when which while will with would you your
again allowed api answer array authentication authorization bad balance character characters chunk chunking code context
contact count credit credits current currently end error errors exceed exceeded exceeds expected failed field found
gateway input inputs internal invalid iql isaacus item items key large later length limit limits long maximum message
minimum minute minutes missing model models number object option options payment per plan provided query quota rate
received request requests required retry second seconds server service short size statement statements string support
syntax template templates temporarily text texts timeout token tokens unavailable unexpected unknown upgrade usage valid
value
"""
_PLAIN_WORDS = frozenset(_PLAIN_TEXT.split())
"""Of which any error of this API is made: each of them may be told though it was in what was sent."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Of one try. `is_transient`: another try may go better, not before `retry_after_s` where the API has said so."""

    error: ModelApiError
    is_transient: bool = False
    retry_after_s: float | None = None


def not_in_time(limit_s: float) -> Failure:
    return Failure(ModelApiUnavailable(SERVICE, f"no answer within {limit_s:g} s"), is_transient=True)


def not_reached() -> Failure:
    return Failure(ModelApiUnavailable(SERVICE, "the connection failed"), is_transient=True)


def unreadable_answer(why: str) -> ModelApiUnavailable:
    return ModelApiUnavailable(SERVICE, f"the answer cannot be used: {why}")


def refused_with(response: httpx.Response, body: object, sent: Sequence[str]) -> Failure:
    """Of an answer that says what is wrong, in `body`, to what was `sent`: texts, query and key."""
    status = response.status_code
    details = f"{_said(status, body, sent)} (status {status})"
    if status in _TRANSIENT or status >= 500:
        wait_s = _retry_after_s(response.headers.get("retry-after"))
        told_s = _DEFAULT_RETRY_AFTER_S if wait_s is None else wait_s
        return Failure(ModelApiUnavailable(SERVICE, details, told_s), is_transient=True, retry_after_s=wait_s)
    hint = _REDIRECTED if status < 400 else _HINTS.get(status)
    return Failure(ModelApiRefused(SERVICE, f"{details}; {hint}" if hint else details))


def _said(status: int, body: object, sent: Sequence[str]) -> str:
    """Title and detail of the problem, as far as they may be told; else what the status is called."""
    problem: dict[Any, Any] = body if isinstance(body, dict) else {}
    title = _tellable(problem.get("title"), sent)[:_TITLE_CHARS].rstrip(". ")
    detail = _tellable(problem.get("detail"), sent)[:_DETAIL_CHARS].rstrip(". ")
    return ": ".join(part for part in (title or _name_of(status), detail) if part)


def _tellable(said: object, sent: Sequence[str]) -> str:
    """What was said, in one line; empty where it may repeat anything that was sent."""
    if not isinstance(said, str):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in said[:_READ_CHARS]).split())
    return "" if _repeats(line, sent) else line


def _repeats(line: str, sent: Sequence[str]) -> bool:
    """Whether the line holds a word of what was sent, even as part of another one, that is not plain; several plain
    words in a row; or one of the texts as a whole."""
    words = _words(line)
    everything = _folded("\n".join(sent))
    if any(word in everything for word in set(words) - _PLAIN_WORDS):
        return True
    texts = [_spaced(_words(text)) for text in sent]
    runs = [_spaced(words[start : start + _RUN_WORDS]) for start in range(len(words) - _RUN_WORDS + 1)]
    if any(run in text for run in runs for text in texts):
        return True
    return any(text.strip() and text in _spaced(words) for text in texts)


def _words(text: str) -> list[str]:
    return WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _name_of(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "failure"


def _retry_after_s(value: str | None) -> float | None:
    seconds = None if value is None else retry_after_seconds(value)
    return None if seconds is None else min(seconds, _LONGEST_RETRY_AFTER_S)

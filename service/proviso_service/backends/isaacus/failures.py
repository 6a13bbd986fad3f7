"""Failed calls of Isaacus's API as errors of the service.

Their messages never hold the key, nor words of the texts that were sent: an answer of the API may repeat both, so its
own words are only used where they cannot be such a repetition."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from proviso_service.backends.hosted_calls import FailedAttempt, asked_wait_s, phrase_of
from proviso_service.errors import ModelApiRefused, ModelApiUnavailable
from proviso_service.reading import WORD

if TYPE_CHECKING:
    import httpx

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
_DEFAULT_RETRY_AFTER_S = 1.0
_RUN_WORDS = 4
_COMMON_TEXT = """
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
_COMMON_WORDS = frozenset(_COMMON_TEXT.split())
"""Words that errors of this API are usually made of. They may be repeated although a text that was sent holds them too:
a common word gives nothing of the text away."""


def rejected(response: "httpx.Response", body: object, sent: Sequence[str]) -> FailedAttempt:
    """The failure behind an answer with an error status. `body` is its decoded JSON; `sent` are the key, the query and
    the texts of the request, none of which the message may repeat."""
    status = response.status_code
    details = f"{_problem_text(status, body, sent)} (status {status})"
    if status in _TRANSIENT or status >= 500:
        wait_s = asked_wait_s(response.headers.get("retry-after"))
        shown_wait_s = _DEFAULT_RETRY_AFTER_S if wait_s is None else wait_s
        return FailedAttempt(
            ModelApiUnavailable(SERVICE, details, shown_wait_s), is_transient=True, retry_after_s=wait_s
        )
    hint = _REDIRECTED if status < 400 else _HINTS.get(status)
    return FailedAttempt(ModelApiRefused(SERVICE, f"{details}; {hint}" if hint else details))


def _problem_text(status: int, body: object, sent: Sequence[str]) -> str:
    """The title and detail that the API gave, where they are safe to repeat; else the status's standard phrase."""
    problem: dict[Any, Any] = body if isinstance(body, dict) else {}
    title = _safe_line(problem.get("title"), sent)[:_TITLE_CHARS].rstrip(". ")
    detail = _safe_line(problem.get("detail"), sent)[:_DETAIL_CHARS].rstrip(". ")
    return ": ".join(part for part in (title or phrase_of(status), detail) if part)


def _safe_line(text: object, sent: Sequence[str]) -> str:
    """The text in one line; empty where it is no text, or may repeat anything that was sent."""
    if not isinstance(text, str):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:_READ_CHARS]).split())
    return "" if _repeats(line, sent) else line


def _repeats(line: str, sent: Sequence[str]) -> bool:
    """Whether the line may repeat what was sent: it holds an uncommon word that occurs in it (even inside another
    word), a run of _RUN_WORDS common words that occurs in it, or one of the texts as a whole."""
    words = _words(line)
    everything = _folded("\n".join(sent))
    if any(word in everything for word in set(words) - _COMMON_WORDS):
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

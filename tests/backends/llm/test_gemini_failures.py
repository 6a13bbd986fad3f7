"""Tests of which exceptions Gemini's failures become, and of what the agent makes of these."""

from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from google.genai.errors import ClientError, ServerError, UnknownApiResponseError
from google.genai.types import GenerateContentResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proviso_service.agent.failures import FailureKind, classify, retry_after_s
from proviso_service.backends.llm.gemini import gemini_failure
from tests.support.gemini_replies import error_info, refuses, retry_info

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "details", "@type"]), inner),
    max_leaves=8,
)


def api_error(status: int, name: str, *details: dict[str, Any], **headers: str) -> ClientError:
    body = refuses(status, name, *details, message="The text and the key were confidential").body
    return ClientError(status, body, SimpleNamespace(headers=headers))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (api_error(429, "RESOURCE_EXHAUSTED"), FailureKind.RATE_LIMITED),
        (api_error(400, "INVALID_ARGUMENT"), FailureKind.FINAL),
        (api_error(403, "PERMISSION_DENIED"), FailureKind.FINAL),
        (api_error(408, "DEADLINE_EXCEEDED"), FailureKind.TRANSIENT),
        (ServerError(500, {}), FailureKind.TRANSIENT),
        (ServerError(503, {"error": {"status": "UNAVAILABLE"}}), FailureKind.TRANSIENT),
        (UnknownApiResponseError("Raw response: confidential"), FailureKind.TRANSIENT),
        (aiohttp.ClientPayloadError("confidential"), FailureKind.TRANSIENT),
        (aiohttp.ServerDisconnectedError("confidential"), FailureKind.TRANSIENT),
        (aiohttp.ServerTimeoutError("confidential"), FailureKind.TRANSIENT),
        (TimeoutError("confidential"), FailureKind.TRANSIENT),
    ],
)
def test_a_failure_keeps_its_kind_and_loses_its_words(error: Exception, kind: FailureKind) -> None:
    failure = gemini_failure(error)
    assert classify(failure) is kind
    assert "confidential" not in repr(failure)


def test_an_answer_that_does_not_fit_loses_its_words() -> None:
    with pytest.raises(ValidationError) as caught:
        GenerateContentResponse.model_validate({"candidates": "confidential"})
    failure = gemini_failure(caught.value)
    assert classify(failure) is FailureKind.FINAL
    assert "confidential" not in repr(failure)


def test_an_error_that_is_not_of_the_call_stays_as_it_is() -> None:
    error = AssertionError("a mistake of ours")
    assert gemini_failure(error) is error


@pytest.mark.parametrize(
    ("details", "headers", "seconds"),
    [
        ([retry_info("34.5s")], {}, 34.5),
        ([error_info("RATE_LIMIT_EXCEEDED"), retry_info("2s")], {"retry-after": "9"}, 2.0),
        ([], {"retry-after": "9"}, 9.0),
        ([retry_info("soon")], {}, None),
        ([retry_info("-3s")], {}, None),
        ([retry_info("999999999s")], {}, None),
        ([], {}, None),
    ],
)
def test_the_wait_that_google_asked_for_is_read(
    details: list[dict[str, Any]], headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(gemini_failure(api_error(429, "RESOURCE_EXHAUSTED", *details, **headers))) == seconds


@pytest.mark.parametrize(
    ("status", "name", "reason", "message"),
    [
        (400, "INVALID_ARGUMENT", "API_KEY_INVALID", "400 INVALID_ARGUMENT API_KEY_INVALID; check GOOGLE_API_KEY"),
        (404, "NOT_FOUND", "", "404 NOT_FOUND; check the model's name in PROVISO_LLM"),
        (400, "INVALID_ARGUMENT", "said: confidential", "400 INVALID_ARGUMENT"),
    ],
)
def test_a_refusal_says_what_to_look_at(status: int, name: str, reason: str, message: str) -> None:
    assert str(gemini_failure(api_error(status, name, error_info(reason)))) == f"Gemini refused the call: {message}"


@given(JSON)
def test_any_body_of_an_error_can_be_told(body: Any) -> None:
    assert classify(gemini_failure(ClientError(429, body))) is FailureKind.RATE_LIMITED

"""Failures of any client become exceptions by their status or the names of their classes, never with the provider's
words."""

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.failures import FailureKind, classify, retry_after_s
from proviso_service.backends.llm.replies import provider_failure

ECHO = "Quixote"
FINAL, TRANSIENT, LIMITED = FailureKind.FINAL, FailureKind.TRANSIENT, FailureKind.RATE_LIMITED


class ClientError(Exception):
    """An exception as clients raise them, with any attributes."""

    def __init__(self, **carried: Any) -> None:
        super().__init__(ECHO)
        self.__dict__.update(carried)


class APITimeoutError(Exception):
    pass


def response(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ClientError(status_code=429), LIMITED),
        (ClientError(code="429"), LIMITED),
        (ClientError(response=response(503)), TRANSIENT),
        (ClientError(status_code=200, body={"type": "error", "error": {"type": "overloaded_error"}}), TRANSIENT),
        (ClientError(body={"type": "server_error", "code": None}), TRANSIENT),
        (ClientError(body={"type": ["server_error"]}), FINAL),
        (ClientError(status_code=True, code="context_length_exceeded"), FINAL),
        (ClientError(status_code=400, body={"type": "server_error"}), FINAL),
        (ClientError(), FINAL),
        (APITimeoutError(ECHO), TRANSIENT),
        (httpx.ReadError(ECHO), TRANSIENT),
        (ConnectionResetError(ECHO), TRANSIENT),
        (TimeoutError(ECHO), TRANSIENT),
    ],
)
def test_a_failure_is_told_by_its_kind(error: Exception, kind: FailureKind) -> None:
    failure = provider_failure("acme", error)
    assert classify(failure) is kind
    assert "acme" in str(failure)
    assert ECHO not in str(failure)


def test_the_wait_is_read_from_the_response() -> None:
    assert retry_after_s(provider_failure("acme", ClientError(response=response(429, retry_after="7")))) == 7
    assert retry_after_s(provider_failure("acme", ClientError(response=response(429, retry_after="soon")))) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "type", "code"]), inner),
    max_leaves=8,
)


@given(JSON, JSON, JSON)
def test_whatever_a_client_carries_can_be_told(body: Any, code: Any, status: Any) -> None:
    carried = SimpleNamespace(status_code=status, headers=body)
    assert ECHO not in str(provider_failure("acme", ClientError(body=body, code=code, response=carried)))

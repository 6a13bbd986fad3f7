"""Neither the key nor any text that was sent appears in messages or logs, whatever the API answers."""

import logging
import traceback

import pytest
from httpx import Response
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from proviso_service.backends.isaacus.analysis import CLASSIFICATION, IsaacusClassifier
from proviso_service.backends.isaacus.client import IsaacusConfig
from proviso_service.backends.isaacus.failures import rejected
from proviso_service.errors import ModelApiError
from proviso_service.models import ModelPassage
from tests.backends.isaacus.conftest import IsaacusWorld
from tests.support.hosted_api import hangs_up, says
from tests.support.isaacus_server import KEY, problem

STATEMENT = "Zebulon shall indemnify Quixote for everything"
PASSAGE = ModelPassage(
    "The payment of 4711 crowns to Persephone is required per month at Caf\u00e9.", ("Xanadu lease",)
)
ECHOES = [
    STATEMENT,
    f"The query '{STATEMENT}' is too long",
    "unexpected token 'Quixote' at 3",
    "unexpected token 'quix",
    "input: 4711",
    "The key isaacus-test-key-5f2c is not valid",
    "The key isaacus-test-... is not valid",
    "payment of crowns",
    "Xanadu",
    "is required per month",
    "near 'Cafe\u0301'",
    "near '\uff31uixote'",
]


def message_of(status: int, body: object, *sent: str) -> str:
    return rejected(Response(status), body, sent).error.message


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("field", ["title", "detail"])
async def test_a_problem_that_repeats_what_was_sent_is_told_without_it(echo: str, field: str) -> None:
    body = {"title": "Invalid IQL query error", "detail": "The query is not valid."} | {field: echo}
    message = message_of(400, body, KEY, STATEMENT, PASSAGE.text, "Xanadu lease")
    rest = {"title": "Bad Request: The query is not valid", "detail": "Invalid IQL query error"}[field]
    assert message == f"Isaacus API error: {rest} (status 400)"


async def test_a_problem_that_repeats_nothing_is_told_whole() -> None:
    body = {"title": "Query too long error", "detail": "The query is longer than the maximum of 512 tokens."}
    assert message_of(400, body, KEY, STATEMENT, PASSAGE.text) == (
        "Isaacus API error: Query too long error: The query is longer than the maximum of 512 tokens (status 400)"
    )


async def test_what_is_told_is_bounded_and_one_line() -> None:
    body = {"title": "long " * 1_000, "detail": "a\nb\x1b[31m\u202e " + "maximum " * 5_000}
    message = message_of(500, body, KEY)
    assert len(message) < 500
    assert message.isprintable()


@given(st.text(), st.one_of(st.none(), st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text())))
def test_any_body_is_told_in_a_bounded_line(detail: str, other: object) -> None:
    for body in ({"title": detail, "detail": other}, {"title": other, "detail": detail}, other):
        message = message_of(500, body, KEY, "a text")
        assert message.startswith("Isaacus API error: ")
        assert (len(message) < 500, message.isprintable()) == (True, True)


@given(st.text(alphabet="abcdefghij ", min_size=1))
def test_no_word_that_was_sent_is_repeated_but_a_plain_one(text: str) -> None:
    message = message_of(400, {"title": "Invalid IQL query error", "detail": f"near {text}"}, KEY, f"zz{text}zz")
    told = message.removeprefix("Isaacus API error: Invalid IQL query error").removesuffix(" (status 400)")
    assert told in ("", f": near {' '.join(text.split())}".rstrip())
    assert set(told.removeprefix(": near").split()) <= {"a", "be", "if", "had", "did"}


async def test_logs_hold_neither_key_nor_texts_even_when_everything_is_logged(
    world: IsaacusWorld, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISAACUS_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    classifier = IsaacusClassifier(world.client(retries=1), IsaacusConfig())
    echo = f"{STATEMENT} {PASSAGE.text} {KEY}"
    faults = [problem(400, echo, echo), problem(500, "", echo), problem(429), hangs_up, says(echo.encode())]
    printed: list[str] = []
    with capture_logs() as own:
        for fault in faults:
            world.server.always(CLASSIFICATION, fault)
            with pytest.raises(ModelApiError) as caught:
                await classifier.score(STATEMENT, [PASSAGE])
            printed += traceback.format_exception(caught.value)
        world.server.always(CLASSIFICATION, lambda reply: reply)
        await classifier.score(STATEMENT, [PASSAGE])
    assert [event["event"] for event in own] == ["isaacus_call_failed"] * len(faults) + ["isaacus_call"]
    logged = str(own) + caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    assert "httpcore" in logged
    for secret in (KEY, "Zebulon", "Quixote", "Persephone", "Xanadu"):
        assert secret not in logged
        assert not any(secret in line for line in printed)

"""Waiting turns as JSON, and back."""

import json
import traceback
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.model import DocumentSummary, MatterContext
from proviso_service.turns import (
    ApprovalRequired,
    Citation,
    Decision,
    DiscardReason,
    Event,
    HistoryMessage,
    LoggedEvent,
    MessageRole,
    OnDisconnect,
    SuspendedTurn,
    SuspensionUnreadable,
    TextDiscarded,
    Token,
    TurnOptions,
    TurnRequest,
    suspended_from_json,
    suspended_to_json,
)
from proviso_service.turns.log import MemoryTurnLog
from tests.turns.scripted import ASKED, TOOL_END, TOOL_START, TURN_START

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
REQUEST = TurnRequest(
    'What "is" it? 😀',
    MatterContext("m", "Matter"),
    ("https://example.com/a.png",),
    (DocumentSummary("a.md", "md", "Rent."),),
    history=(HistoryMessage(MessageRole.USER, "Hi"),),
    request_id="r-1",
    on_disconnect=OnDisconnect.CANCEL,
    options=TurnOptions(max_turns=2),
    selected_assets=("a.md",),
)
EVENTS = st.one_of(
    st.just(TURN_START),
    st.builds(Token, st.text(), st.text()),
    st.builds(TextDiscarded, st.text(), st.sampled_from(DiscardReason)),
    st.builds(replace, st.just(TOOL_START), input_json=st.text()),
    st.builds(replace, st.just(TOOL_END), output=st.text(), duration_s=st.floats(0, 9)),
    st.builds(Citation, *[st.integers()] * 3, *[st.text()] * 2, *[st.integers()] * 3, *[st.text()] * 2),
    st.builds(ApprovalRequired, *[st.text()] * 4, st.datetimes(timezones=st.just(UTC))),
)


def logged(events: Sequence[Event]) -> tuple[LoggedEvent, ...]:
    return tuple(LoggedEvent(n, n, 1_700_000_000 + n / 7, event) for n, event in enumerate(events, 1))


def suspended(events: Sequence[Event] = ()) -> SuspendedTurn:
    return SuspendedTurn(
        request=REQUEST,
        state='{"any": "text"}',
        calls=(ASKED, replace(ASKED, call_id="call-2")),
        decisions=(None, Decision.DENY),
        expire_time=MOMENT,
        used_s=0.1 + 0.2,
        earlier_decisions={"call-0": Decision.APPROVE_FOR_SESSION},
        events=logged(events),
    )


@given(st.lists(EVENTS, max_size=8))
def test_a_waiting_turn_survives_as_json(events: list[Event]) -> None:
    turn = suspended(events)
    assert suspended_from_json(suspended_to_json(turn)) == turn


def test_all_decisions_are_those_on_earlier_calls_too() -> None:
    assert suspended().all_decisions == {"call-0": Decision.APPROVE_FOR_SESSION, "call-2": Decision.DENY}


@given(st.lists(EVENTS, max_size=8))
def test_a_log_begins_where_another_one_was(events: list[Event]) -> None:
    log = MemoryTurnLog(100, 100_000)
    for event in events:
        log.append(event)
    again = MemoryTurnLog(100, 100_000, events=log.history())
    assert again.history() == log.history()
    assert (again.last_sequence, again.held_bytes) == (log.last_sequence, log.held_bytes)
    for after in range(len(events) + 1):
        assert again.take(after, 100) == log.take(after, 100)
    assert again.append(TURN_START) == len(events) + 1


@pytest.mark.parametrize("field", ["version", "request", "calls", "decisions", "expire_time", "used_s", "events"])
def test_a_damaged_one_is_refused(field: str) -> None:
    plain = json.loads(suspended_to_json(suspended([TURN_START])))
    for damage in (None, "?", [17], [None]):
        with pytest.raises(SuspensionUnreadable):
            suspended_from_json(json.dumps(plain | {field: damage}))
    del plain[field]
    if field != "used_s":  # what has its usual value is not stored
        with pytest.raises(SuspensionUnreadable):
            suspended_from_json(json.dumps(plain))


def test_what_is_said_of_a_damaged_one_quotes_nothing_of_it() -> None:
    plain = json.loads(suspended_to_json(suspended([TURN_START])))
    plain["request"]["message"] = {"swordfish": "the settlement"}
    with pytest.raises(SuspensionUnreadable) as refused:
        suspended_from_json(json.dumps(plain))
    logged_text = "".join(traceback.format_exception(refused.value))
    assert "ValidationError" in logged_text
    assert "swordfish" not in logged_text


def test_what_gives_access_to_images_is_not_stored() -> None:
    turn = suspended([])
    urls = ("https://a.example/1.png?X-Amz-Signature=5ecre7#frag", "https://a.example/2.png")
    request = replace(turn.request, image_urls=urls, selected_assets=("why?.md", urls[0]))
    text = suspended_to_json(replace(turn, request=request))
    assert "5ecre7" not in text
    restored = suspended_from_json(text).request
    assert restored.image_urls == ("https://a.example/1.png", "https://a.example/2.png")
    assert restored.selected_assets == ("why?.md", "https://a.example/1.png")

"""A turn's events, however often they are sent: the Python client takes each once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_client._reading import Reading
from proviso_client.errors import BrokenStream
from proviso_client.steps import Step, Token
from proviso_client.v1 import chat_pb2 as pb

TURN = "11111111-1111-4111-8111-111111111111"


def event(sequence: int, **kind: object) -> pb.AgentEvent:
    return pb.AgentEvent(turn_id=TURN, sequence=sequence, **kind)  # type: ignore[arg-type]


def token(sequence: int, text: str, first: int = 0, text_id: str = "t") -> pb.AgentEvent:
    return event(sequence, token=pb.Token(text_id=text_id, text=text, first_sequence=first or sequence))


def started() -> pb.AgentEvent:
    return event(1, turn_start=pb.TurnStart())


@st.composite
def turns_with_cuts(draw: st.DrawFn) -> tuple[list[str], list[list[pb.AgentEvent]]]:
    """The tokens of a turn, and what several calls send of it: each from where the last was cut, or from before, with
    tokens joined at random."""
    words = draw(st.lists(st.text(max_size=5), min_size=1, max_size=20))
    calls: list[list[pb.AgentEvent]] = []
    sent, last = 0, len(words) + 2
    while sent < last:
        position, events = sent, list[pb.AgentEvent]()
        upto = last - draw(st.integers(0, last - sent - 1))
        while position < upto:
            if position == 0:
                events.append(started())
                position = 1
            elif position == last - 1:
                events.append(event(last, final_state=pb.FinalState(message="".join(words))))
                position = last
            else:
                end = draw(st.integers(position + 1, last - 1))
                events.append(token(end, "".join(words[position - 1 : end - 1]), position + 1))
                position = end
            if draw(st.booleans()):
                events.append(event(0, heartbeat=pb.Heartbeat()))
        sent = position
        calls.append(events)
        if draw(st.booleans()):
            calls.append(events)  # sent again, as by a proxy that repeats a call
    return words, calls


@given(turns_with_cuts())
def test_text_and_sequence_are_those_of_the_turn(turn: tuple[list[str], list[list[pb.AgentEvent]]]) -> None:
    words, calls = turn
    reading = Reading(pb.ChatRequest(message="Hi"))
    steps: list[Step] = []
    for events in calls:
        for sent in events:
            before = reading.text
            if (step := reading.take(sent)) is not None:
                steps.append(step)
                if isinstance(step, Token):
                    assert reading.text == before + step.text
    assert "".join(step.text for step in steps if isinstance(step, Token)) == "".join(words)
    assert [type(step) for step in steps].count(pb.TurnStart) == 1
    assert reading.final == steps[-1]
    assert reading.sequence == len(words) + 2


def test_a_missing_event_is_not_passed_over() -> None:
    reading = Reading(pb.ChatRequest(message="Hi"))
    reading.take(started())
    with pytest.raises(BrokenStream, match="Event 3 came after event 1"):
        reading.take(token(3, "late"))
    with pytest.raises(BrokenStream):
        reading.take(event(4, tool_start=pb.ToolStart()))


def test_an_event_of_a_kind_from_a_later_contract_counts_but_is_no_step() -> None:
    reading = Reading(pb.ChatRequest(message="Hi"))
    reading.take(started())
    assert reading.take(event(2)) is None
    assert reading.take(token(3, "on")) is not None


def test_the_turn_is_started_until_its_id_is_known_and_then_resumed() -> None:
    leave_out = pb.LeaveOut(history=True)
    request = pb.ChatRequest(message="Hi", request_id="r", options=pb.ChatOptions(leave_out=leave_out))
    reading = Reading(request, user_id="ada")
    reading.learn((("content-type", "application/grpc"),))
    assert reading.next_request() is request
    reading.learn((("proviso-turn-id", TURN),))
    resumed = pb.ResumeChatRequest(turn_id=TURN, user_id="ada", leave_out=leave_out)
    assert reading.next_request() == resumed
    reading.take(started())
    reading.take(token(4, "We supply", 2))
    resumed.after_sequence = 4
    assert reading.next_request() == resumed


@pytest.mark.parametrize(("last", "missed"), [(5, True), (3, False)])
def test_the_stored_end_of_a_turn_says_whether_events_are_missing(last: int, missed: bool) -> None:
    reading = Reading(pb.ChatRequest(message="Hi"))
    reading.take(started())
    reading.take(token(2, "We "))
    final = pb.FinalState(message="We supply goods.")
    stored = pb.GetTurnResponse(turn_id=TURN, last_sequence=last, final_state=final)
    assert reading.take_stored(stored) == final
    assert (reading.text, reading.sequence, reading.events_missed) == ("We supply goods.", last, missed)


@pytest.mark.parametrize(("last", "missed"), [(5, True), (3, False), (2, False)])
def test_a_stored_end_that_the_stream_sends_is_taken_once_whatever_was_read_before(last: int, missed: bool) -> None:
    reading = Reading(pb.ChatRequest(message="Hi"))
    reading.take(started())
    reading.take(token(2, "We "))
    stored = event(last, final_state=pb.FinalState(message="We supply goods."))
    assert reading.take(stored) == stored.final_state
    assert (reading.text, reading.sequence, reading.events_missed) == ("We supply goods.", last, missed)
    assert reading.take(stored) is None


def test_the_stored_end_may_be_all_that_is_sent_of_a_turn() -> None:
    reading = Reading(pb.ChatRequest(message="Hi", request_id="r"))
    reading.take(event(9, final_state=pb.FinalState(message="We supply goods.")))
    assert (reading.turn_id, reading.text, reading.events_missed) == (TURN, "We supply goods.", True)

"""What the Python client asks for after each way in which a stream can end, with either client."""

import time

import grpc
import pytest

from proviso_client import RetryPolicy
from proviso_client.errors import BrokenStream, InternalError, NotFound, QuotaExceeded, TooBusy, Unavailable
from proviso_client.steps import FinalState, Token, TurnStart
from proviso_client.v1 import chat_pb2 as pb
from proviso_service import errors as domain
from proviso_service.api.errors import status_of
from tests.support.client_kinds import Connect
from tests.support.scripted_chat_service import TURN_ID, Reply, scripted_chat_service, token_event, turn_event

QUICK = RetryPolicy(max_attempts=4, first_wait_s=0.001, longest_wait_s=0.002)
START = turn_event(1, turn_start=pb.TurnStart())
WE, SUPPLY = token_event(2, "We "), token_event(3, "supply.")
FINAL = pb.FinalState(message="We supply.")
END = turn_event(4, final_state=FINAL)
ASKED = pb.GetTurnRequest(turn_id=TURN_ID)
RUNNING = pb.GetTurnResponse(turn_id=TURN_ID, state=pb.TURN_STATE_RUNNING, last_sequence=2)
ENDED = pb.GetTurnResponse(turn_id=TURN_ID, state=pb.TURN_STATE_ENDED, last_sequence=4, final_state=FINAL)
BUSY = status_of(domain.TooBusy("Too many calls", 0.001), "r-1")
EXPIRED = status_of(domain.TurnExpired(TURN_ID), "r-1")
USED_UP = status_of(domain.QuotaExceeded("turns a day", 5, "tenants/a", 0.001), "r-1")
FAULT = status_of(RuntimeError(), "r-1")


def resumed(after: int) -> pb.ResumeChatRequest:
    return pb.ResumeChatRequest(turn_id=TURN_ID, after_sequence=after)


@pytest.mark.parametrize(
    "ending",
    [
        grpc.StatusCode.OK,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        BUSY,
    ],
    ids=lambda ending: getattr(ending, "name", "TOO_BUSY"),
)
async def test_a_stream_that_ends_before_its_turn_goes_on_after_the_last_event(
    connect: Connect, ending: grpc.StatusCode
) -> None:
    streams = Reply([START, WE], ending), Reply([], ending), Reply([SUPPLY, END])
    async with (
        scripted_chat_service(*streams, turns=[RUNNING]) as service,
        connect(service.target, retries=QUICK) as client,
    ):
        turn = client.chat("Hi")
        steps = [step async for step in turn]
        assert [type(step) for step in steps] == [TurnStart, Token, Token, FinalState]
        assert turn.text == "We supply."
        assert [request for request in service.asked[1:] if request != ASKED] == [resumed(2), resumed(2)]


@pytest.mark.parametrize("seen", [3, 4])
async def test_a_turn_that_was_seen_to_its_end_gives_its_final_state_at_once(connect: Connect, seen: int) -> None:
    """Also one whose stream ended after it was asked for, which has an event left."""
    streams = [Reply(), Reply([END])]
    async with scripted_chat_service(*streams, turns=[ENDED]) as service, connect(service.target) as client:
        turn = client.resume(TURN_ID, seen)
        assert [step async for step in turn] == [FINAL]
        assert (turn.sequence, turn.events_missed) == (4, False)
        assert service.asked == [resumed(seen), ASKED, resumed(seen)][: 2 if seen == 4 else 3]


async def test_a_turn_that_was_begun_before_the_first_event_is_resumed(connect: Connect) -> None:
    streams = Reply([], grpc.StatusCode.UNAVAILABLE), Reply([START, WE, SUPPLY, END])
    async with scripted_chat_service(*streams) as service, connect(service.target, retries=QUICK) as client:
        assert await client.chat("Hi").result() == FINAL
        assert service.asked[1:] == [resumed(0)]


async def test_a_request_whose_fate_is_unknown_is_sent_again_as_it_was(connect: Connect) -> None:
    streams = Reply([], grpc.StatusCode.UNAVAILABLE, begun=False), Reply([START, WE, SUPPLY, END])
    async with scripted_chat_service(*streams) as service, connect(service.target, retries=QUICK) as client:
        await client.chat("Hi").result()
        first, second = service.asked
        assert first == second
        assert isinstance(first, pb.ChatRequest)
        assert first.request_id


async def test_the_wait_that_the_service_asks_for_is_kept(connect: Connect) -> None:
    busy = status_of(domain.TooBusy("Too many calls", 0.3), "r-1")
    streams = Reply([START, WE], busy), Reply([SUPPLY, END])
    async with scripted_chat_service(*streams) as service, connect(service.target, retries=QUICK) as client:
        before = time.monotonic()
        await client.chat("Hi").result()
        assert time.monotonic() - before >= 0.3


async def test_a_turn_that_a_busy_service_refuses_is_asked_for_again_when_it_is_time_to(connect: Connect) -> None:
    busy = status_of(domain.Overloaded("turns", "tenants/a", 0.3), "r-1")
    replies = Reply([], busy, begun=False), Reply([], busy, begun=False), Reply([START, WE, SUPPLY, END])
    async with scripted_chat_service(*replies) as service, connect(service.target, retries=QUICK) as client:
        before = time.monotonic()
        assert await client.chat("Hi").result()
        assert time.monotonic() - before >= 2 * 0.3
        first, *others = service.asked
        assert others == [first, first]


async def test_a_service_that_stays_busy_is_given_up_on(connect: Connect) -> None:
    replies = [Reply([], BUSY, begun=False)] * QUICK.max_attempts
    async with scripted_chat_service(*replies) as service, connect(service.target, retries=QUICK) as client:
        with pytest.raises(TooBusy):
            await client.chat("Hi").result()
        assert len(service.asked) == QUICK.max_attempts


@pytest.mark.parametrize(("refusal", "kind"), [(USED_UP, QuotaExceeded), (FAULT, InternalError)])
async def test_a_turn_that_is_refused_is_not_asked_for_again(
    connect: Connect, refusal: grpc.StatusCode, kind: type[Exception]
) -> None:
    async with scripted_chat_service(Reply([], refusal, begun=False)) as service, connect(service.target) as client:
        with pytest.raises(kind):
            await client.chat("Hi").result()
        assert len(service.asked) == 1


async def test_attempts_that_bring_nothing_come_to_an_end(connect: Connect) -> None:
    streams = [Reply([START, WE], grpc.StatusCode.UNAVAILABLE), *[Reply([], grpc.StatusCode.UNAVAILABLE)] * 3]
    async with scripted_chat_service(*streams) as service, connect(service.target, retries=QUICK) as client:
        turn = client.chat("Hi")
        with pytest.raises(Unavailable):
            await turn.result()
        assert len(service.asked) == QUICK.max_attempts
        assert (turn.turn_id, turn.sequence, turn.text) == (TURN_ID, 2, "We ")
        assert [step async for step in turn] == []


async def test_a_missing_event_ends_the_reading(connect: Connect) -> None:
    async with scripted_chat_service(Reply([START, SUPPLY, END])) as service, connect(service.target) as client:
        with pytest.raises(BrokenStream, match="Event 3 came after event 1"):
            await client.chat("Hi").result()


async def test_a_turn_whose_events_are_gone_ends_in_its_stored_final_state_once(connect: Connect) -> None:
    streams = Reply([START, WE], grpc.StatusCode.UNAVAILABLE), Reply([], EXPIRED), Reply([], EXPIRED)
    async with scripted_chat_service(*streams, turns=[RUNNING, ENDED]) as service:
        async with connect(service.target, retries=QUICK) as client:
            turn = client.chat("Hi")
            steps = [step async for step in turn]
        assert steps[2:] == [FINAL]
        assert turn.last_event == END
        assert turn.events_missed
        assert service.asked[1:] == [resumed(2), ASKED, resumed(2), ASKED]


async def test_a_turn_that_is_gone_and_never_ends_is_told_as_expired(connect: Connect) -> None:
    attempts = QUICK.max_attempts
    streams, turns = [Reply([], EXPIRED)] * attempts, [RUNNING] * attempts
    async with (
        scripted_chat_service(*streams, turns=turns) as service,
        connect(service.target, retries=QUICK) as client,
    ):
        with pytest.raises(NotFound) as raised:
            await client.resume(TURN_ID).result()
        assert raised.value.reason == "TURN_EXPIRED"


async def test_no_step_is_lost_when_a_cancellation_fails(connect: Connect) -> None:
    async with (
        scripted_chat_service(Reply([START, WE, SUPPLY, END]), cancelling=FAULT) as service,
        connect(service.target) as client,
    ):
        turn = client.chat("Hi")
        await turn.cancel()
        steps = [await anext(turn)]
        with pytest.raises(InternalError):
            await anext(turn)
        steps += [step async for step in turn]
        assert [type(step) for step in steps] == [TurnStart, Token, Token, FinalState]

"""A stream that stays open and falls silent: the Python client goes on with the turn over another."""

# ruff: noqa: N802  methods have the names of the contract

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import grpc
import pytest

from proviso_client import NO_RETRIES, AsyncClient, Client, RetryPolicy
from proviso_client._aio.silence import WatchedCall
from proviso_client._retrying import SILENCE_S
from proviso_client._sync.silence import SilenceWatch
from proviso_client.errors import Silent
from proviso_client.steps import FinalState, Token, TurnStart
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer, add_ChatServiceServicer_to_server
from tests.support.client_kinds import Connect
from tests.support.grpc_servers import serving
from tests.support.scripted_chat_service import TURN_ID, token_event, turn_event

LIMIT_S = 0.2
PATIENT = RetryPolicy(max_attempts=10_000, first_wait_s=0.001, longest_wait_s=0.002, give_up_after_s=300.0)
BEAT = turn_event(0, heartbeat=pb.Heartbeat())
TURN = [
    turn_event(1, turn_start=pb.TurnStart()),
    token_event(2, "We "),
    token_event(3, "supply."),
    turn_event(4, final_state=pb.FinalState(message="We supply.")),
]


class Hushed(ChatServiceServicer):
    """Falls silent in its first call before the turn's id and in its second after it, and after each event in later
    ones. What it sends does not hang on how fast anybody is: a call that comes again gets the same."""

    def __init__(self) -> None:
        self.target = ""
        self.asked: list[Any] = []
        self.left = asyncio.Semaphore(0)
        """Released for each silent call that its reader has ended."""

    async def Chat(self, request: pb.ChatRequest, context: Any) -> AsyncIterator[pb.AgentEvent]:
        self.asked.append(request)
        if len(self.asked) > 1:
            await context.send_initial_metadata((("proviso-turn-id", TURN_ID),))
        await self._hush()
        yield BEAT  # never

    async def ResumeChat(self, request: pb.ResumeChatRequest, context: Any) -> AsyncIterator[pb.AgentEvent]:
        self.asked.append(request)
        event = TURN[request.after_sequence]
        yield event
        if event is not TURN[-1]:
            await self._hush()

    async def _hush(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.left.release()


class Beating(ChatServiceServicer):
    """Gives only heartbeats for three times as long as a stream may be silent, then the turn."""

    async def ResumeChat(self, request: pb.ResumeChatRequest, context: Any) -> AsyncIterator[pb.AgentEvent]:
        loop = asyncio.get_running_loop()
        end = loop.time() + 3 * LIMIT_S
        while loop.time() < end:
            yield BEAT
            await asyncio.sleep(LIMIT_S / 20)
        for event in TURN:
            yield event


@asynccontextmanager
async def hushed() -> AsyncIterator[Hushed]:
    service = Hushed()  # type: ignore[abstract]  # the rest is not asked for
    async with serving(add_ChatServiceServicer_to_server, service) as service.target:
        yield service


async def test_a_turn_goes_on_each_time_its_stream_falls_silent(connect: Connect) -> None:
    async with hushed() as service, connect(service.target, retries=PATIENT, silence_s=LIMIT_S) as client:
        steps = [step async for step in client.chat("Hi")]
        assert [type(step) for step in steps] == [TurnStart, Token, Token, FinalState]
        chats = [request for request in service.asked if isinstance(request, pb.ChatRequest)]
        assert len(chats) >= 2
        assert all(one == other for one, other in pairwise(chats)), "no second turn is begun"
        for _ in service.asked[:-1]:
            await service.left.acquire()


async def test_silence_is_told_where_nothing_is_tried_again(connect: Connect) -> None:
    async with hushed() as service, connect(service.target, retries=NO_RETRIES, silence_s=LIMIT_S) as client:
        with pytest.raises(Silent, match=r"Nothing has come for 0\.2 s"):
            await client.chat("Hi").result()
        await service.left.acquire()


async def test_heartbeats_are_no_silence(connect: Connect) -> None:
    service = Beating()  # type: ignore[abstract]  # the rest is not asked for
    async with (
        serving(add_ChatServiceServicer_to_server, service) as target,
        connect(target, retries=PATIENT, silence_s=LIMIT_S) as client,
    ):
        # A machine that is too busy for a heartbeat in time gives the stream another try.
        final = await client.resume(TURN_ID, timeout_s=60.0).result()
    assert final.message == "We supply."


async def test_a_step_that_was_waited_for_in_vain_is_asked_for_anew_and_is_no_failure() -> None:
    async with hushed() as service, AsyncClient(service.target, retries=NO_RETRIES) as client:
        turn = client.resume(TURN_ID)
        steps = []
        while turn.final is None:
            with suppress(TimeoutError):
                steps.append(await asyncio.wait_for(anext(turn), LIMIT_S))
    assert [type(step) for step in steps] == [TurnStart, Token, Token, FinalState]


class ReadyCall:
    """Its events are there at once."""

    def __init__(self) -> None:
        self.cancelled = False

    async def __aiter__(self) -> AsyncIterator[pb.AgentEvent]:
        for event in TURN:
            yield event

    def cancel(self) -> None:
        self.cancelled = True


async def test_the_time_that_the_caller_takes_over_an_event_is_no_silence() -> None:
    limit_s = 0.01
    call: Any = ReadyCall()
    watched = WatchedCall(call, limit_s)
    for event in TURN:
        assert await watched.next() == event
        await asyncio.sleep(3 * limit_s)
    with pytest.raises(StopAsyncIteration):
        await watched.next()
    assert not call.cancelled


def test_a_thread_that_takes_its_time_over_an_event_is_not_silent() -> None:
    now = 0.0
    watch = SilenceWatch(LIMIT_S, lambda: now)
    call = Call(*TURN)
    watched = watch.over(call)
    assert watched.next() == TURN[0]
    now = 100 * LIMIT_S
    assert watched.left_s() == LIMIT_S
    assert watched.next() == TURN[1]
    watch.close()


@pytest.mark.parametrize("kind", [AsyncClient, Client])
async def test_a_limit_that_would_cut_every_stream_is_refused(kind: type[Client]) -> None:
    with pytest.raises(ValueError, match="silence_s"):
        kind("127.0.0.1:1", silence_s=0.0)


def test_three_heartbeats_may_be_missing() -> None:
    assert SILENCE_S == 45.0


class Call(Iterator[pb.AgentEvent]):
    """Gives its events, then waits until it is cancelled."""

    def __init__(self, *events: pb.AgentEvent) -> None:
        self._events = list(events)
        self._cancelled = threading.Event()

    def __next__(self) -> pb.AgentEvent:
        if self._events:
            return self._events.pop(0)
        self._cancelled.wait()
        raise grpc.RpcError

    def cancel(self) -> None:
        self._cancelled.set()


@pytest.fixture
def watchers() -> Callable[[], list[threading.Thread]]:
    """The threads that watch for silence since the test began."""
    before = set(threading.enumerate())

    def begun() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in before and "silence" in thread.name]

    return begun


def test_the_thread_that_watches_ends_when_nothing_is_waited_for(
    watchers: Callable[[], list[threading.Thread]],
) -> None:
    watch = SilenceWatch(LIMIT_S)
    assert watch.over(Call(*TURN)).next() == TURN[0]
    for thread in watchers():
        thread.join()
    with pytest.raises(Silent):  # and begins again
        watch.over(Call()).next()
    for thread in watchers():
        thread.join()


def test_the_thread_that_watches_ends_with_its_client(watchers: Callable[[], list[threading.Thread]]) -> None:
    watch = SilenceWatch(3_600.0)
    call = watch.over(Call(*TURN))
    call.next()
    watch.close()
    for thread in watchers():
        thread.join()
    other = watch.over(Call(*TURN))
    assert [call.next(), other.next()] == [TURN[1], TURN[0]]
    assert watchers() == []


def test_each_call_is_watched_for_itself() -> None:
    watch = SilenceWatch(LIMIT_S)
    outcomes: list[type] = []

    def wait(call: Call) -> None:
        try:
            watch.over(call).next()
        except (Silent, grpc.RpcError) as failure:
            outcomes.append(type(failure))

    ended, silent = Call(), Call()
    threads = [threading.Thread(target=wait, args=[call]) for call in (ended, silent)]
    for thread in threads:
        thread.start()
    ended.cancel()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == sorted([grpc.RpcError, Silent], key=str)

"""A turn as it is read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

import grpc

from proviso_client._aio.calls import Calls, is_cancelled
from proviso_client._aio.silence import EventCall, WatchedCall
from proviso_client._reading import Reading
from proviso_client._retrying import Deadline, RetryState, is_cut
from proviso_client.errors import BrokenStream, ProvisoError, Silent, error_from
from proviso_client.steps import Step
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub


class AsyncTurn:
    """The steps of a turn, each once and in order, up to its FinalState. Iterate it once.

    The message is sent when the first step is asked for. A connection that breaks is taken up again where it broke.
    Iterating raises ProvisoError when there is no turn, or no way to it for longer than the client's RetryPolicy
    allows; a turn that went wrong ends in a FinalState that says so. Leaving the context detaches from the turn, which
    the request's `on_disconnect` then decides on; `cancel` ends it."""

    def __init__(self, calls: Calls, reading: Reading, timeout_s: float | None = None) -> None:
        self._calls = calls
        self._stub: ChatServiceAsyncStub = ChatServiceStub(calls.channel)
        self._reading = reading
        self._timeout_s = timeout_s
        self._deadline = Deadline(None)
        self._patience = RetryState(calls.retries, self._deadline)
        self._call: WatchedCall | None = None
        self._begun = False
        self._cancel_wanted = False
        self._closed = asyncio.Event()

    @property
    def turn_id(self) -> str:
        """Empty until the service has told it, which it does ahead of the first step."""
        return self._reading.turn_id

    @property
    def sequence(self) -> int:
        """Sequence of the last event; with `turn_id` what `resume` needs to go on from here."""
        return self._reading.sequence

    @property
    def last_event(self) -> pb.AgentEvent | None:
        """The last step in its envelope, to be handed on; None before the first."""
        return self._reading.last_event

    @property
    def text(self) -> str:
        """The text so far, without what was discarded; at the end the final state's message."""
        return self._reading.text

    @property
    def final(self) -> pb.FinalState | None:
        """None until the turn has ended."""
        return self._reading.final

    @property
    def events_missed(self) -> bool:
        """Whether the service was restarted, or this reader away for too long, so that events before the final state
        were no longer kept. The final state is complete all the same."""
        return self._reading.events_missed

    def __aiter__(self) -> AsyncIterator[Step]:
        return self

    async def __anext__(self) -> Step:
        step = await self._next()
        if step is None:
            raise StopAsyncIteration
        return step

    async def result(self) -> pb.FinalState:
        """Reads to the end. Raises ProvisoError as iterating does, and when it was closed before."""
        while await self._next() is not None:
            pass
        if self.final is None:
            raise ProvisoError("The turn was left before its end")
        return self.final

    async def cancel(self) -> None:
        """Ends the turn on the service, which then sends its final state; one that has not begun as soon as it has.
        Raises ProvisoError."""
        self._cancel_wanted = True
        if self.turn_id:
            await self._cancel_now()

    async def close(self) -> None:
        """Stops reading; the turn itself goes on as `on_disconnect` says. What is being asked for meanwhile ends."""
        self._closed.set()
        if self._call is not None:
            self._call.cancel()

    async def __aenter__(self) -> "AsyncTurn":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _next(self) -> Step | None:
        """None at the end."""
        while not self._closed.is_set():
            if self._cancel_wanted and self.turn_id:
                await self._cancel_now()
            try:
                step = self._reading.take(await (self._call or self._connect()).next())
            except StopAsyncIteration:
                if self.final is not None:
                    return None
                step = await self._recover(BrokenStream("The stream ended before the turn did"))
            except BrokenStream:
                await self.close()
                raise
            except Silent as silence:
                step = await self._recover(silence)
            except grpc.RpcError as failure:
                if self.final is not None:
                    return None
                step = await self._recover(_caused(failure))
            except (grpc.aio.UsageError, asyncio.CancelledError):
                if self._closed.is_set() and not is_cancelled():
                    return None
                self._calls.check_open()
                self._call = None  # gRPC has ended the call: the next step is asked for anew
                raise
            else:
                self._patience.progressed()
            if step is not None:
                return step
        return None

    def _connect(self) -> WatchedCall:
        if not self._begun:
            self._begun = True
            self._deadline = Deadline(self._timeout_s)
            self._patience = RetryState(self._calls.retries, self._deadline)
        request, left_s, metadata = self._reading.next_request(), self._deadline.left_s, self._calls.metadata
        call: EventCall
        if isinstance(request, pb.ChatRequest):
            call = self._stub.Chat(request, timeout=left_s, metadata=metadata)
        else:
            call = self._stub.ResumeChat(request, timeout=left_s, metadata=metadata)
        self._call = WatchedCall(call, self._calls.silence_s)
        return self._call

    async def _recover(self, error: ProvisoError) -> Step | None:
        """Waits until another attempt is due; the final state where only that is left to be had. Raises the error where
        there is nothing to wait for."""
        await self._learn()
        self._call = None
        if self._closed.is_set():
            return None
        try:
            if self._reading.may_be_stored(error):
                stored = await self._stored()
                if self._reading.only_its_end_is_left(stored, error):
                    self._closed.set()
                    return self._reading.take_stored(stored)
            elif not is_cut(error, begun=bool(self.turn_id)):
                raise error
            await self._rest(self._patience.wait_s(error))
        except ProvisoError:
            self._closed.set()
            raise
        return None

    async def _learn(self) -> None:
        """The id of a turn that was begun before the connection broke."""
        if self._call is not None and not self.turn_id:
            with suppress(grpc.RpcError):
                self._reading.learn(await self._call.initial_metadata())

    async def _stored(self) -> pb.GetTurnResponse:
        request = pb.GetTurnRequest(turn_id=self.turn_id)
        return await self._calls.unary(self._stub.GetTurn, request, self._deadline.left_s)

    async def _rest(self, wait_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._closed.wait()

    async def _cancel_now(self) -> None:
        self._cancel_wanted = False
        await self._calls.unary(self._stub.CancelTurn, pb.CancelTurnRequest(turn_id=self.turn_id))


def _caused(failure: grpc.RpcError) -> ProvisoError:
    error = error_from(failure)
    error.__cause__ = failure
    return error

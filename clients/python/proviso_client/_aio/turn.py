"""Reads the steps of a turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

import grpc

from proviso_client._aio.calls import Calls, is_cancelled
from proviso_client._aio.silence import EventCall, WatchedCall
from proviso_client._credentials import Metadata
from proviso_client._reading import Reading
from proviso_client._retrying import Deadline, RetryState, is_cut
from proviso_client.errors import BrokenStream, ProvisoError, Silent, Unauthenticated, error_from
from proviso_client.steps import Step
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub


class AsyncTurn:
    """Yields the steps of a turn, each once and in order, up to its FinalState. Iterate over it only once.

    The message is sent when the first step is requested. When the connection breaks, the client connects again and
    continues at the same place. Iterating raises ProvisoError when the turn does not exist, or cannot be reached for
    longer than the client's RetryPolicy allows. A turn that failed ends in a FinalState that says so. Leaving the
    context only stops reading: the request's `on_disconnect` decides whether the turn goes on. `cancel` ends the
    turn."""

    def __init__(self, calls: Calls, reading: Reading, timeout_s: float | None = None) -> None:
        self._calls = calls
        self._stub: ChatServiceAsyncStub = ChatServiceStub(calls.channel)
        self._reading = reading
        self._timeout_s = timeout_s
        self._deadline = Deadline(None)
        self._patience = RetryState(calls.retries, self._deadline)
        self._call: WatchedCall | None = None
        self._begun = False
        self._metadata: Metadata = ()
        self._renewable = True
        self._cancel_wanted = False
        self._closed = asyncio.Event()

    @property
    def turn_id(self) -> str:
        """Returns the turn's id. It is empty until the service has sent it, which happens before the first step."""
        return self._reading.turn_id

    @property
    def sequence(self) -> int:
        """Returns the sequence number of the last event. Pass it to `resume` with `turn_id` to continue from here."""
        return self._reading.sequence

    @property
    def last_event(self) -> pb.AgentEvent | None:
        """Returns the last step inside its event, for passing it on to others, or None when no step has been read."""
        return self._reading.last_event

    @property
    def text(self) -> str:
        """Returns the text so far without discarded parts, or the final state's message when the turn has ended."""
        return self._reading.text

    @property
    def final(self) -> pb.FinalState | None:
        """Returns the final state, or None until the turn has ended."""
        return self._reading.final

    @property
    def events_missed(self) -> bool:
        """Returns whether events before the final state were lost, because the service was restarted or this reader was
        disconnected for too long. The final state is complete even then."""
        return self._reading.events_missed

    def __aiter__(self) -> AsyncIterator[Step]:
        return self

    async def __anext__(self) -> Step:
        step = await self._next()
        if step is None:
            raise StopAsyncIteration
        return step

    async def result(self) -> pb.FinalState:
        """Reads the turn to its end and returns the final state. Raises ProvisoError as iterating does, and also when
        the turn was closed before its end."""
        while await self._next() is not None:
            pass
        if self.final is None:
            raise ProvisoError("The turn was left before its end")
        return self.final

    async def cancel(self) -> None:
        """Ends the turn on the service, which then sends its final state. A turn that has not begun is ended as soon as
        it begins. Raises ProvisoError when the call fails."""
        self._cancel_wanted = True
        if self.turn_id:
            await self._cancel_now()

    async def close(self) -> None:
        """Stops reading, and ends a request for a step that is under way. The request's `on_disconnect` decides whether
        the turn itself goes on."""
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
        """Returns the next step, or None when the turn has ended or was closed."""
        while not self._closed.is_set():
            if self._cancel_wanted and self.turn_id:
                await self._cancel_now()
            try:
                step = self._reading.take(await (self._call or await self._connect()).next())
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
                self._call = None  # gRPC has ended the call, so the next step needs a new one
                raise
            else:
                self._patience.progressed()
                self._renewable = True
            if step is not None:
                return step
        return None

    async def _connect(self) -> WatchedCall:
        if not self._begun:
            self._begun = True
            self._deadline = Deadline(self._timeout_s)
            self._patience = RetryState(self._calls.retries, self._deadline)
        metadata = self._metadata = (*(await self._calls.call_metadata(self._deadline.left_s)), *self._reading.matter)
        request, left_s = self._reading.next_request(), self._deadline.left_s
        call: EventCall
        if isinstance(request, pb.ChatRequest):
            call = self._stub.Chat(request, timeout=left_s, metadata=metadata)
        else:
            call = self._stub.ResumeChat(request, timeout=left_s, metadata=metadata)
        self._call = WatchedCall(call, self._calls.silence_s)
        return self._call

    async def _recover(self, error: ProvisoError) -> Step | None:
        """Waits until the next attempt is due and returns None. Returns the final state instead when nothing else is
        left to read. Raises the error when another attempt is pointless."""
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
            elif self._renews_token(error):
                return None
            elif not is_cut(error, begun=bool(self.turn_id)):
                raise error
            await self._rest(self._patience.wait_s(error))
        except ProvisoError:
            self._closed.set()
            raise
        return None

    async def _learn(self) -> None:
        """Stores the id of a turn that began before the connection broke."""
        if self._call is not None and not self.turn_id:
            with suppress(grpc.RpcError):
                self._reading.learn(await self._call.initial_metadata())

    def _renews_token(self, error: ProvisoError) -> bool:
        """Returns whether the next attempt has a new token in place of the one that was refused."""
        if not (self._renewable and isinstance(error, Unauthenticated) and self._calls.tokens.renews(self._metadata)):
            return False
        self._renewable = False
        return True

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

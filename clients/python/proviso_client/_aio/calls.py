"""Makes the calls to the service: adds the user, the metadata and a time limit, and raises typed errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from proviso_client._aio.tokens import Tokens
from proviso_client._credentials import Metadata, user_metadata
from proviso_client._requests import for_user, matter_metadata
from proviso_client._retrying import NO_RETRIES, Deadline, RetryPolicy, RetryState, is_busy, passes
from proviso_client.errors import Cancelled, ErrorDetails, ProvisoError, Unauthenticated, error_from

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Calls:
    """Holds a channel and the settings of every call over it. `timeout_s` applies to calls without a limit of their
    own."""

    channel: grpc.aio.Channel
    user_id: str
    metadata: Metadata = field(repr=False)
    timeout_s: float
    retries: RetryPolicy
    silence_s: float
    tokens: Tokens = field(repr=False)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        self.closed.set()
        await self.channel.close()

    def check_open(self) -> None:
        """Raises Cancelled when the client has been closed. Callers use it because gRPC's own error would look like a
        cancelled task or a programming error."""
        if self.closed.is_set() and not is_cancelled():
            raise Cancelled("The client was closed", ErrorDetails(grpc.StatusCode.CANCELLED))

    async def call_metadata(self, limit_s: float | None = None) -> Metadata:
        """Returns the metadata of one call: the caller's own, the user and the token."""
        token = await self.tokens.metadata(self.timeout_s if limit_s is None else limit_s)
        return (*self.metadata, *user_metadata(self.user_id), *token)

    async def unary(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
        *,
        repeatable: bool = True,
    ) -> ResponseT:
        """Makes a call and returns its answer. Repeats a `repeatable` call while the service is unavailable. Raises
        ProvisoError when the call fails."""
        asked = for_user(request, self.user_id)
        matter = matter_metadata(asked)

        async def attempt(left_s: float, metadata: Metadata) -> ResponseT:
            return await method(asked, timeout=left_s, metadata=(*metadata, *matter))

        return await self.attempts(attempt, timeout_s, repeatable=repeatable)

    async def stream(
        self,
        method: "grpc.aio.UnaryStreamMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
    ) -> AsyncIterator[ResponseT]:
        """Yields the messages of a stream. Raises ProvisoError when the stream fails. When the service refuses the
        token, the stream is opened once more with a new one; when it is too busy, once it is time to."""
        asked, renewable, nothing_came = for_user(request, self.user_id), True, True
        patience = RetryState(self.retries, Deadline(timeout_s))
        while True:
            metadata = await self.call_metadata(timeout_s)
            try:
                call = method(asked, timeout=timeout_s, metadata=(*metadata, *matter_metadata(asked)))
            except grpc.aio.UsageError:
                self.check_open()
                raise
            try:
                async for message in call:
                    renewable = nothing_came = False
                    yield message
            except grpc.RpcError as failure:
                error = error_from(failure)
                if nothing_came and is_busy(error):
                    await asyncio.sleep(patience.wait_s(error))
                elif not (renewable and isinstance(error, Unauthenticated) and self.tokens.renews(metadata)):
                    raise error from failure
                else:
                    renewable = False
            except asyncio.CancelledError:
                self.check_open()
                raise
            else:
                return
            finally:
                call.cancel()

    async def pages(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[RequestT, Any]",
        request: RequestT,
        items: Callable[[Any], Sequence[ItemT]],
        timeout_s: float | None = None,
    ) -> AsyncIterator[ItemT]:
        """Yields the items of all pages. Requests each page only when it is needed; `timeout_s` applies to each
        request. Raises ProvisoError when a request fails."""
        asked: Any = request
        while True:
            page = await self.unary(method, asked, timeout_s)
            for item in items(page):
                yield item
            if not page.next_page_token:
                return
            asked.page_token = page.next_page_token

    async def attempts(
        self,
        attempt: Callable[[float, Metadata], Awaitable[ResultT]],
        timeout_s: float | None = None,
        *,
        repeatable: bool = True,
        renewable: bool = True,
    ) -> ResultT:
        """Returns the result of the first attempt that succeeds. Passes to each attempt the number of seconds that are
        left, and the call's metadata. A `renewable` call is repeated once with a new token when the service refuses the
        first one, which it does before it has done anything. Raises ProvisoError when no further attempt is worth
        making."""
        deadline = Deadline(self.timeout_s if timeout_s is None else timeout_s)
        patience = RetryState(self.retries if repeatable else NO_RETRIES, deadline)
        while True:
            metadata: Metadata = ()
            try:
                metadata = await self.call_metadata(deadline.left_s)
                return await attempt(deadline.left_s or 0.0, metadata)
            except grpc.RpcError as failure:
                error = error_from(failure)
                error.__cause__ = failure
            except ProvisoError as failed:
                error = failed
            except (grpc.aio.UsageError, asyncio.CancelledError):
                self.check_open()
                raise
            if renewable and isinstance(error, Unauthenticated) and self.tokens.renews(metadata):
                renewable = False
                continue
            if not passes(error):
                raise error
            await asyncio.sleep(patience.wait_s(error))


def is_cancelled() -> bool:
    """Returns whether the current task itself is being cancelled, rather than a call that the task waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

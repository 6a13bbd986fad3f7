"""How the client calls the service: with its user, its metadata, a time limit, and typed errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from proviso_client._requests import for_user
from proviso_client._retrying import NO_RETRIES, Deadline, RetryPolicy, RetryState, passes
from proviso_client.errors import Cancelled, ErrorDetails, ProvisoError, error_from

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """A channel, and what goes with every call over it. `timeout_s` is for calls that are given no other."""

    channel: grpc.aio.Channel
    user_id: str
    metadata: Metadata = field(repr=False)
    timeout_s: float
    retries: RetryPolicy
    silence_s: float
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        self.closed.set()
        await self.channel.close()

    def check_open(self) -> None:
        """Raises Cancelled once the client is closed: what gRPC raises then would pass for a cancelled task, or for a
        fault of the program."""
        if self.closed.is_set() and not is_cancelled():
            raise Cancelled("The client was closed", ErrorDetails(grpc.StatusCode.CANCELLED))

    async def unary(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
        *,
        repeatable: bool = True,
    ) -> ResponseT:
        """The answer. A call that is `repeatable` is made again while the service is unavailable. Raises
        ProvisoError."""
        asked = for_user(request, self.user_id)

        async def attempt(left_s: float) -> ResponseT:
            return await method(asked, timeout=left_s, metadata=self.metadata)

        return await self.attempts(attempt, timeout_s, repeatable=repeatable)

    async def stream(
        self,
        method: "grpc.aio.UnaryStreamMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
    ) -> AsyncIterator[ResponseT]:
        """The messages of a stream. Raises ProvisoError."""
        try:
            call = method(for_user(request, self.user_id), timeout=timeout_s, metadata=self.metadata)
        except grpc.aio.UsageError:
            self.check_open()
            raise
        try:
            async for message in call:
                yield message
        except grpc.RpcError as failure:
            raise error_from(failure) from failure
        except asyncio.CancelledError:
            self.check_open()
            raise
        finally:
            call.cancel()

    async def pages(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[RequestT, Any]",
        request: RequestT,
        items: Callable[[Any], Sequence[ItemT]],
        timeout_s: float | None = None,
    ) -> AsyncIterator[ItemT]:
        """The items of all pages, each page asked for when it is needed; `timeout_s` is for each. Raises
        ProvisoError."""
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
        attempt: Callable[[float], Awaitable[ResultT]],
        timeout_s: float | None = None,
        *,
        repeatable: bool = True,
    ) -> ResultT:
        """The result of the first attempt that succeeds; each is given the seconds that are left. Raises
        ProvisoError."""
        deadline = Deadline(self.timeout_s if timeout_s is None else timeout_s)
        patience = RetryState(self.retries if repeatable else NO_RETRIES, deadline)
        while True:
            try:
                return await attempt(deadline.left_s or 0.0)
            except grpc.RpcError as failure:
                error = error_from(failure)
                error.__cause__ = failure
            except ProvisoError as failed:
                error = failed
            except (grpc.aio.UsageError, asyncio.CancelledError):
                self.check_open()
                raise
            if not passes(error):
                raise error
            await asyncio.sleep(patience.wait_s(error))


def is_cancelled() -> bool:
    """Whether the running task itself is, rather than a call that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

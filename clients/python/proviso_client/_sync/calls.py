"""Makes the calls to the service: adds the user, the metadata and a time limit, and raises typed errors."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from proviso_client._credentials import Metadata, user_metadata
from proviso_client._requests import for_user, matter_metadata
from proviso_client._retrying import NO_RETRIES, Deadline, RetryPolicy, RetryState, is_busy, passes
from proviso_client._sync.silence import SilenceWatch
from proviso_client._sync.tokens import Tokens
from proviso_client.errors import Cancelled, ErrorDetails, ProvisoError, Unauthenticated, error_from

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Calls:
    """Holds a channel and the settings of every call over it. `timeout_s` applies to calls without a limit of their
    own."""

    channel: grpc.Channel
    user_id: str
    metadata: Metadata = field(repr=False)
    timeout_s: float
    retries: RetryPolicy
    silence: SilenceWatch
    tokens: Tokens = field(repr=False)
    closed: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        self.closed.set()
        self.silence.close()
        self.channel.close()

    def check_open(self) -> None:
        """Raises Cancelled when the client has been closed. Callers use it because gRPC raises ValueError in that case,
        which it also raises for other reasons."""
        if self.closed.is_set():
            raise Cancelled("The client was closed", ErrorDetails(grpc.StatusCode.CANCELLED))

    def call_metadata(self) -> Metadata:
        """Returns the metadata of one call: the caller's own, the user and the token."""
        token = self.tokens.metadata()
        return (*self.metadata, *user_metadata(self.user_id), *token)

    def unary(
        self,
        method: "grpc.UnaryUnaryMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
        *,
        repeatable: bool = True,
    ) -> ResponseT:
        """Makes a call and returns its answer. Repeats a `repeatable` call while the service is unavailable. Raises
        ProvisoError when the call fails."""
        asked = for_user(request, self.user_id)
        matter = matter_metadata(asked)

        def attempt(left_s: float, metadata: Metadata) -> ResponseT:
            return method(asked, timeout=left_s, metadata=(*metadata, *matter))

        return self.attempts(attempt, timeout_s, repeatable=repeatable)

    def stream(
        self,
        method: "grpc.UnaryStreamMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        timeout_s: float | None = None,
    ) -> Iterator[ResponseT]:
        """Yields the messages of a stream. Raises ProvisoError when the stream fails. When the service refuses the
        token, the stream is opened once more with a new one; when it is too busy, once it is time to."""
        asked, renewable, nothing_came = for_user(request, self.user_id), True, True
        patience = RetryState(self.retries, Deadline(timeout_s))
        while True:
            metadata = self.call_metadata()
            try:
                call = method(asked, timeout=timeout_s, metadata=(*metadata, *matter_metadata(asked)))
            except ValueError:
                self.check_open()
                raise
            try:
                for message in call:
                    renewable = nothing_came = False
                    yield message
            except grpc.RpcError as failure:
                error = error_from(failure)
                if nothing_came and is_busy(error):
                    self.closed.wait(patience.wait_s(error))
                elif not (renewable and isinstance(error, Unauthenticated) and self.tokens.renews(metadata)):
                    raise error from failure
                else:
                    renewable = False
            else:
                return
            finally:
                call.cancel()

    def pages(
        self,
        method: "grpc.UnaryUnaryMultiCallable[RequestT, Any]",
        request: RequestT,
        items: Callable[[Any], Sequence[ItemT]],
        timeout_s: float | None = None,
    ) -> Iterator[ItemT]:
        """Yields the items of all pages. Requests each page only when it is needed; `timeout_s` applies to each
        request. Raises ProvisoError when a request fails."""
        asked: Any = request
        while True:
            page = self.unary(method, asked, timeout_s)
            yield from items(page)
            if not page.next_page_token:
                return
            asked.page_token = page.next_page_token

    def attempts(
        self,
        attempt: Callable[[float, Metadata], ResultT],
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
                metadata = self.call_metadata()
                return attempt(deadline.left_s or 0.0, metadata)
            except grpc.RpcError as failure:
                error = error_from(failure)
                error.__cause__ = failure
            except ProvisoError as failed:
                error = failed
            except ValueError:
                self.check_open()
                raise
            if renewable and isinstance(error, Unauthenticated) and self.tokens.renews(metadata):
                renewable = False
                continue
            if not passes(error):
                raise error
            self.closed.wait(patience.wait_s(error))

"""The client itself."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

import grpc

from proviso_client._aio.calls import Calls
from proviso_client._aio.catalog import AsyncCatalog
from proviso_client._aio.documents import AsyncDocuments
from proviso_client._aio.matters import AsyncMatters
from proviso_client._aio.sessions import AsyncSessions
from proviso_client._aio.tools import AsyncTools
from proviso_client._aio.turn import AsyncTurn
from proviso_client._channel import Options, channel_options, check_plaintext
from proviso_client._reading import Reading
from proviso_client._requests import ChatFields, chat_request, for_user
from proviso_client._retrying import SILENCE_S, RetryPolicy, check_silence
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.maintenance_pb2 import RebuildIndexRequest, RebuildIndexResponse
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceStub
from proviso_client.v1.turns_pb2 import ToolCallDecision

if TYPE_CHECKING:  # exist for type checkers only
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub
    from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceAsyncStub


class AsyncClient:
    """Talks to a Proviso service at `target`, as "127.0.0.1:50051". Use it as a context manager, or close it.

    `user_id` says for whom, where the credential does not. `credentials` are for TLS; without them the target has to
    be on this machine, unless `insecure` allows a connection without encryption. `metadata` goes with every call;
    `timeout_s` is for calls that are given no other, except streams; `retries` says how connections that break are
    taken up again, `silence_s` after how long without an event or a heartbeat the stream of a turn counts as broken;
    `options` are gRPC's own, for the channel.

    Every method raises ProvisoError, by the classes of `proviso_client.errors`."""

    def __init__(
        self,
        target: str,
        *,
        user_id: str = "",
        credentials: grpc.ChannelCredentials | None = None,
        insecure: bool = False,
        metadata: Sequence[tuple[str, str | bytes]] = (),
        timeout_s: float = 60.0,
        retries: RetryPolicy | None = None,
        silence_s: float = SILENCE_S,
        options: Options = (),
    ) -> None:
        check_silence(silence_s)
        chosen = channel_options(options)
        if credentials is None:
            check_plaintext(target, insecure=insecure)
            channel = grpc.aio.insecure_channel(target, options=chosen)
        else:
            channel = grpc.aio.secure_channel(target, credentials, options=chosen)
        self._owns_channel = True
        self._use(Calls(channel, user_id, tuple(metadata), timeout_s, retries or RetryPolicy(), silence_s))

    def for_user(self, user_id: str) -> "AsyncClient":
        """The same for another user, over the same connection, which stays this client's to close."""
        other = object.__new__(type(self))
        other._owns_channel = False
        other._use(replace(self._calls, user_id=user_id))
        return other

    def chat(self, message: str, *, timeout_s: float | None = None, **fields: Unpack[ChatFields]) -> AsyncTurn:
        """A turn to be iterated: the message is sent when its first step is asked for. `timeout_s` is for all of the
        reading; without one it takes as long as the turn does."""
        request = for_user(chat_request(message, fields), self._calls.user_id)
        return AsyncTurn(self._calls, Reading(request, user_id=request.user_id), timeout_s)

    def resume(self, turn_id: str, after_sequence: int = 0, *, timeout_s: float | None = None) -> AsyncTurn:
        """The rest of a turn that was begun elsewhere, after the last event that was seen; all of it after 0."""
        return AsyncTurn(self._calls, Reading(None, turn_id, after_sequence, self._calls.user_id), timeout_s)

    async def invoke(
        self, message: str, *, timeout_s: float | None = None, **fields: Unpack[ChatFields]
    ) -> pb.InvokeResponse:
        """Runs a turn in one call. The turn is cancelled when the call is, by its time limit too or when the connection
        breaks; `chat(...).result()` bears that. Without `timeout_s` it takes as long as the turn does."""
        request = chat_request(message, fields)
        limit_s = timeout_s if timeout_s is not None else _LONGEST_TURN_S
        return await self._calls.unary(self._stub.Invoke, request, limit_s, repeatable=False)

    async def get_turn(self, turn_id: str, *, timeout_s: float | None = None) -> pb.GetTurnResponse:
        """Where a turn is, and its final state once it has ended."""
        return await self._calls.unary(self._stub.GetTurn, pb.GetTurnRequest(turn_id=turn_id), timeout_s)

    async def cancel_turn(self, turn_id: str, *, timeout_s: float | None = None) -> bool:
        """Ends a running turn; whether this call did."""
        request = pb.CancelTurnRequest(turn_id=turn_id)
        return (await self._calls.unary(self._stub.CancelTurn, request, timeout_s)).cancelled

    async def decide(
        self,
        turn_id: str,
        call_id: str,
        decision: ToolCallDecision | str,
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Decides on a tool call that a turn waits for (step ApprovalRequired). Raises FailedPrecondition when it does
        not."""
        request = pb.DecideToolCallRequest(turn_id=turn_id, call_id=call_id, decision=decision)
        await self._calls.unary(self._stub.DecideToolCall, request, timeout_s)

    async def approve(
        self, turn_id: str, call_id: str, *, for_session: bool = False, timeout_s: float | None = None
    ) -> None:
        """Lets a call be made; with `for_session` later ones of the same tool in the session too."""
        scope = "FOR_SESSION" if for_session else "ONCE"
        await self.decide(turn_id, call_id, f"TOOL_CALL_DECISION_APPROVE_{scope}", timeout_s=timeout_s)

    async def deny(self, turn_id: str, call_id: str, *, timeout_s: float | None = None) -> None:
        """Keeps a call from being made; the turn goes on without it."""
        await self.decide(turn_id, call_id, "TOOL_CALL_DECISION_DENY", timeout_s=timeout_s)

    def rebuild_index(self, *, timeout_s: float | None = None) -> AsyncIterator[RebuildIndexResponse]:
        """Makes the vector index anew, and tells how far it is. Raises FailedPrecondition when it is being made
        already."""
        stub: MaintenanceServiceAsyncStub = MaintenanceServiceStub(self._calls.channel)
        return self._calls.stream(stub.RebuildIndex, RebuildIndexRequest(), timeout_s)

    async def close(self) -> None:
        """Ends every call and closes the connection."""
        if self._owns_channel:
            await self._calls.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _use(self, calls: Calls) -> None:
        self._calls = calls
        self._stub: ChatServiceAsyncStub = ChatServiceStub(calls.channel)
        self.sessions = AsyncSessions(calls)
        self.matters = AsyncMatters(calls)
        self.documents = AsyncDocuments(calls)
        self.tools = AsyncTools(calls)
        self.catalog = AsyncCatalog(calls)


_LONGEST_TURN_S = 3_600.0
"""Above what the service allows a turn, with the time that people take for approvals."""

"""Defines the client, which gives access to all services."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Unpack

import grpc

from proviso_client._channel import Options, channel_options
from proviso_client._credentials import TlsCredentials, channel_credentials, has_authorization, user_metadata
from proviso_client._reading import Reading
from proviso_client._requests import ChatFields, chat_request, enum_value, for_user
from proviso_client._retrying import SILENCE_S, RetryPolicy, check_silence
from proviso_client._sync.calls import Calls
from proviso_client._sync.catalog import Catalog
from proviso_client._sync.documents import Documents
from proviso_client._sync.matters import Matters
from proviso_client._sync.sessions import Sessions
from proviso_client._sync.silence import SilenceWatch
from proviso_client._sync.tokens import Tokens, TokenSource
from proviso_client._sync.tools import Tools
from proviso_client._sync.turn import Turn
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.access_pb2 import (
    AuditEvent,
    AuditFilter,
    Deletion,
    GetCallerRequest,
    GetCallerResponse,
    GetDeletionRequest,
    GetUsageRequest,
    ListAuditEventsRequest,
    ListDeletionsRequest,
    QuotaUsage,
)
from proviso_client.v1.access_pb2_grpc import AccessServiceStub
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.maintenance_pb2 import (
    CancelJobRequest,
    Job,
    ListJobsRequest,
    ListRatingsRequest,
    RatedAnswer,
    RebuildIndexRequest,
    RebuildIndexResponse,
    RetryJobRequest,
)
from proviso_client.v1.maintenance_pb2_grpc import MaintenanceServiceStub
from proviso_client.v1.matters_pb2 import Document
from proviso_client.v1.sessions_pb2 import RATING_UNSPECIFIED, Rating
from proviso_client.v1.turns_pb2 import ToolCallDecision


class Client:
    """Talks to a Proviso service at `target`, for example "127.0.0.1:50051". Use it as a context manager, or close it.

    `token` is an API key or a JSON Web Token, or a function that returns one. The function is asked
    before every call, unless it returned an AccessToken that has not expired, and once more when the service refuses a
    token. `user_id` names the user for whom the client acts, which needs a credential with the role "act for users".
    `credentials` turn on TLS. Without them the target has to be on this machine, unless `insecure` allows a connection
    without encryption; over such a connection a token is sent only with `insecure_token`.

    `metadata` is sent with every call. `timeout_s` is the time limit of calls that are given no other; it does not
    apply to streams. `retries` says how often and how long the client tries again after a connection breaks. The
    stream of a turn counts as broken after `silence_s` seconds without an event or a heartbeat. `options` are passed
    to the gRPC channel.

    Every method raises ProvisoError when its call fails; `proviso_client.errors` has a subclass for each kind of
    failure."""

    def __init__(
        self,
        target: str,
        *,
        user_id: str = "",
        token: TokenSource = "",
        credentials: grpc.ChannelCredentials | TlsCredentials | None = None,
        insecure: bool = False,
        insecure_token: bool = False,
        metadata: Sequence[tuple[str, str | bytes]] = (),
        timeout_s: float = 60.0,
        retries: RetryPolicy | None = None,
        silence_s: float = SILENCE_S,
        options: Options = (),
    ) -> None:
        check_silence(silence_s)
        chosen = channel_options(options)
        user_metadata(user_id)
        has_token = bool(token) or has_authorization(metadata)
        secure = channel_credentials(
            target, credentials, insecure=insecure, insecure_token=insecure_token, has_token=has_token
        )
        if secure is None:
            channel = grpc.insecure_channel(target, options=chosen)
        else:
            channel = grpc.secure_channel(target, secure, options=chosen)
        self._owns_channel = True
        silence = SilenceWatch(silence_s)
        self._use(Calls(channel, user_id, tuple(metadata), timeout_s, retries or RetryPolicy(), silence, Tokens(token)))

    def for_user(self, user_id: str) -> "Client":
        """Returns a client for another user over the same connection. Only closing this client closes the
        connection."""
        user_metadata(user_id)
        other = object.__new__(type(self))
        other._owns_channel = False
        other._use(replace(self._calls, user_id=user_id))
        return other

    def chat(self, message: str, *, timeout_s: float | None = None, **fields: Unpack[ChatFields]) -> Turn:
        """Returns a turn to iterate over. The message is sent when the first step is requested. `timeout_s` limits the
        reading of the whole turn; without it, reading takes as long as the turn does."""
        request = for_user(chat_request(message, fields), self._calls.user_id)
        return Turn(self._calls, Reading(request, user_id=request.user_id), timeout_s)

    def resume(
        self,
        turn_id: str,
        after_sequence: int = 0,
        *,
        leave_out: pb.LeaveOut | None = None,
        timeout_s: float | None = None,
    ) -> Turn:
        """Returns the rest of a turn that was started elsewhere. Its steps begin after the event `after_sequence`; with
        0 the whole turn is read. `leave_out` says what of the steps is not sent."""
        reading = Reading(None, turn_id, after_sequence, self._calls.user_id, leave_out)
        return Turn(self._calls, reading, timeout_s)

    def get_caller(self, *, timeout_s: float | None = None) -> GetCallerResponse:
        """Returns what the service makes of the credentials: the tenant, the user and the roles."""
        stub = AccessServiceStub(self._calls.channel)
        return self._calls.unary(stub.GetCaller, GetCallerRequest(), timeout_s)

    def get_usage(self, *, timeout_s: float | None = None) -> Sequence[QuotaUsage]:
        """Returns what the caller's tenant may use and has used. Raises PermissionDenied for all but administrators."""
        stub = AccessServiceStub(self._calls.channel)
        return (self._calls.unary(stub.GetUsage, GetUsageRequest(), timeout_s)).usage

    def invoke(
        self, message: str, *, timeout_s: float | None = None, **fields: Unpack[ChatFields]
    ) -> pb.InvokeResponse:
        """Runs a turn in one call and returns its outcome. The service cancels the turn when the call is cancelled,
        exceeds its time limit or loses its connection; use `chat(...).result()` to survive a lost connection. Without
        `timeout_s` the call takes as long as the turn does."""
        request = chat_request(message, fields)
        limit_s = timeout_s if timeout_s is not None else _LONGEST_TURN_S
        return self._calls.unary(self._stub.Invoke, request, limit_s, repeatable=False)

    def get_turn(self, turn_id: str, *, timeout_s: float | None = None) -> pb.GetTurnResponse:
        """Returns the progress of a turn, and its final state when it has ended."""
        return self._calls.unary(self._stub.GetTurn, pb.GetTurnRequest(turn_id=turn_id), timeout_s)

    def cancel_turn(self, turn_id: str, *, timeout_s: float | None = None) -> bool:
        """Ends a running turn. Returns whether this call ended it."""
        request = pb.CancelTurnRequest(turn_id=turn_id)
        return self._calls.unary(self._stub.CancelTurn, request, timeout_s).cancelled

    def decide(
        self,
        turn_id: str,
        call_id: str,
        decision: ToolCallDecision | str,
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Decides on a tool call for which a turn is waiting (step ApprovalRequired). Raises FailedPrecondition when
        the turn is not waiting for a decision on this call."""
        request = pb.DecideToolCallRequest(turn_id=turn_id, call_id=call_id, decision=decision)
        self._calls.unary(self._stub.DecideToolCall, request, timeout_s)

    def approve(self, turn_id: str, call_id: str, *, for_session: bool = False, timeout_s: float | None = None) -> None:
        """Allows a tool call. With `for_session`, also allows later calls of the same tool in the session."""
        scope = "FOR_SESSION" if for_session else "ONCE"
        self.decide(turn_id, call_id, f"TOOL_CALL_DECISION_APPROVE_{scope}", timeout_s=timeout_s)

    def deny(self, turn_id: str, call_id: str, *, timeout_s: float | None = None) -> None:
        """Refuses a tool call. The turn goes on without it."""
        self.decide(turn_id, call_id, "TOOL_CALL_DECISION_DENY", timeout_s=timeout_s)

    def rebuild_index(
        self, *, embed: bool = False, forget_others: bool = False, timeout_s: float | None = None
    ) -> Iterator[RebuildIndexResponse]:
        """Builds the search index again and yields its progress. With `embed`, it embeds what the embedder in use has
        not, instead, and with `forget_others` it deletes the vectors of other models in the end. Raises
        FailedPrecondition when the index is already being built."""
        stub = MaintenanceServiceStub(self._calls.channel)
        return self._calls.stream(
            stub.RebuildIndex, RebuildIndexRequest(embed=embed, forget_others=forget_others), timeout_s
        )

    def ratings(
        self, rating: Rating | str = RATING_UNSPECIFIED, *, page_size: int = 0, timeout_s: float | None = None
    ) -> Iterator[RatedAnswer]:
        """Yields what the users of all tenants said of answers, newest first, and requests each page when it is needed.
        With `rating`, which is "up", "down" or a Rating, yields only these."""
        stub = MaintenanceServiceStub(self._calls.channel)
        request = ListRatingsRequest(rating=enum_value("RATING", rating), page_size=page_size)
        return self._calls.pages(stub.ListRatings, request, lambda page: page.ratings, timeout_s)

    def jobs(self, *, failed_only: bool = False, page_size: int = 0, timeout_s: float | None = None) -> Iterator[Job]:
        """Yields the documents of the caller's tenant that are not READY, oldest first, with the processes at work on
        them, and requests each page when it is needed."""
        stub = MaintenanceServiceStub(self._calls.channel)
        request = ListJobsRequest(failed_only=failed_only, page_size=page_size)
        return self._calls.pages(stub.ListJobs, request, lambda page: page.jobs, timeout_s)

    def retry_job(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> Document:
        """Has a FAILED document ingested once more, and returns the document."""
        stub = MaintenanceServiceStub(self._calls.channel)
        request = RetryJobRequest(matter_id=matter_id, document_id=document_id)
        return self._calls.unary(stub.RetryJob, request, timeout_s).document

    def cancel_job(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> Document:
        """Ends the ingestion of a document, which is FAILED then, and returns the document."""
        stub = MaintenanceServiceStub(self._calls.channel)
        request = CancelJobRequest(matter_id=matter_id, document_id=document_id)
        return self._calls.unary(stub.CancelJob, request, timeout_s).document

    def audit_events(
        self,
        *,
        matter_id: str = "",
        user_id: str = "",
        method: str = "",
        start: datetime | None = None,
        end: datetime | None = None,
        page_size: int = 0,
        timeout_s: float | None = None,
    ) -> Iterator[AuditEvent]:
        """Yields what was done in the caller's tenant, newest first, and requests each page when it is needed. Yields
        only what concerns the matter, was done by the user or by the method ("MatterService/DeleteMatter"), at `start`
        or later and before `end`; these have a time zone. Needs the role auditor."""
        stub = AccessServiceStub(self._calls.channel)
        wanted = AuditFilter(matter_id=matter_id, user_id=user_id, method=method, start_time=start, end_time=end)
        request = ListAuditEventsRequest(filter=wanted, page_size=page_size)
        return self._calls.pages(stub.ListAuditEvents, request, lambda page: page.events, timeout_s)

    def get_deletion(self, deletion_id: str, *, timeout_s: float | None = None) -> Deletion:
        """Returns the receipt of a deletion; its `complete_time` is set once nothing is left in any file. Raises
        NotFound for a deletion of another user, unless the credential has the role admin or auditor."""
        stub = AccessServiceStub(self._calls.channel)
        request = GetDeletionRequest(deletion_id=deletion_id)
        return (self._calls.unary(stub.GetDeletion, request, timeout_s)).deletion

    def deletions(
        self, *, matter_id: str = "", page_size: int = 0, timeout_s: float | None = None
    ) -> Iterator[Deletion]:
        """Yields the receipts of the caller's deletions, newest first, and requests each page when it is needed; with
        the role admin or auditor, those of the whole tenant. With `matter_id`, yields only what concerns it."""
        stub = AccessServiceStub(self._calls.channel)
        request = ListDeletionsRequest(matter_id=matter_id, page_size=page_size)
        return self._calls.pages(stub.ListDeletions, request, lambda page: page.deletions, timeout_s)

    def close(self) -> None:
        """Ends every call and closes the connection. Does nothing on a client that `for_user` returned."""
        if self._owns_channel:
            self._calls.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _use(self, calls: Calls) -> None:
        self._calls = calls
        self._stub = ChatServiceStub(calls.channel)
        self.sessions = Sessions(calls)
        self.matters = Matters(calls)
        self.documents = Documents(calls)
        self.tools = Tools(calls)
        self.catalog = Catalog(calls)


_LONGEST_TURN_S = 3_600.0
"""Is longer than the longest turn that the service allows, including the time that people take for approvals."""

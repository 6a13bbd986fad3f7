"""This module defines the exceptions that a call can raise.

When the service reports a failure, its exception is made from the google.rpc details that the service sends.

ProvisoError
├── InvalidRequest        Fields are missing, malformed or over a limit. `violations` lists all of them.
│   └── InvalidIql        A query cannot be parsed. `faults` say where and what would correct it.
├── NotFound              The thing that was named does not exist, or the caller may not see it.
├── AlreadyExists         A session has this id already, or the request_id was used with another payload.
├── SessionBusy           The session is already running a turn. The caller can attach to it by its `turn_id`.
├── FailedPrecondition    The present state of the service or of the resource does not allow the call.
├── TooBusy               The service has reached a limit. `retry_after_s` says how long to wait.
│   └── QuotaExceeded     The tenant, or its key, has used up what it may use.
├── Unavailable           The service, or something it needs, is unavailable. `retry_after_s` says how long to wait.
│   └── Silent            The stream of a turn is open, but nothing arrives on it, not even a heartbeat.
├── DeadlineExceeded      The time that the caller gave has passed. This exception is a TimeoutError too.
├── Cancelled             The call was cancelled, or the client was closed.
├── Unauthenticated       The call has no credential, or the service does not accept it.
├── PermissionDenied      The credential does not allow the call.
├── DataLoss              The service no longer has what it was given as it was, for example an uploaded file.
├── InternalError         The service has a fault. `request_id` identifies the call in the service's log.
├── BrokenStream          A stream does not follow the contract.
└── DocumentsFailed       The service could not read some uploaded documents.

When gRPC raised the original exception, it is the `__cause__`. A failure that fits none of these classes is raised as a
plain ProvisoError.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import (  # type: ignore[import-untyped]
    BadRequest,
    ErrorInfo,
    ResourceInfo,
    RetryInfo,
)
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from proviso_client.v1.matters_pb2 import Document
from proviso_client.v1.tools_pb2 import IqlError, IqlFaults

MessageT = TypeVar("MessageT", bound=Message)

_DOMAIN = "proviso.v1"
_STATUS_KEY = "grpc-status-details-bin"
_REQUEST_ID_KEY = "x-request-id"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """Names a field of a request by its path and describes what is wrong with it."""

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """Holds everything that a failed call reports about itself. A value that it does not report keeps its default."""

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN
    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[FieldViolation, ...] = ()
    resource_type: str = ""
    resource_name: str = ""
    retry_after_s: float | None = None
    request_id: str = ""
    faults: tuple[IqlError, ...] = ()


class ProvisoError(Exception):
    """Is raised when a call fails. Its message is written for people. It is the base class of all other exceptions."""

    def __init__(self, message: str, details: ErrorDetails | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or ErrorDetails()

    @property
    def code(self) -> grpc.StatusCode:
        """Returns the gRPC status code of the call."""
        return self.details.code

    @property
    def reason(self) -> str:
        """Returns the name of the contract's ErrorReason without its prefix, such as "TURN_EXPIRED".

        Returns an empty string when the service did not report the failure, for example when the connection broke."""
        return self.details.reason

    @property
    def retry_after_s(self) -> float | None:
        """Returns how many seconds to wait before another attempt, or None when the service does not say."""
        return self.details.retry_after_s

    @property
    def request_id(self) -> str:
        """Returns the id of the call in the service's log, or an empty string when the call did not reach it."""
        return self.details.request_id


class InvalidRequest(ProvisoError):
    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """Returns all faults of the request."""
        return self.details.violations


class InvalidIql(InvalidRequest):
    @property
    def faults(self) -> tuple[IqlError, ...]:
        """Returns the faults of the query with their places and the edits that would correct them.

        Positions are counted in Unicode code points. The details of an error are limited in size: `parse_iql` gives
        all faults of a long query."""
        return self.details.faults


class NotFound(ProvisoError):
    @property
    def resource_type(self) -> str:
        """Returns the kind of thing that was named, such as "matter"."""
        return self.details.resource_type

    @property
    def resource_name(self) -> str:
        """Returns the name or id that was given."""
        return self.details.resource_name

    @property
    def near_matches(self) -> tuple[str, ...]:
        """Returns the names of context items that are similar to the one that was named."""
        return tuple(self.details.metadata.get("near_matches", "").splitlines())


class AlreadyExists(ProvisoError):
    pass


class SessionBusy(ProvisoError):
    @property
    def turn_id(self) -> str:
        """Returns the id of the turn that the session is running. The caller can pass it to `resume`."""
        return self.details.metadata.get("turn_id", "")


class FailedPrecondition(ProvisoError):
    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """Returns the faults of the agent's folder, or an empty tuple when the folder is not the cause."""
        return self.details.violations


class TooBusy(ProvisoError):
    pass


class QuotaExceeded(TooBusy):
    """The tenant, or its key, has used up what it may use; the message says what and whose."""


class Unavailable(ProvisoError):
    pass


class Silent(Unavailable):
    pass


class DeadlineExceeded(ProvisoError, TimeoutError):
    pass


class Cancelled(ProvisoError):
    pass


class Unauthenticated(ProvisoError):
    pass


class PermissionDenied(ProvisoError):
    pass


class DataLoss(ProvisoError):
    pass


class InternalError(ProvisoError):
    pass


class BrokenStream(ProvisoError):
    pass


class DocumentsFailed(ProvisoError):
    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__("; ".join(f"{document.filename}: {document.failure_reason}" for document in documents))
        self.documents = tuple(documents)
        """Holds the documents that failed. Each has a `failure_reason`."""

    def __reduce__(self) -> tuple[type["DocumentsFailed"], tuple[tuple[Document, ...]]]:
        return type(self), (self.documents,)


_OF_CODE: Mapping[grpc.StatusCode, type[ProvisoError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.DATA_LOSS: DataLoss,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.UNKNOWN: InternalError,
}
# These failures are recognised by their reason, because their status codes also stand for other failures, including
# some of gRPC itself.
_OF_REASON: Mapping[str, type[ProvisoError]] = {
    "INVALID_IQL": InvalidIql,
    "SESSION_BUSY": SessionBusy,
    "TOO_BUSY": TooBusy,
    "QUOTA_EXCEEDED": QuotaExceeded,
}


class _Ended(Protocol):
    """Describes the methods that the exceptions of both gRPC APIs, blocking and asyncio, have in common."""

    def code(self) -> grpc.StatusCode | None: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Sequence[tuple[str, str | bytes]] | None: ...


def error_from(failure: grpc.RpcError) -> ProvisoError:
    """Returns the ProvisoError for an exception of gRPC. The caller should raise it `from` that exception."""
    call = cast(_Ended, failure)
    details = _details(call.code() or grpc.StatusCode.UNKNOWN, dict(call.trailing_metadata() or ()))
    kind = _OF_REASON.get(details.reason) or _OF_CODE.get(details.code, ProvisoError)
    return kind(call.details() or details.code.name, details)


def _details(code: grpc.StatusCode, trailers: Mapping[str, str | bytes]) -> ErrorDetails:
    details = _status(trailers).details
    info = _unpacked(details, ErrorInfo())
    own = info.domain == _DOMAIN
    resource, retry = _unpacked(details, ResourceInfo()), _unpacked(details, RetryInfo())
    return ErrorDetails(
        code,
        reason=info.reason if own else "",
        metadata=dict(info.metadata) if own else {},
        violations=tuple(
            FieldViolation(violation.field, violation.description)
            for violation in _unpacked(details, BadRequest()).field_violations
        ),
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        retry_after_s=retry.retry_delay.ToNanoseconds() / 1e9 if retry.HasField("retry_delay") else None,
        request_id=str(trailers.get(_REQUEST_ID_KEY, "")),
        faults=tuple(_unpacked(details, IqlFaults()).errors),
    )


def _status(trailers: Mapping[str, str | bytes]) -> Status:
    """Returns the status in the trailers, or an empty one when it is missing or cannot be parsed.

    A proxy may have written something else in its place."""
    value = trailers.get(_STATUS_KEY, b"")
    try:
        return Status.FromString(value if isinstance(value, bytes) else b"")
    except DecodeError:
        return Status()


def _unpacked(details: Sequence[AnyMessage], message: MessageT) -> MessageT:
    """Returns the first detail that has the type of the message.

    Returns the given message itself when there is no such detail or it cannot be parsed."""
    for detail in details:
        if detail.TypeName() == message.DESCRIPTOR.full_name:
            try:
                return type(message).FromString(detail.value)
            except DecodeError:
                break
    return message

"""What can go wrong in a call, as exceptions. Each is made from the google.rpc details that the service sends.

ProvisoError
├── InvalidRequest        fields are missing, malformed or over a limit: `violations` has all of them
│   └── InvalidIql        a query cannot be read: `start` and `end` say where
├── NotFound              what was named does not exist, or the caller may not see it
├── AlreadyExists         a session of this id, or a request_id with another payload
├── SessionBusy           the session runs a turn: `turn_id` is to attach to
├── FailedPrecondition    it cannot be done in the present state of things
├── TooBusy               the service is at a limit: `retry_after_s`
├── Unavailable           the service, or what it needs, is not there just now: `retry_after_s`
│   └── Silent            the stream of a turn is open, and nothing comes over it, not even a heartbeat
├── DeadlineExceeded      the time that the caller gave has passed; a TimeoutError too
├── Cancelled             the call was cancelled, or the client closed
├── Unauthenticated       no credential, or none that the service accepts
├── PermissionDenied      the credential does not allow the call
├── InternalError         a fault of the service: `request_id` finds it in the service's log
├── BrokenStream          a stream that does not keep to the contract
└── DocumentsFailed       uploaded documents could not be read

The exception of gRPC is the `__cause__`. What no class stands for is a ProvisoError itself.
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

MessageT = TypeVar("MessageT", bound=Message)

_DOMAIN = "proviso.v1"
_STATUS_KEY = "grpc-status-details-bin"
_REQUEST_ID_KEY = "x-request-id"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field of a request, by its path, and what is wrong with it."""

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """All that a failed call says of itself; empty where it says nothing."""

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN
    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[FieldViolation, ...] = ()
    resource_type: str = ""
    resource_name: str = ""
    retry_after_s: float | None = None
    request_id: str = ""


class ProvisoError(Exception):
    """A call failed; the text is for a person."""

    def __init__(self, message: str, details: ErrorDetails | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or ErrorDetails()

    @property
    def code(self) -> grpc.StatusCode:
        """The status of the call."""
        return self.details.code

    @property
    def reason(self) -> str:
        """A name of the contract's ErrorReason without its prefix, as "TURN_EXPIRED"; empty where the failure is not
        the service's own word, as when the connection breaks."""
        return self.details.reason

    @property
    def retry_after_s(self) -> float | None:
        """How long to wait before another attempt; None where the service does not say."""
        return self.details.retry_after_s

    @property
    def request_id(self) -> str:
        """Finds the call in the service's log; empty where the call did not reach it."""
        return self.details.request_id


class InvalidRequest(ProvisoError):
    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """Every fault of the request."""
        return self.details.violations


class InvalidIql(InvalidRequest):
    @property
    def start(self) -> int:
        """Start of the first fault in the query, in Unicode code points."""
        return int(self.details.metadata.get("start", 0))

    @property
    def end(self) -> int:
        """End of the first fault in the query, in Unicode code points, exclusive."""
        return int(self.details.metadata.get("end", 0))


class NotFound(ProvisoError):
    @property
    def resource_type(self) -> str:
        """What kind of thing was named, as "matter"."""
        return self.details.resource_type

    @property
    def resource_name(self) -> str:
        """The name or id that was given."""
        return self.details.resource_name

    @property
    def near_matches(self) -> tuple[str, ...]:
        """Context items that are like the one named."""
        return tuple(self.details.metadata.get("near_matches", "").splitlines())


class AlreadyExists(ProvisoError):
    pass


class SessionBusy(ProvisoError):
    @property
    def turn_id(self) -> str:
        """The turn that the session runs, for `resume`."""
        return self.details.metadata.get("turn_id", "")


class FailedPrecondition(ProvisoError):
    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """The faults of the agent's folder, where that is what is wrong."""
        return self.details.violations


class TooBusy(ProvisoError):
    pass


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


class InternalError(ProvisoError):
    pass


class BrokenStream(ProvisoError):
    pass


class DocumentsFailed(ProvisoError):
    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__("; ".join(f"{document.filename}: {document.failure_reason}" for document in documents))
        self.documents = tuple(documents)
        """Those that failed, each with its `failure_reason`."""

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
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.UNKNOWN: InternalError,
}
# Codes that gRPC itself uses too, for something else.
_OF_REASON: Mapping[str, type[ProvisoError]] = {
    "INVALID_IQL": InvalidIql,
    "SESSION_BUSY": SessionBusy,
    "TOO_BUSY": TooBusy,
}


class _Ended(Protocol):
    """What the exceptions of both APIs of gRPC tell of a call."""

    def code(self) -> grpc.StatusCode | None: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Sequence[tuple[str, str | bytes]] | None: ...


def error_from(failure: grpc.RpcError) -> ProvisoError:
    """The exception that stands for a failure of gRPC; raise it `from` that."""
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
    )


def _status(trailers: Mapping[str, str | bytes]) -> Status:
    """Empty where there is none, or what stands there is something else: a proxy may have written it."""
    value = trailers.get(_STATUS_KEY, b"")
    try:
        return Status.FromString(value if isinstance(value, bytes) else b"")
    except DecodeError:
        return Status()


def _unpacked(details: Sequence[AnyMessage], message: MessageT) -> MessageT:
    """The first detail of the message's type; an empty message where there is none that can be read."""
    for detail in details:
        if detail.TypeName() == message.DESCRIPTOR.full_name:
            try:
                return type(message).FromString(detail.value)
            except DecodeError:
                break
    return message

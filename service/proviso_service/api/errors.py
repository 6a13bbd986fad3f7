"""Maps failures to status codes and google.rpc details, as errors.proto describes them. No other file does this.

Everything in the details is limited in size, because gRPC sends them in trailing metadata, of which peers accept about
8 KB.
"""

from collections.abc import Iterator
from urllib.parse import quote

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import (  # type: ignore[import-untyped]
    BadRequest,
    ErrorInfo,
    PreconditionFailure,
    QuotaFailure,
    ResourceInfo,
    RetryInfo,
)
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from proviso_client.v1.errors_pb2 import ErrorReason
from proviso_service import errors
from proviso_service.analysis.model import InvalidIql
from proviso_service.api.convert.iql import iql_faults
from proviso_service.api.convert.values import duration
from proviso_service.errors import FieldViolation, ProvisoError

DOMAIN = "proviso.v1"
MAX_MESSAGE_BYTES = 1_500
MAX_VIOLATIONS_BYTES = 2_000
MAX_FAULTS_BYTES = 2_000
MAX_TEXT_CHARS = 200


class DeadlinePassed(ProvisoError):
    """A call took longer than the service allows."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"The call took longer than {limit_s:g} s; set a deadline for more time")


STATUS_OF: dict[type[ProvisoError], tuple[grpc.StatusCode, ErrorReason]] = {
    errors.InvalidRequest: (grpc.StatusCode.INVALID_ARGUMENT, ErrorReason.ERROR_REASON_INVALID_REQUEST),
    InvalidIql: (grpc.StatusCode.INVALID_ARGUMENT, ErrorReason.ERROR_REASON_INVALID_IQL),
    errors.UnsupportedDocument: (
        grpc.StatusCode.INVALID_ARGUMENT,
        ErrorReason.ERROR_REASON_UNSUPPORTED_DOCUMENT,
    ),
    errors.MatterNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_MATTER_NOT_FOUND),
    errors.DocumentNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_DOCUMENT_NOT_FOUND),
    errors.PageNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_PAGE_NOT_FOUND),
    errors.SectionNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_SECTION_NOT_FOUND),
    errors.SessionNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_SESSION_NOT_FOUND),
    errors.ContextItemNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_CONTEXT_ITEM_NOT_FOUND),
    errors.DeletionNotFound: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_DELETION_NOT_FOUND),
    errors.TurnUnknown: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_TURN_UNKNOWN),
    errors.TurnExpired: (grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_TURN_EXPIRED),
    errors.Unauthenticated: (grpc.StatusCode.UNAUTHENTICATED, ErrorReason.ERROR_REASON_UNAUTHENTICATED),
    errors.NotAllowed: (grpc.StatusCode.PERMISSION_DENIED, ErrorReason.ERROR_REASON_PERMISSION_DENIED),
    errors.SessionExists: (grpc.StatusCode.ALREADY_EXISTS, ErrorReason.ERROR_REASON_SESSION_EXISTS),
    errors.RequestIdReused: (grpc.StatusCode.ALREADY_EXISTS, ErrorReason.ERROR_REASON_REQUEST_ID_REUSED),
    errors.SessionBusy: (grpc.StatusCode.ABORTED, ErrorReason.ERROR_REASON_SESSION_BUSY),
    errors.DocumentProcessing: (
        grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.ERROR_REASON_DOCUMENT_PROCESSING,
    ),
    errors.DocumentFailed: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_DOCUMENT_FAILED),
    errors.DocumentWithoutPages: (
        grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.ERROR_REASON_DOCUMENT_WITHOUT_PAGES,
    ),
    errors.NoReadyDocuments: (
        grpc.StatusCode.FAILED_PRECONDITION,
        ErrorReason.ERROR_REASON_NO_READY_DOCUMENTS,
    ),
    errors.IndexRebuilding: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_INDEX_REBUILDING),
    errors.NoRequestContext: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_NO_REQUEST_CONTEXT),
    errors.TurnNotEnded: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_TURN_NOT_ENDED),
    errors.LastOwner: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_LAST_OWNER),
    errors.KeyDestroyed: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_KEY_DESTROYED),
    errors.UnderLegalHold: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_LEGAL_HOLD),
    errors.CatalogInvalid: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_CATALOG_INVALID),
    errors.TurnNotWaiting: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_TURN_NOT_WAITING),
    errors.OriginalDamaged: (grpc.StatusCode.DATA_LOSS, ErrorReason.ERROR_REASON_ORIGINAL_DAMAGED),
    errors.TooBusy: (grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_TOO_BUSY),
    errors.QuotaExceeded: (grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_QUOTA_EXCEEDED),
    errors.ModelApiUnavailable: (grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_MODEL_API_ERROR),
    errors.ModelApiRefused: (grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_MODEL_API_ERROR),
    errors.Draining: (grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_DRAINING),
    errors.Unavailable: (grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_NOT_READY),
    DeadlinePassed: (grpc.StatusCode.DEADLINE_EXCEEDED, ErrorReason.ERROR_REASON_DEADLINE_EXCEEDED),
}


def status_of(error: Exception, request_id: str) -> Status:
    """The status that a caller gets for a failure: that of its class, or of the nearest base class in the table. Any
    other exception is a fault of the service. It becomes INTERNAL, and shows only the id under which it is logged."""
    if not isinstance(error, ProvisoError) or is_fault(error):
        return _internal(request_id)
    code, reason = next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    info = _error_info(reason, _metadata(error))
    return _status(code, error.message, info, *_details(error, info.reason))


def is_fault(error: Exception) -> bool:
    """Whether an exception is a fault of the service, of which callers are told nothing."""
    return not isinstance(error, tuple(STATUS_OF))


def _internal(request_id: str) -> Status:
    info = _error_info(ErrorReason.ERROR_REASON_INTERNAL, {"request_id": request_id})
    return _status(
        grpc.StatusCode.INTERNAL, f"Internal error; the service's log has it under request id {request_id}", info
    )


def _status(code: grpc.StatusCode, message: str, *details: Message) -> Status:
    packed = [AnyMessage() for _ in details]
    for holder, detail in zip(packed, details, strict=True):
        holder.Pack(detail)
    return Status(code=code.value[0], message=_bounded(message), details=packed)


def _error_info(reason: ErrorReason, metadata: dict[str, str]) -> ErrorInfo:
    name = ErrorReason.Name(reason).removeprefix("ERROR_REASON_")
    return ErrorInfo(reason=name, domain=DOMAIN, metadata=metadata)


def _metadata(error: ProvisoError) -> dict[str, str]:
    match error:
        case errors.SessionBusy():
            return {"turn_id": error.turn_id}
        case errors.TurnElsewhere():
            return {"owner": error.owner}
        case errors.NoReadyDocuments():
            return {"ready": "0", "processing": str(error.processing), "failed": str(error.failed)}
        case errors.ContextItemNotFound():
            return {"near_matches": "\n".join(error.near_matches)} if error.near_matches else {}
    return {}


def _details(error: ProvisoError, reason: str) -> Iterator[Message]:
    if isinstance(error, (errors.FailedPrecondition, errors.ModelApiRefused)):
        yield PreconditionFailure(
            violations=[
                {
                    "type": reason,
                    "subject": error.subject[:MAX_TEXT_CHARS],
                    "description": error.message[:MAX_TEXT_CHARS],
                }
            ]
        )
    if isinstance(error, (errors.QuotaExceeded, errors.Overloaded)):
        yield QuotaFailure(violations=[{"subject": error.subject[:MAX_TEXT_CHARS], "description": error.message}])
    match error:
        case InvalidIql():
            yield _bad_request(error.violations)
            yield iql_faults(error.problems, MAX_FAULTS_BYTES)
        case errors.InvalidRequest():
            yield _bad_request(error.violations)
        case errors.CatalogInvalid():
            yield _bad_request(tuple(FieldViolation(fault.where, fault.description) for fault in error.faults))
        case errors.UnsupportedDocument():
            yield _bad_request((FieldViolation("data", error.message),))
        case errors.NotFound():
            yield ResourceInfo(resource_type=error.resource, resource_name=error.name[:MAX_TEXT_CHARS])
        case errors.TooBusy() | errors.ModelApiUnavailable() | errors.Unavailable():
            yield RetryInfo(retry_delay=duration(error.retry_after_s))
        case errors.DocumentProcessing() | errors.NoReadyDocuments() | errors.QuotaExceeded() if (
            error.retry_after_s is not None
        ):
            yield RetryInfo(retry_delay=duration(error.retry_after_s))


def _bad_request(violations: tuple[FieldViolation, ...]) -> BadRequest:
    """As many violations as fit, and one that counts the rest."""
    answer = BadRequest()
    for index, violation in enumerate(violations):
        answer.field_violations.add(
            field=violation.field[:MAX_TEXT_CHARS], description=violation.description[:MAX_TEXT_CHARS]
        )
        if answer.ByteSize() > MAX_VIOLATIONS_BYTES:
            answer.field_violations.pop()
            answer.field_violations.add(description=f"and {len(violations) - index} more")
            break
    return answer


def _bounded(message: str) -> str:
    """Cuts a message to its largest size; gRPC sends it percent-encoded, and the size is counted so."""
    size = 0
    for index, character in enumerate(message):
        size += len(quote(character, safe=" !#$&'()*+,/:;=?@[]\"<>\\^`{|}"))
        if size > MAX_MESSAGE_BYTES:
            return message[:index] + "..."
    return message

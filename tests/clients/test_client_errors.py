"""Failures of the service as exceptions of the Python client: every reason of the contract has its class."""

import pickle

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from proviso_client import errors
from proviso_client.errors import ErrorDetails, FieldViolation, ProvisoError, error_from
from proviso_client.v1.errors_pb2 import ErrorReason
from proviso_client.v1.matters_pb2 import Document
from proviso_service import errors as domain
from proviso_service.api.errors import STATUS_OF, status_of

CODES = {code.value[0]: code for code in grpc.StatusCode}
FAMILIES = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidRequest,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.ABORTED: errors.SessionBusy,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.TooBusy,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.DATA_LOSS: errors.DataLoss,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.UNIMPLEMENTED: ProvisoError,
}


class Failure(grpc.RpcError):
    """A failed call, as gRPC raises it."""

    def __init__(self, status: Status, *, trailers: tuple[tuple[str, str | bytes], ...] | None = None) -> None:
        super().__init__()
        own: tuple[tuple[str, str | bytes], ...] = (
            ("grpc-status-details-bin", status.SerializeToString()),
            ("x-request-id", "r-1"),
        )
        self._status, self._trailers = status, own if trailers is None else trailers

    def code(self) -> grpc.StatusCode:
        return CODES[self._status.code]

    def details(self) -> str:
        return str(self._status.message)

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:  # type: ignore[override]
        return self._trailers


@pytest.mark.parametrize(("code", "reason"), sorted(set(STATUS_OF.values()), key=str))
def test_every_reason_that_the_service_gives_has_its_class(code: grpc.StatusCode, reason: ErrorReason) -> None:
    name = ErrorReason.Name(reason).removeprefix("ERROR_REASON_")
    status = Status(code=code.value[0], message="what happened")
    status.details.add().Pack(ErrorInfo(reason=name, domain="proviso.v1", metadata={"turn_id": "t"}))
    error = error_from(Failure(status))
    assert isinstance(error, FAMILIES[code])
    assert (error.code, error.reason, error.request_id, str(error)) == (code, name, "r-1", "what happened")
    if isinstance(error, errors.SessionBusy):
        assert error.turn_id == "t"


def test_what_the_service_tells_of_a_failure_is_all_there() -> None:
    def told(failure: domain.ProvisoError) -> ProvisoError:
        return error_from(Failure(status_of(failure, "r-1")))

    invalid = told(domain.InvalidRequest((domain.FieldViolation("history[0].role", "must be USER or ASSISTANT"),)))
    assert isinstance(invalid, errors.InvalidRequest)
    assert invalid.violations == (FieldViolation("history[0].role", "must be USER or ASSISTANT"),)
    busy = told(domain.TooBusy("Too many turns are running", 2.5))
    assert isinstance(busy, errors.TooBusy)
    assert busy.retry_after_s == 2.5
    missing = told(domain.TurnUnknown("t-1"))
    assert isinstance(missing, errors.NotFound)
    assert (missing.resource_name, missing.near_matches) == ("t-1", ())


def test_a_fault_of_the_service_says_where_to_look() -> None:
    error = error_from(Failure(status_of(RuntimeError("secret"), "r-1")))
    assert isinstance(error, errors.InternalError)
    assert error.request_id == "r-1"
    assert "secret" not in str(error)


@pytest.mark.parametrize("details", [b"", b"\xff\xff", "text"])
def test_what_is_not_the_services_own_word_has_no_reason(details: str | bytes) -> None:
    status = Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="message larger than max")
    error = error_from(Failure(status, trailers=(("grpc-status-details-bin", details),)))
    assert type(error) is ProvisoError
    assert error.details == ErrorDetails(grpc.StatusCode.RESOURCE_EXHAUSTED)


def test_a_detail_that_was_cut_on_its_way_does_not_hide_the_status() -> None:
    status = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="draining")
    status.details.add().Pack(ErrorInfo(reason="DRAINING", domain="proviso.v1"))
    status.details[0].value = status.details[0].value[:-1]
    status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=2)))
    error = error_from(Failure(status))
    assert isinstance(error, errors.Unavailable)
    assert (error.reason, error.retry_after_s) == ("", 2.0)


def test_a_reason_of_another_domain_is_not_taken_for_ours() -> None:
    status = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="no healthy upstream")
    status.details.add().Pack(ErrorInfo(reason="TOO_BUSY", domain="mesh.example"))
    error = error_from(Failure(status))
    assert isinstance(error, errors.Unavailable)
    assert error.reason == ""


def test_exceptions_pass_between_processes_with_all_that_they_say() -> None:
    busy = errors.SessionBusy("busy", ErrorDetails(grpc.StatusCode.ABORTED, "SESSION_BUSY", {"turn_id": "t-1"}))
    assert pickle.loads(pickle.dumps(busy)).turn_id == "t-1"  # noqa: S301
    failed = errors.DocumentsFailed([Document(filename="a.pdf", failure_reason="It has no pages.")])
    copied = pickle.loads(pickle.dumps(failed))  # noqa: S301
    assert (str(copied), copied.documents) == ("a.pdf: It has no pages.", failed.documents)


def test_every_exception_is_in_the_drawing_at_the_top() -> None:
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ProvisoError)}
    assert errors.__doc__ is not None
    assert {name for name in kinds if name in errors.__doc__.split()} == kinds

"""The map from failures to status codes, reasons and details."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from grpc import StatusCode

from proviso_client.v1.errors_pb2 import ErrorReason
from proviso_service import errors
from proviso_service.analysis.model import InvalidIql
from proviso_service.api.errors import STATUS_OF, DeadlinePassed, is_fault, status_of
from proviso_service.backends.redis.link import RedisAway
from proviso_service.backends.storage_health import StorageFault, StorageFaultFound
from proviso_service.errors import FieldViolation, FileFault, InvalidRequest, ProvisoError
from proviso_service.iql import IqlSyntaxError, TemplateCatalog, parse
from proviso_service.mcp.model import ToolServerFailed
from proviso_service.models import ModelBusy, ModelClosed, ModelLost
from tests.api.serving import unpacked

METADATA_LIMIT = 8 * 1024
"""What peers accept of trailing metadata by default; binary values travel as base64."""

PRECONDITION = StatusCode.FAILED_PRECONDITION
STATE = "PreconditionFailure"


def invalid_iql(query: str) -> InvalidIql:
    with pytest.raises(IqlSyntaxError) as caught:
        parse(query, TemplateCatalog.load())
    return InvalidIql(caught.value)


EXHAUSTED = StatusCode.RESOURCE_EXHAUSTED

CASES: list[tuple[ProvisoError, StatusCode, str, set[str]]] = [
    (InvalidRequest.of("f", "is wrong"), StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", {"BadRequest"}),
    (
        invalid_iql("{rent"),
        StatusCode.INVALID_ARGUMENT,
        "INVALID_IQL",
        {"BadRequest", "IqlFaults"},
    ),
    (errors.UnsupportedDocument("no"), StatusCode.INVALID_ARGUMENT, "UNSUPPORTED_DOCUMENT", {"BadRequest"}),
    (errors.MatterNotFound("m"), StatusCode.NOT_FOUND, "MATTER_NOT_FOUND", {"ResourceInfo"}),
    (errors.DocumentNotFound("d"), StatusCode.NOT_FOUND, "DOCUMENT_NOT_FOUND", {"ResourceInfo"}),
    (errors.SectionNotFound("h", "no"), StatusCode.NOT_FOUND, "SECTION_NOT_FOUND", {"ResourceInfo"}),
    (errors.OriginalDamaged("d", "missing"), StatusCode.DATA_LOSS, "ORIGINAL_DAMAGED", set()),
    (errors.SessionNotFound("s"), StatusCode.NOT_FOUND, "SESSION_NOT_FOUND", {"ResourceInfo"}),
    (errors.PageNotFound(9, 3), StatusCode.NOT_FOUND, "PAGE_NOT_FOUND", {"ResourceInfo"}),
    (errors.DeletionNotFound("d"), StatusCode.NOT_FOUND, "DELETION_NOT_FOUND", {"ResourceInfo"}),
    (errors.TurnUnknown("t"), StatusCode.NOT_FOUND, "TURN_UNKNOWN", {"ResourceInfo"}),
    (errors.TurnExpired("t"), StatusCode.NOT_FOUND, "TURN_EXPIRED", {"ResourceInfo"}),
    (errors.Unauthenticated("no"), StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED", set()),
    (errors.NotAllowed("no"), StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED", set()),
    (errors.KeyDestroyed("t"), PRECONDITION, "KEY_DESTROYED", {STATE}),
    (errors.UnusableKeys("gone"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.UnderLegalHold("matters/m"), PRECONDITION, "LEGAL_HOLD", {STATE}),
    (errors.LastOwner("u", "m"), PRECONDITION, "LAST_OWNER", {STATE}),
    (
        errors.QuotaExceeded("turns a day", 3, "tenants/t", 60),
        EXHAUSTED,
        "QUOTA_EXCEEDED",
        {"QuotaFailure", "RetryInfo"},
    ),
    (errors.QuotaExceeded("documents", 3, "tenants/t"), EXHAUSTED, "QUOTA_EXCEEDED", {"QuotaFailure"}),
    (errors.SessionExists("s"), StatusCode.ALREADY_EXISTS, "SESSION_EXISTS", set()),
    (errors.RequestIdReused("r"), StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED", set()),
    (errors.SessionBusy("s", "t"), StatusCode.ABORTED, "SESSION_BUSY", set()),
    (errors.DocumentProcessing("wait", "d"), PRECONDITION, "DOCUMENT_PROCESSING", {STATE, "RetryInfo"}),
    (errors.DocumentFailed("broken", "d"), PRECONDITION, "DOCUMENT_FAILED", {STATE}),
    (errors.DocumentWithoutPages("a.md", "d"), PRECONDITION, "DOCUMENT_WITHOUT_PAGES", {STATE}),
    (errors.NoReadyDocuments(0, 2), PRECONDITION, "NO_READY_DOCUMENTS", {STATE}),
    (errors.NoReadyDocuments(1, 2), PRECONDITION, "NO_READY_DOCUMENTS", {STATE, "RetryInfo"}),
    (errors.NoRequestContext("t"), PRECONDITION, "NO_REQUEST_CONTEXT", {STATE}),
    (errors.TurnNotEnded("t"), PRECONDITION, "TURN_NOT_ENDED", {STATE}),
    (errors.IndexRebuilding(), PRECONDITION, "INDEX_REBUILDING", {STATE}),
    (errors.TurnNotWaiting("t", "c"), PRECONDITION, "TURN_NOT_WAITING", {STATE}),
    (errors.TooBusy("busy", 2.5), StatusCode.RESOURCE_EXHAUSTED, "TOO_BUSY", {"RetryInfo"}),
    (errors.Overloaded("turns", "tenants/a", 2.5), EXHAUSTED, "TOO_BUSY", {"QuotaFailure", "RetryInfo"}),
    (ModelBusy("busy", 2.5), StatusCode.RESOURCE_EXHAUSTED, "TOO_BUSY", {"RetryInfo"}),
    (errors.ModelApiUnavailable("Isaacus", "too slow", 4), StatusCode.UNAVAILABLE, "MODEL_API_ERROR", {"RetryInfo"}),
    (errors.ModelApiRefused("Isaacus", "bad key"), PRECONDITION, "MODEL_API_ERROR", {STATE}),
    (StorageFaultFound(StorageFault.FULL), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.Unavailable("disk"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.NotReady("loading"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (RedisAway(), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.TurnElsewhere("replica-1"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.StorageFailed("disk"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (StorageFaultFound(StorageFault.FULL), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (ModelClosed("stopping"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (ModelLost("lost"), StatusCode.UNAVAILABLE, "NOT_READY", {"RetryInfo"}),
    (errors.Draining(), StatusCode.UNAVAILABLE, "DRAINING", {"RetryInfo"}),
    (
        errors.ContextItemNotFound("rule 'Quotng'", ["rule 'Quoting'"]),
        StatusCode.NOT_FOUND,
        "CONTEXT_ITEM_NOT_FOUND",
        {"ResourceInfo"},
    ),
    (errors.ContextItemDisabled("rule 'Off'"), StatusCode.NOT_FOUND, "CONTEXT_ITEM_NOT_FOUND", {"ResourceInfo"}),
    (
        errors.CatalogInvalid([FileFault("agent.yaml", 2, "name", "is missing")]),
        PRECONDITION,
        "CATALOG_INVALID",
        {STATE, "BadRequest"},
    ),
    (DeadlinePassed(60), StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", set()),
]


def leaves(kind: type[ProvisoError]) -> Iterator[type[ProvisoError]]:
    for child in kind.__subclasses__():
        yield from leaves(child)
        if not child.__subclasses__():
            yield child


def test_every_failure_of_the_domain_is_tried_here() -> None:
    """That of a tool server is told to the model only."""
    of_the_service = {kind for kind in leaves(ProvisoError) if kind.__module__.startswith("proviso_service")}
    assert of_the_service - {ToolServerFailed} <= {type(error) for error, *_ in CASES}
    assert STATUS_OF.keys() <= {type(error) for error, *_ in CASES}


@pytest.mark.parametrize(("error", "code", "reason", "details"), CASES, ids=lambda v: type(v).__name__)
def test_each_failure_has_its_code_reason_and_details(
    error: ProvisoError, code: StatusCode, reason: str, details: set[str]
) -> None:
    status = status_of(error, "request-1")
    found = unpacked(status)
    assert status.code == code.value[0]
    assert status.message == error.message
    assert (found["ErrorInfo"].reason, found["ErrorInfo"].domain) == (reason, "proviso.v1")
    assert f"ERROR_REASON_{reason}" in dict(ErrorReason.items())
    assert found.keys() == {"ErrorInfo"} | details
    assert not is_fault(error)


@pytest.mark.parametrize("error", [ValueError("x"), ProvisoError("x"), errors.NotFound("x"), TimeoutError()])
def test_anything_else_is_internal_without_its_text(error: Exception) -> None:
    status = status_of(error, "request-1")
    assert status.code == StatusCode.INTERNAL.value[0]
    assert status.message == "Internal error; the service's log has it under request id request-1"
    assert unpacked(status)["ErrorInfo"].reason == "INTERNAL"
    assert is_fault(error)


def test_a_kind_of_failure_that_is_new_answers_like_the_one_above_it() -> None:
    class IndexNotReady(errors.NotReady): ...

    assert unpacked(status_of(IndexNotReady("soon"), ""))["ErrorInfo"].reason == "NOT_READY"


def test_details_say_what_a_caller_can_act_on() -> None:
    busy = unpacked(status_of(errors.SessionBusy("s1", "t1"), ""))
    assert busy["ErrorInfo"].metadata["turn_id"] == "t1"
    retry = unpacked(status_of(errors.TooBusy("busy", 2.5), ""))["RetryInfo"].retry_delay
    assert (retry.seconds, retry.nanos) == (2, 500_000_000)
    faults = unpacked(status_of(invalid_iql("{IS rental clause} AND {}"), ""))["IqlFaults"]
    assert [(fault.start, fault.end) for fault in faults.errors] == [(4, 17), (23, 25)]
    assert faults.errors[0].edits
    assert not faults.truncated
    many = status_of(invalid_iql("{rent} OR " * 500), "")
    told = unpacked(many)["IqlFaults"]
    assert told.errors[0].message
    assert len(many.SerializeToString()) * 4 / 3 < METADATA_LIMIT
    missing = unpacked(status_of(errors.DocumentFailed("It is damaged.", "d1"), ""))["PreconditionFailure"].violations
    assert [(one.type, one.subject, one.description) for one in missing] == [
        ("DOCUMENT_FAILED", "documents/d1", "It is damaged.")
    ]
    absent = unpacked(status_of(errors.DocumentNotFound("d1"), ""))["ResourceInfo"]
    assert (absent.resource_type, absent.resource_name) == ("document", "d1")


@pytest.mark.parametrize("text", ["x", "\N{CAT FACE}", "%", "\n"])
def test_a_status_fits_into_trailing_metadata_however_much_is_wrong(text: str) -> None:
    violations = [FieldViolation(f"history[{i}].{text * 50}", text * 1_000) for i in range(2_000)]
    status = status_of(InvalidRequest(violations), "request-1")
    on_the_wire = len(status.SerializeToString()) * 4 / 3 + len(quote(status.message))
    assert on_the_wire < METADATA_LIMIT
    told = unpacked(status)["BadRequest"].field_violations
    assert told[0].field.startswith("history[0]")
    assert told[-1].description == f"and {2_000 - len(told) + 1} more"


def test_all_of_some_violations_are_told() -> None:
    violations = [FieldViolation(f"field_{i}", "is too long") for i in range(20)]
    told = unpacked(status_of(InvalidRequest(violations), ""))["BadRequest"].field_violations
    assert [(v.field, v.description) for v in told] == [(v.field, v.description) for v in violations]


def test_a_turn_elsewhere_names_the_process_that_runs_it() -> None:
    assert unpacked(status_of(errors.TurnElsewhere("replica-1"), ""))["ErrorInfo"].metadata == {"owner": "replica-1"}

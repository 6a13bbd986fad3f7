"""Failures that a caller can be told about.

ProvisoError
├── InvalidRequest          one or more fields are wrong; carries every violation
│   └── InvalidIql          a query that cannot be read; carries its faults (see analysis.model)
├── UnsupportedDocument     the bytes are not a document that the service reads
├── NotFound
│   ├── MatterNotFound      absent, or not visible to the caller
│   ├── DocumentNotFound
│   ├── PageNotFound
│   ├── SectionNotFound     a document has no such section, or several
│   ├── SessionNotFound
│   ├── ContextItemNotFound
│   │   └── ContextItemDisabled  in the catalog, but not in use
│   ├── DeletionNotFound    absent, or of another user
│   ├── TurnUnknown
│   └── TurnExpired         the turn's events are gone, and it has no final state yet
├── Unauthenticated         no credentials, or bad ones
├── NotAllowed              the caller lacks a role
├── AlreadyExists
│   ├── SessionExists
│   └── RequestIdReused     same request id, another payload
├── SessionBusy             the session runs a turn; carries its id
├── FailedPrecondition
│   ├── DocumentProcessing  it can be read in a moment
│   ├── DocumentFailed      it cannot be read
│   ├── DocumentWithoutPages    its format has none
│   ├── NoReadyDocuments
│   ├── LastOwner           a matter has to have an owner
│   ├── UnderLegalHold      what was to be deleted is kept
│   ├── KeyDestroyed        what sealed the originals of the tenant is gone
│   ├── IndexRebuilding     the search index is being rebuilt already
│   ├── NoRequestContext    the turn has not ended, or called no model
│   ├── TurnNotEnded        there is no answer to rate yet
│   └── TurnNotWaiting
├── OriginalDamaged         the uploaded bytes of a document are no longer kept as they were
├── TooBusy                 a bound was reached; carries the time to wait
├── QuotaExceeded           the caller's tenant or key has used up a limit
├── ModelApiError           a hosted model's service failed
│   ├── ModelApiUnavailable it did not answer, or not in time; carries the time to wait
│   └── ModelApiRefused     it refused what was sent, for example the key
└── Unavailable
    ├── Draining
    ├── NotReady
    ├── TurnElsewhere       another process runs the turn, and cannot be reached; carries its name
    ├── UnusableKeys        those that originals are sealed with cannot be had
    └── StorageFailed       the disk is full, cannot be read or written, or holds damage

Domain folders raise these; `api.errors` is the one place that maps them to status codes. Messages are for people and
name no secrets, paths or exceptions. Anything else that escapes is a fault of the service and reaches a
caller as INTERNAL.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.spelling import did_you_mean


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """What is wrong with one field of a request. `field` is a path such as `history[2].content`. With `is_sentence` the
    description is a whole sentence, which is shown without the path."""

    field: str
    description: str
    is_sentence: bool = False

    def __str__(self) -> str:
        return self.description if self.is_sentence else f"{self.field}: {self.description}"


@dataclass(frozen=True, slots=True)
class FileFault:
    """What is wrong with a file of an agent's folder. `line` counts from 1, and is 0 if the whole file is meant.
    `field` is a path such as `mcp_servers.time.include`, and is empty if no field is meant."""

    file: str
    line: int
    field: str
    description: str

    @property
    def where(self) -> str:
        """The place of the fault, such as `rules/quoting.md:3 include`."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} {self.field}".rstrip()

    def __str__(self) -> str:
        return f"{self.where}: {self.description}"


class FailureCause(StrEnum):
    """Why a part of the work failed, for programs: a document that was left out, a tool call, an ingestion."""

    PROCESSING = "processing"
    FAILED = "failed"
    NOT_FOUND = "not_found"
    NOT_ALLOWED = "not_allowed"
    TOO_LONG = "too_long"
    TIMED_OUT = "timed_out"
    PROVIDER_AWAY = "provider_away"
    INVALID = "invalid"
    CANCELLED = "cancelled"


class ProvisoError(Exception):
    """Base of every failure that a caller can be told about. `message` is written for a person, `cause` is the same for
    a program. `hint` tells a chat model what to do instead; it may be empty."""

    hint = ""
    cause = FailureCause.FAILED

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidRequest(ProvisoError):
    cause = FailureCause.INVALID

    def __init__(self, violations: Sequence[FieldViolation]) -> None:
        super().__init__("; ".join(map(str, violations)))
        self.violations = tuple(violations)

    @classmethod
    def of(cls, field: str, description: str) -> "InvalidRequest":
        """The error for one wrong field."""
        return cls([FieldViolation(field, description)])


class UnsupportedDocument(ProvisoError):
    def __init__(self, message: str, cause: FailureCause = FailureCause.FAILED) -> None:
        super().__init__(message)
        self.cause = cause


class NotFound(ProvisoError):
    """Base of the errors for things that do not exist; `resource` is the kind of thing, and `name` is its id."""

    resource = "resource"
    cause = FailureCause.NOT_FOUND

    def __init__(self, name: str) -> None:
        super().__init__(f"No {self.resource} {name!r}")
        self.name = name


class MatterNotFound(NotFound):
    resource = "matter"


class DocumentNotFound(NotFound):
    resource = "document"

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__(name)
        self.hint = hint


class PageNotFound(NotFound):
    """The document has no page of this number; `page_count` is that of its last page."""

    resource = "page"

    def __init__(self, number: int, page_count: int) -> None:
        super().__init__(str(number))
        self.message = f"No page {number}: the document has {page_count} page{'s' if page_count > 1 else ''}"


class SectionNotFound(NotFound):
    """`name` is the heading asked for; the message says what is near it."""

    resource = "section"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name)
        self.message = message


class SessionNotFound(NotFound):
    resource = "session"


class ContextItemNotFound(NotFound):
    """The catalog has no such item. `name` is the item in words, such as "rule 'Quoting'", and so are the
    `near_matches`. `not_yet` says that it is a tool of a server that has not listed its tools."""

    resource = "context item"

    def __init__(self, name: str, near_matches: Sequence[str] = (), *, not_yet: bool = False) -> None:
        super().__init__(name)
        self.near_matches = tuple(near_matches)
        waits = " yet: its server has not listed its tools" if not_yet else ""
        self.message = f"The catalog has no {name}{waits}{did_you_mean(near_matches)}"


class ContextItemDisabled(ContextItemNotFound):
    """The item is in the catalog, but nobody may use it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.message = f"The {name} is disabled in the agent's catalog; it can be added once it is enabled there"


class DeletionNotFound(NotFound):
    resource = "deletion"


class TurnUnknown(NotFound):
    resource = "turn"


class TurnExpired(NotFound):
    resource = "turn"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.message = f"Turn {name!r} has lost its process and has no final state yet; try again in some seconds"


class Unauthenticated(ProvisoError):
    cause = FailureCause.NOT_ALLOWED


class NotAllowed(ProvisoError):
    """Only for things that the caller may see; what he may not see does not exist for him."""

    cause = FailureCause.NOT_ALLOWED


class AlreadyExists(ProvisoError): ...


class SessionExists(AlreadyExists):
    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id!r} exists")


class RequestIdReused(AlreadyExists):
    def __init__(self, request_id: str) -> None:
        super().__init__(f"request_id {request_id!r} was used with another payload")


class SessionBusy(ProvisoError):
    def __init__(self, session_id: str, turn_id: str) -> None:
        super().__init__(f"Session {session_id!r} is running turn {turn_id!r}; attach to it with ResumeChat")
        self.turn_id = turn_id


class FailedPrecondition(ProvisoError):
    """`subject` names the thing whose state is not the one that the call needs, such as `turns/<id>`."""

    def __init__(self, message: str, subject: str) -> None:
        super().__init__(message)
        self.subject = subject


PROCESSING_RETRY_AFTER_S = 2.0
"""A hint for RetryInfo: most documents are read within some seconds."""

_STILL_PROCESSING = (
    "Tell the person that documents are still being processed, and to ask again in a moment. "
    "Do not say that the documents hold nothing about it."
)
_NOT_READ = "Tell the person that it could not be read. Do not say that it holds nothing about it."


class DocumentUnread(FailedPrecondition):
    """Base of the errors for a document that has no text."""

    def __init__(self, message: str, document_id: str) -> None:
        super().__init__(message, f"documents/{document_id}")


class DocumentProcessing(DocumentUnread):
    cause = FailureCause.PROCESSING
    hint = _STILL_PROCESSING
    retry_after_s = PROCESSING_RETRY_AFTER_S


class DocumentFailed(DocumentUnread):
    hint = _NOT_READ


class DocumentWithoutPages(FailedPrecondition):
    def __init__(self, filename: str, document_id: str) -> None:
        super().__init__(f"{filename} has no pages", f"documents/{document_id}")


class NoReadyDocuments(FailedPrecondition):
    """No document of a matter can be searched. `processing` and `failed` count those that it has; `retry_after_s` is
    None where none is being processed."""

    def __init__(self, processing: int = 0, failed: int = 0) -> None:
        if processing:
            unread = ", and some could not be read" if failed else ""
            message = f"The documents of this matter are still being processed{unread}; ask again in a moment"
        else:
            message = f"No ready documents found in this matter{': they could not be read' if failed else ''}"
        super().__init__(message, "documents")
        self.cause = (
            FailureCause.PROCESSING if processing else FailureCause.FAILED if failed else FailureCause.NOT_FOUND
        )
        self.processing = processing
        self.failed = failed
        self.retry_after_s = PROCESSING_RETRY_AFTER_S if processing else None
        self.hint = _STILL_PROCESSING if processing else _NOT_READ if failed else ""


class IndexRebuilding(FailedPrecondition):
    def __init__(self) -> None:
        super().__init__("The search index is being rebuilt already", "index")


class LastOwner(FailedPrecondition):
    def __init__(self, user: str, matter_id: str) -> None:
        super().__init__(
            f"{user!r} is the matter's only owner: make somebody else an owner first", f"matters/{matter_id}"
        )


class UnderLegalHold(FailedPrecondition):
    """`subject` is what was to be deleted. The matter under the hold may be another one, that the caller cannot see."""

    def __init__(self, subject: str) -> None:
        super().__init__("A legal hold forbids to delete this; an administrator of the tenant can lift it", subject)


class KeyDestroyed(FailedPrecondition):
    """The key that the originals of a tenant are sealed with was destroyed."""

    def __init__(self, tenant: str) -> None:
        message = "The key of this tenant's uploaded files was destroyed: they cannot be read, and none can be added"
        super().__init__(message, "tenant")
        self.tenant = tenant


class CatalogInvalid(FailedPrecondition):
    """The agent's folder cannot be used; `faults` are all that is wrong with it. The message names the first ones."""

    def __init__(self, faults: Sequence[FileFault]) -> None:
        named = [str(fault) for fault in faults[:20]]
        more = [f"and {len(faults) - len(named)} more"] if len(faults) > len(named) else []
        super().__init__(f"The agent's folder has faults: {'; '.join([*named, *more])}", "agent")
        self.faults = tuple(faults)


class TurnNotWaiting(FailedPrecondition):
    def __init__(self, turn_id: str, call_id: str) -> None:
        super().__init__(f"Turn {turn_id!r} waits for no such decision on call {call_id!r}", f"turns/{turn_id}")


class NoRequestContext(FailedPrecondition):
    def __init__(self, turn_id: str) -> None:
        message = f"Turn {turn_id!r} has not ended, or called no model: there is no payload to rebuild"
        super().__init__(message, f"turns/{turn_id}")


class TurnNotEnded(FailedPrecondition):
    def __init__(self, turn_id: str) -> None:
        super().__init__(f"Turn {turn_id!r} has not ended: there is no answer to rate yet", f"turns/{turn_id}")


class OriginalDamaged(ProvisoError):
    """The bytes that the service keeps of a document are not those that were uploaded. `problem` says what they are
    instead: "missing", "cut short" or "changed"."""

    def __init__(self, document_id: str, problem: str) -> None:
        super().__init__(f"The uploaded file of document {document_id} is {problem}: delete it and upload it again")
        self.document_id = document_id
        self.problem = problem


class TooBusy(ProvisoError):
    cause = FailureCause.PROVIDER_AWAY

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Overloaded(TooBusy):
    """More is asked for than the process can do. `subject` is who asked."""

    def __init__(self, work: str, subject: str, retry_after_s: float) -> None:
        super().__init__(f"The service is busy with as many {work} as it can do; try again shortly", retry_after_s)
        self.subject = subject


class QuotaExceeded(ProvisoError):
    """A tenant, or one of its keys, has used up what it may use: `quota` is what, in words, `subject` is who. It may go
    on after `retry_after_s`; None where waiting does not help."""

    cause = FailureCause.NOT_ALLOWED

    def __init__(self, quota: str, limit: int, subject: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"The limit of {limit:,} {quota} is used up for {subject}")
        self.quota = quota
        self.subject = subject
        self.retry_after_s = retry_after_s


class ModelApiError(ProvisoError):
    """A hosted model's service failed: "Isaacus API error: [details]". `details` say what went wrong, and never hold
    the key or the text that was sent."""

    def __init__(self, service: str, details: str) -> None:
        super().__init__(f"{service} API error: {details}")


class ModelApiUnavailable(ModelApiError):
    """It did not answer, or not in time; trying again after `retry_after_s` may help."""

    cause = FailureCause.PROVIDER_AWAY

    def __init__(self, service: str, details: str, retry_after_s: float = 1.0) -> None:
        super().__init__(service, details)
        self.retry_after_s = retry_after_s


class ModelApiRefused(ModelApiError):
    """It refused what was sent, for example the key: somebody has to look at the settings."""

    cause = FailureCause.NOT_ALLOWED
    subject = "model"


class Unavailable(ProvisoError):
    """`retry_after_s` is a hint for RetryInfo."""

    cause = FailureCause.PROVIDER_AWAY

    retry_after_s = 1.0


class UnusableKeys(Unavailable):
    """The keys that originals are sealed with cannot be had; `details` say why, in one line for the operator."""

    def __init__(self, details: str) -> None:
        super().__init__("The service cannot use the keys of uploaded files at present")
        self.details = details


class Draining(Unavailable):
    def __init__(self) -> None:
        super().__init__("The service is stopping; retry on another replica")


class NotReady(Unavailable): ...


class TurnElsewhere(Unavailable):
    """`owner` is the process that runs the turn: calls that reach it are answered."""

    def __init__(self, owner: str) -> None:
        super().__init__("Another process runs the turn and cannot be reached from here at present; try again shortly")
        self.owner = owner


class StorageFailed(Unavailable): ...

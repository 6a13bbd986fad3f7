"""Failures that a caller can be told about.

ProvisoError
├── InvalidRequest          one or more fields are wrong; carries every violation
│   └── InvalidIql          a query that cannot be read; carries the place of its first fault
├── UnsupportedDocument     the bytes are not a document that the service reads
├── NotFound
│   ├── MatterNotFound      absent, or not visible to the caller
│   ├── DocumentNotFound
│   ├── SessionNotFound
│   ├── ContextItemNotFound
│   │   └── ContextItemDisabled  in the catalog, but not in use
│   ├── TurnUnknown
│   └── TurnExpired         the turn's events are gone; its final state is kept
├── AlreadyExists
│   ├── SessionExists
│   └── RequestIdReused     same request id, another payload
├── SessionBusy             the session runs a turn; carries its id
├── FailedPrecondition
│   ├── DocumentNotReady
│   ├── NoReadyDocuments
│   ├── IndexRebuilding     the vector index is being rebuilt already
│   ├── NoRequestContext    the turn has not ended, or called no model
│   └── TurnNotWaiting
├── TooBusy                 a bound was reached; carries the time to wait
├── ModelApiError           a hosted model's service failed
│   ├── ModelApiUnavailable it did not answer, or not in time; carries the time to wait
│   └── ModelApiRefused     it refused what was sent, for example the key
└── Unavailable
    ├── Draining
    └── NotReady

Domain folders raise these; `api.errors` is the one place that maps them to status codes. Messages are for people and
name no secrets, paths or exceptions. Anything else that escapes is a fault of the service and reaches a
caller as INTERNAL.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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


class ProvisoError(Exception):
    """Base of every failure that a caller can be told about. `message` is written for a person. `hint` tells a chat
    model what to do instead; it may be empty."""

    hint = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidRequest(ProvisoError):
    def __init__(self, violations: Sequence[FieldViolation]) -> None:
        super().__init__("; ".join(map(str, violations)))
        self.violations = tuple(violations)

    @classmethod
    def of(cls, field: str, description: str) -> "InvalidRequest":
        """The error for one wrong field."""
        return cls([FieldViolation(field, description)])


class InvalidIql(InvalidRequest):
    """A query that cannot be read. `details` names every fault in one line; the first fault stands from `start` to
    `end`, in code points of the query."""

    def __init__(self, details: str, violations: Sequence[FieldViolation], start: int, end: int) -> None:
        super().__init__(violations)
        self.message = f"Invalid IQL query syntax: {details}"
        self.start = start
        self.end = end


class UnsupportedDocument(ProvisoError): ...


class NotFound(ProvisoError):
    """Base of the errors for things that do not exist; `resource` is the kind of thing, and `name` is its id."""

    resource = "resource"

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


class TurnUnknown(NotFound):
    resource = "turn"


class TurnExpired(NotFound):
    resource = "turn"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.message = f"The events of turn {name!r} are no longer kept; GetTurn has its final state"


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


class FailedPrecondition(ProvisoError): ...


class DocumentNotReady(FailedPrecondition): ...


class NoReadyDocuments(FailedPrecondition):
    def __init__(self) -> None:
        super().__init__("No ready documents found in this matter")


class IndexRebuilding(FailedPrecondition):
    def __init__(self) -> None:
        super().__init__("The vector index is being rebuilt already")


class CatalogInvalid(FailedPrecondition):
    """The agent's folder cannot be used; `faults` are all that is wrong with it. The message names the first ones."""

    def __init__(self, faults: Sequence[FileFault]) -> None:
        named = [str(fault) for fault in faults[:20]]
        more = [f"and {len(faults) - len(named)} more"] if len(faults) > len(named) else []
        super().__init__(f"The agent's folder has faults: {'; '.join([*named, *more])}")
        self.faults = tuple(faults)


class TurnNotWaiting(FailedPrecondition):
    def __init__(self, turn_id: str, call_id: str) -> None:
        super().__init__(f"Turn {turn_id!r} waits for no such decision on call {call_id!r}")


class NoRequestContext(FailedPrecondition):
    def __init__(self, turn_id: str) -> None:
        super().__init__(f"Turn {turn_id!r} has not ended, or called no model: there is no payload to rebuild")


class TooBusy(ProvisoError):
    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelApiError(ProvisoError):
    """A hosted model's service failed: "Isaacus API error: [details]". `details` say what went wrong, and never hold
    the key or the text that was sent."""

    def __init__(self, service: str, details: str) -> None:
        super().__init__(f"{service} API error: {details}")


class ModelApiUnavailable(ModelApiError):
    """It did not answer, or not in time; trying again after `retry_after_s` may help."""

    def __init__(self, service: str, details: str, retry_after_s: float = 1.0) -> None:
        super().__init__(service, details)
        self.retry_after_s = retry_after_s


class ModelApiRefused(ModelApiError):
    """It refused what was sent, for example the key: somebody has to look at the settings."""


class Unavailable(ProvisoError):
    """`retry_after_s` is a hint for RetryInfo."""

    retry_after_s = 1.0


class Draining(Unavailable):
    def __init__(self) -> None:
        super().__init__("The service is stopping; retry on another replica")


class NotReady(Unavailable): ...

"""What all conversions share: enums and times, which the domain and the contract write differently, and the cutting of
responses to less than 3 MB, which is under the 4 MiB that gRPC clients accept by default.

Members of a domain enum and of its proto enum that have the same name mean the same.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from functools import reduce
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from proviso_client.v1 import (
    catalog_pb2,
    chat_pb2,
    context_pb2,
    errors_pb2,
    matters_pb2,
    sessions_pb2,
    tools_pb2,
    turns_pb2,
)
from proviso_service.agent.rebuilding import ItemChange
from proviso_service.analysis.answer_values import ValueKind
from proviso_service.analysis.likelihood import Likelihood
from proviso_service.context.catalog.items import Approval, IncludeModeSource
from proviso_service.context.model import AssetKind, IncludeMode, ItemType, OmissionReason
from proviso_service.errors import FailureCause
from proviso_service.matters import DocumentStatus
from proviso_service.mcp.model import ServerState
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    MAX_ANSWER_CHARS,
    REST_LEFT_OUT,
    CitationKind,
    ContextProblem,
    Decision,
    DiscardReason,
    ExitCause,
    ExitReason,
    MessageRole,
    OnDisconnect,
    Rating,
    RatingReason,
    Retryable,
    TextRelease,
    TurnState,
)

E = TypeVar("E", bound=Enum)
V = TypeVar("V", bound=int)

MICROS = 1_000_000
_DAY_S = 86_400


def table(members: type[E], proto: type[V]) -> Mapping[E, V]:
    """The proto value for each member, found by its name. Raises ValueError for a member without one, so that a mistake
    is noticed when the service starts."""
    wrapper: Any = proto  # generated enums are wrapper objects, typed as classes
    prefix = wrapper.DESCRIPTOR.values[0].name.removesuffix("UNSPECIFIED")
    return {member: wrapper.Value(prefix + member.name) for member in members}


EXIT_REASONS = table(ExitReason, turns_pb2.ExitReason)
FAILURE_CAUSES = table(FailureCause, errors_pb2.FailureCause)
EXIT_CAUSES = table(ExitCause, turns_pb2.ExitCause)
RETRYABLE = table(Retryable, chat_pb2.Retryable)
CONTEXT_PROBLEMS = table(ContextProblem, chat_pb2.ContextProblem)
DISCARD_REASONS = table(DiscardReason, chat_pb2.DiscardReason)
ON_DISCONNECT = table(OnDisconnect, chat_pb2.OnDisconnect)
TEXT_RELEASES = table(TextRelease, chat_pb2.TextRelease)
CITATION_KINDS = table(CitationKind, chat_pb2.CitationKind)
TURN_STATES = table(TurnState, chat_pb2.TurnState)
ITEM_TYPES = table(ItemType, context_pb2.ContextItemType)
INCLUDE_MODES = table(IncludeMode, context_pb2.IncludeMode)
INCLUDE_MODE_SOURCES = table(IncludeModeSource, catalog_pb2.IncludeModeSource)
DECISIONS = table(Decision, turns_pb2.ToolCallDecision)
TOOL_APPROVALS = table(Approval, catalog_pb2.ToolApproval)
TOOL_SERVER_STATES = table(ServerState, catalog_pb2.ToolServerState)
OMISSION_REASONS = table(OmissionReason, context_pb2.OmissionReason)
ASSET_KINDS = table(AssetKind, context_pb2.AssetKind)
ITEM_CHANGES = table(ItemChange, sessions_pb2.ItemChange)
MESSAGE_ROLES = table(MessageRole, sessions_pb2.MessageRole)
RATINGS = table(Rating, sessions_pb2.Rating)
RATING_REASONS = table(RatingReason, sessions_pb2.RatingReason)
LIKELIHOODS = table(Likelihood, tools_pb2.Likelihood)
VALUE_KINDS = table(ValueKind, tools_pb2.ValueKind)
DOCUMENT_STATUSES = table(DocumentStatus, matters_pb2.DocumentStatus)


def failure_cause(cause: FailureCause | None) -> errors_pb2.FailureCause | None:
    """The proto value; None where nothing failed."""
    return FAILURE_CAUSES[cause] if cause else None


def or_none(members: Mapping[E, int]) -> dict[int, E | None]:
    """The member for each proto value, and None for the unspecified one."""
    return {0: None, **{number: member for member, number in members.items()}}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(moment: datetime) -> Timestamp:
    """The timestamp for a moment with a time zone. It takes a third of the time of `Timestamp.FromDatetime`, which
    goes through a calendar; a list has one or two in each item."""
    passed = moment - _EPOCH
    return Timestamp(seconds=passed.days * _DAY_S + passed.seconds, nanos=passed.microseconds * 1_000)


def unix_timestamp(time_s: float) -> Timestamp:
    """The timestamp for a Unix time in seconds, rounded to microseconds."""
    value = Timestamp()
    set_unix_time(value, time_s)
    return value


def set_unix_time(value: Timestamp, time_s: float) -> None:
    """Sets an existing timestamp to a Unix time in seconds, rounded to microseconds."""
    value.seconds, micros = divmod(round(time_s * MICROS), MICROS)
    value.nanos = micros * 1_000


def duration(time_s: float) -> Duration:
    """The duration of so many seconds, at least 0, rounded to microseconds."""
    seconds, micros = divmod(round(time_s * MICROS), MICROS)
    return Duration(seconds=seconds, nanos=micros * 1_000)


MAX_ANSWER_BYTES = 3_000_000

M = TypeVar("M", bound=Message)


def fit(answer: Message, *fields: str, oldest_first: bool = False, size_bytes: int | None = None) -> None:
    """Removes items as `cut` does, and sets `truncated` if anything was removed."""
    if cut(answer, *fields, oldest_first=oldest_first, size_bytes=size_bytes):
        answer.truncated = True  # type: ignore[attr-defined]  # every message that can be cut has the field


def cut(answer: Message, *fields: str, oldest_first: bool = False, size_bytes: int | None = None) -> bool:
    """Removes items of the named repeated fields, one field after the other, until the response fits, and returns
    whether anything was removed. A field of a message in the response is named by its path, such as
    `request_context.items`. Items go from the end of a field, or from its front with `oldest_first`. `size_bytes` is
    the response's size where it is known: to measure it takes as long as to write the response."""
    excess, removed = (answer.ByteSize() if size_bytes is None else size_bytes) - MAX_ANSWER_BYTES, False
    if excess <= 0:
        return False
    for field in fields:
        items: Any = reduce(getattr, field.split("."), answer)
        candidates = items if oldest_first else reversed(items)
        count = 0
        for item in candidates:
            if excess <= 0:
                break
            excess -= _size(item)
            count += 1
        if count:
            del items[slice(0, count) if oldest_first else slice(len(items) - count, None)]
            removed = True
    return removed


_MAX_CUT_CHARS = MAX_ANSWER_CHARS + max(map(len, REST_LEFT_OUT.values()))


def is_too_long(text: str) -> bool:
    """Whether a text is longer than an answer can be."""
    return len(text) > _MAX_CUT_CHARS


def shortened(text: str) -> str:
    """The text as far as an answer can go, with what says that the rest was left out; the same text when it is not too
    long. Answers are cut where they are made; those that an earlier version has stored are cut where they are shown."""
    return text[:MAX_ANSWER_CHARS] + REST_LEFT_OUT["en"] if is_too_long(text) else text


def clear_if_too_large(answer: Message, field: str) -> None:
    """Clears a text field if the response would not fit with it; for texts that are useless in part, such as JSON."""
    if answer.ByteSize() > MAX_ANSWER_BYTES:
        answer.ClearField(field)
        answer.truncated = True  # type: ignore[attr-defined]  # as above


async def fitting_page(page: PageRequest, answer_for: Callable[[PageRequest], Awaitable[M]]) -> M:
    """The response for a page. If it is too large, the page is halved until its response fits; the token of the
    response leads to the rest."""
    while True:
        answer = await answer_for(page)
        if answer.ByteSize() <= MAX_ANSWER_BYTES or page.size == 1:
            return answer
        page = replace(page, size=page.size // 2)


def _size(item: Message | str) -> int:
    return len(item.encode()) if isinstance(item, str) else item.ByteSize()

"""What all conversions share: enums and times, which the domain and the contract write differently, and the cutting of
responses to less than 3 MB, which is under the 4 MiB that gRPC clients accept by default.

Members of a domain enum and of its proto enum that have the same name mean the same.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from proviso_client.v1 import catalog_pb2, chat_pb2, context_pb2, matters_pb2, sessions_pb2, turns_pb2
from proviso_service.agent.rebuilding import ItemChange
from proviso_service.context.catalog.items import Approval, IncludeModeSource
from proviso_service.context.model import AssetKind, IncludeMode, ItemType, OmissionReason
from proviso_service.matters import DocumentStatus
from proviso_service.mcp.model import ServerState
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    ContextProblem,
    Decision,
    DiscardReason,
    ExitReason,
    MessageRole,
    OnDisconnect,
    Retryable,
    TurnState,
)

E = TypeVar("E", bound=Enum)
V = TypeVar("V", bound=int)

MICROS = 1_000_000


def table(members: type[E], proto: type[V]) -> Mapping[E, V]:
    """The proto value for each member, found by its name. Raises ValueError for a member without one, so that a mistake
    is noticed when the service starts."""
    wrapper: Any = proto  # generated enums are wrapper objects, typed as classes
    prefix = wrapper.DESCRIPTOR.values[0].name.removesuffix("UNSPECIFIED")
    return {member: wrapper.Value(prefix + member.name) for member in members}


EXIT_REASONS = table(ExitReason, turns_pb2.ExitReason)
RETRYABLE = table(Retryable, chat_pb2.Retryable)
CONTEXT_PROBLEMS = table(ContextProblem, chat_pb2.ContextProblem)
DISCARD_REASONS = table(DiscardReason, chat_pb2.DiscardReason)
ON_DISCONNECT = table(OnDisconnect, chat_pb2.OnDisconnect)
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
DOCUMENT_STATUSES = table(DocumentStatus, matters_pb2.DocumentStatus)


def timestamp(moment: datetime) -> Timestamp:
    value = Timestamp()
    value.FromDatetime(moment)
    return value


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


def fit(answer: Message, *fields: str, oldest_first: bool = False) -> None:
    """Removes items of the named repeated fields, one field after the other, until the response fits. Items go from the
    end of a field, or from its front with `oldest_first`. Sets `truncated` if anything was removed."""
    excess = answer.ByteSize() - MAX_ANSWER_BYTES
    for field in fields:
        items = getattr(answer, field)
        candidates = items if oldest_first else reversed(items)
        count = 0
        for item in candidates:
            if excess <= 0:
                break
            excess -= _size(item)
            count += 1
        if count:
            del items[slice(0, count) if oldest_first else slice(len(items) - count, None)]
            answer.truncated = True  # type: ignore[attr-defined]  # every message that can be cut has the field


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

"""Enums and times: the values that the domain and the contract write differently.

Members of a domain enum and of its proto enum that have the same name mean the same.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from proviso_client.v1 import catalog_pb2, chat_pb2, context_pb2, matters_pb2, sessions_pb2, turns_pb2
from proviso_service.agent.rebuilding import ItemChange
from proviso_service.context.catalog.items import Approval, IncludeModeSource
from proviso_service.context.model import AssetKind, IncludeMode, ItemType, OmissionReason
from proviso_service.matters import DocumentStatus
from proviso_service.mcp.model import ServerState
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

import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import context_pb2 as _context_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IncludeModeSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INCLUDE_MODE_SOURCE_UNSPECIFIED: _ClassVar[IncludeModeSource]
    INCLUDE_MODE_SOURCE_ITEM: _ClassVar[IncludeModeSource]
    INCLUDE_MODE_SOURCE_SERVER: _ClassVar[IncludeModeSource]
    INCLUDE_MODE_SOURCE_DEFAULT: _ClassVar[IncludeModeSource]

class ToolApproval(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_APPROVAL_UNSPECIFIED: _ClassVar[ToolApproval]
    TOOL_APPROVAL_NONE: _ClassVar[ToolApproval]
    TOOL_APPROVAL_REQUIRED: _ClassVar[ToolApproval]

class ToolServerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_SERVER_STATE_UNSPECIFIED: _ClassVar[ToolServerState]
    TOOL_SERVER_STATE_STARTING: _ClassVar[ToolServerState]
    TOOL_SERVER_STATE_READY: _ClassVar[ToolServerState]
    TOOL_SERVER_STATE_FAILED: _ClassVar[ToolServerState]
    TOOL_SERVER_STATE_DISABLED: _ClassVar[ToolServerState]
INCLUDE_MODE_SOURCE_UNSPECIFIED: IncludeModeSource
INCLUDE_MODE_SOURCE_ITEM: IncludeModeSource
INCLUDE_MODE_SOURCE_SERVER: IncludeModeSource
INCLUDE_MODE_SOURCE_DEFAULT: IncludeModeSource
TOOL_APPROVAL_UNSPECIFIED: ToolApproval
TOOL_APPROVAL_NONE: ToolApproval
TOOL_APPROVAL_REQUIRED: ToolApproval
TOOL_SERVER_STATE_UNSPECIFIED: ToolServerState
TOOL_SERVER_STATE_STARTING: ToolServerState
TOOL_SERVER_STATE_READY: ToolServerState
TOOL_SERVER_STATE_FAILED: ToolServerState
TOOL_SERVER_STATE_DISABLED: ToolServerState

class CatalogItem(_message.Message):
    __slots__ = ("item", "description", "include_mode", "include_mode_source", "characters", "content_sha256", "priority", "enabled", "approval", "locked")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_MODE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_MODE_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    item: _context_pb2.ContextItemRef
    description: str
    include_mode: _context_pb2.IncludeMode
    include_mode_source: IncludeModeSource
    characters: int
    content_sha256: str
    priority: int
    enabled: bool
    approval: ToolApproval
    locked: bool
    def __init__(self, item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ..., description: _Optional[str] = ..., include_mode: _Optional[_Union[_context_pb2.IncludeMode, str]] = ..., include_mode_source: _Optional[_Union[IncludeModeSource, str]] = ..., characters: _Optional[int] = ..., content_sha256: _Optional[str] = ..., priority: _Optional[int] = ..., enabled: _Optional[bool] = ..., approval: _Optional[_Union[ToolApproval, str]] = ..., locked: _Optional[bool] = ...) -> None: ...

class ListContextItemsRequest(_message.Message):
    __slots__ = ("type", "page_size", "page_token")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    type: _context_pb2.ContextItemType
    page_size: int
    page_token: str
    def __init__(self, type: _Optional[_Union[_context_pb2.ContextItemType, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListContextItemsResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "total_size")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[CatalogItem]
    next_page_token: str
    total_size: int
    def __init__(self, items: _Optional[_Iterable[_Union[CatalogItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class GetContextItemRequest(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: _context_pb2.ContextItemRef
    def __init__(self, item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ...) -> None: ...

class GetContextItemResponse(_message.Message):
    __slots__ = ("item", "content")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    item: CatalogItem
    content: str
    def __init__(self, item: _Optional[_Union[CatalogItem, _Mapping]] = ..., content: _Optional[str] = ...) -> None: ...

class ReloadCatalogRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadCatalogResponse(_message.Message):
    __slots__ = ("item_count",)
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    item_count: int
    def __init__(self, item_count: _Optional[int] = ...) -> None: ...

class ListToolServersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RefusedTool(_message.Message):
    __slots__ = ("name", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ToolServer(_message.Message):
    __slots__ = ("name", "state", "state_time", "reason", "starts", "tool_count", "refused", "include_mode")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STARTS_FIELD_NUMBER: _ClassVar[int]
    TOOL_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_MODE_FIELD_NUMBER: _ClassVar[int]
    name: str
    state: ToolServerState
    state_time: _timestamp_pb2.Timestamp
    reason: str
    starts: int
    tool_count: int
    refused: _containers.RepeatedCompositeFieldContainer[RefusedTool]
    include_mode: _context_pb2.IncludeMode
    def __init__(self, name: _Optional[str] = ..., state: _Optional[_Union[ToolServerState, str]] = ..., state_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., starts: _Optional[int] = ..., tool_count: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[RefusedTool, _Mapping]]] = ..., include_mode: _Optional[_Union[_context_pb2.IncludeMode, str]] = ...) -> None: ...

class ListToolServersResponse(_message.Message):
    __slots__ = ("servers",)
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    servers: _containers.RepeatedCompositeFieldContainer[ToolServer]
    def __init__(self, servers: _Optional[_Iterable[_Union[ToolServer, _Mapping]]] = ...) -> None: ...

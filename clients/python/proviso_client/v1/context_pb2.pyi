import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContextItemType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_ITEM_TYPE_UNSPECIFIED: _ClassVar[ContextItemType]
    CONTEXT_ITEM_TYPE_RULE: _ClassVar[ContextItemType]
    CONTEXT_ITEM_TYPE_REFERENCE: _ClassVar[ContextItemType]
    CONTEXT_ITEM_TYPE_TOOL: _ClassVar[ContextItemType]

class IncludeMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INCLUDE_MODE_UNSPECIFIED: _ClassVar[IncludeMode]
    INCLUDE_MODE_ALWAYS: _ClassVar[IncludeMode]
    INCLUDE_MODE_MANUAL: _ClassVar[IncludeMode]
    INCLUDE_MODE_AGENT: _ClassVar[IncludeMode]

class OmissionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OMISSION_REASON_UNSPECIFIED: _ClassVar[OmissionReason]
    OMISSION_REASON_BELOW_THRESHOLD: _ClassVar[OmissionReason]
    OMISSION_REASON_BUDGET: _ClassVar[OmissionReason]
    OMISSION_REASON_SEARCH_FAILED: _ClassVar[OmissionReason]
    OMISSION_REASON_DISABLED: _ClassVar[OmissionReason]

class AssetKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ASSET_KIND_UNSPECIFIED: _ClassVar[AssetKind]
    ASSET_KIND_DOCUMENT: _ClassVar[AssetKind]
    ASSET_KIND_IMAGE: _ClassVar[AssetKind]
CONTEXT_ITEM_TYPE_UNSPECIFIED: ContextItemType
CONTEXT_ITEM_TYPE_RULE: ContextItemType
CONTEXT_ITEM_TYPE_REFERENCE: ContextItemType
CONTEXT_ITEM_TYPE_TOOL: ContextItemType
INCLUDE_MODE_UNSPECIFIED: IncludeMode
INCLUDE_MODE_ALWAYS: IncludeMode
INCLUDE_MODE_MANUAL: IncludeMode
INCLUDE_MODE_AGENT: IncludeMode
OMISSION_REASON_UNSPECIFIED: OmissionReason
OMISSION_REASON_BELOW_THRESHOLD: OmissionReason
OMISSION_REASON_BUDGET: OmissionReason
OMISSION_REASON_SEARCH_FAILED: OmissionReason
OMISSION_REASON_DISABLED: OmissionReason
ASSET_KIND_UNSPECIFIED: AssetKind
ASSET_KIND_DOCUMENT: AssetKind
ASSET_KIND_IMAGE: AssetKind

class ContextItemRef(_message.Message):
    __slots__ = ("type", "name", "server_name")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    type: ContextItemType
    name: str
    server_name: str
    def __init__(self, type: _Optional[_Union[ContextItemType, str]] = ..., name: _Optional[str] = ..., server_name: _Optional[str] = ...) -> None: ...

class RequestContextItem(_message.Message):
    __slots__ = ("type", "name", "server_name", "include_mode", "similarity_score", "content_sha256", "missing", "note", "cited")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_MODE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    CITED_FIELD_NUMBER: _ClassVar[int]
    type: ContextItemType
    name: str
    server_name: str
    include_mode: IncludeMode
    similarity_score: float
    content_sha256: str
    missing: bool
    note: str
    cited: bool
    def __init__(self, type: _Optional[_Union[ContextItemType, str]] = ..., name: _Optional[str] = ..., server_name: _Optional[str] = ..., include_mode: _Optional[_Union[IncludeMode, str]] = ..., similarity_score: _Optional[float] = ..., content_sha256: _Optional[str] = ..., missing: _Optional[bool] = ..., note: _Optional[str] = ..., cited: _Optional[bool] = ...) -> None: ...

class OmittedContextItem(_message.Message):
    __slots__ = ("item", "reason", "score")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    item: ContextItemRef
    reason: OmissionReason
    score: float
    def __init__(self, item: _Optional[_Union[ContextItemRef, _Mapping]] = ..., reason: _Optional[_Union[OmissionReason, str]] = ..., score: _Optional[float] = ...) -> None: ...

class MatterContext(_message.Message):
    __slots__ = ("matter_id", "matter_name", "document_id", "document_name")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    MATTER_NAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_NAME_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    matter_name: str
    document_id: str
    document_name: str
    def __init__(self, matter_id: _Optional[str] = ..., matter_name: _Optional[str] = ..., document_id: _Optional[str] = ..., document_name: _Optional[str] = ...) -> None: ...

class DocumentContext(_message.Message):
    __slots__ = ("filename", "type", "summary")
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    filename: str
    type: str
    summary: str
    def __init__(self, filename: _Optional[str] = ..., type: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class AssetUse(_message.Message):
    __slots__ = ("kind", "name", "included", "note", "text", "content_sha256", "media_type")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    kind: AssetKind
    name: str
    included: bool
    note: str
    text: str
    content_sha256: str
    media_type: str
    def __init__(self, kind: _Optional[_Union[AssetKind, str]] = ..., name: _Optional[str] = ..., included: _Optional[bool] = ..., note: _Optional[str] = ..., text: _Optional[str] = ..., content_sha256: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class ContextFill(_message.Message):
    __slots__ = ("characters_used", "characters_limit", "tokens_used", "tokens_limit", "item_characters", "item_characters_limit", "item_tokens", "item_tokens_limit", "near_limit")
    CHARACTERS_USED_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_USED_FIELD_NUMBER: _ClassVar[int]
    TOKENS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    ITEM_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    ITEM_CHARACTERS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    ITEM_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ITEM_TOKENS_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NEAR_LIMIT_FIELD_NUMBER: _ClassVar[int]
    characters_used: int
    characters_limit: int
    tokens_used: int
    tokens_limit: int
    item_characters: int
    item_characters_limit: int
    item_tokens: int
    item_tokens_limit: int
    near_limit: bool
    def __init__(self, characters_used: _Optional[int] = ..., characters_limit: _Optional[int] = ..., tokens_used: _Optional[int] = ..., tokens_limit: _Optional[int] = ..., item_characters: _Optional[int] = ..., item_characters_limit: _Optional[int] = ..., item_tokens: _Optional[int] = ..., item_tokens_limit: _Optional[int] = ..., near_limit: _Optional[bool] = ...) -> None: ...

class RequestContext(_message.Message):
    __slots__ = ("items", "omitted", "matter_context", "assets", "fill", "timestamp", "payload_sha256", "system_prompt_sha256")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_FIELD_NUMBER: _ClassVar[int]
    MATTER_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    ASSETS_FIELD_NUMBER: _ClassVar[int]
    FILL_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_SHA256_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_SHA256_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RequestContextItem]
    omitted: _containers.RepeatedCompositeFieldContainer[OmittedContextItem]
    matter_context: MatterContext
    assets: _containers.RepeatedCompositeFieldContainer[AssetUse]
    fill: ContextFill
    timestamp: _timestamp_pb2.Timestamp
    payload_sha256: str
    system_prompt_sha256: str
    def __init__(self, items: _Optional[_Iterable[_Union[RequestContextItem, _Mapping]]] = ..., omitted: _Optional[_Iterable[_Union[OmittedContextItem, _Mapping]]] = ..., matter_context: _Optional[_Union[MatterContext, _Mapping]] = ..., assets: _Optional[_Iterable[_Union[AssetUse, _Mapping]]] = ..., fill: _Optional[_Union[ContextFill, _Mapping]] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., payload_sha256: _Optional[str] = ..., system_prompt_sha256: _Optional[str] = ...) -> None: ...

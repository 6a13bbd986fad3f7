import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallerRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALLER_ROLE_UNSPECIFIED: _ClassVar[CallerRole]
    CALLER_ROLE_ADMIN: _ClassVar[CallerRole]
    CALLER_ROLE_AUDITOR: _ClassVar[CallerRole]
    CALLER_ROLE_OPERATOR: _ClassVar[CallerRole]
    CALLER_ROLE_ACT_FOR_USERS: _ClassVar[CallerRole]

class Quota(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUOTA_UNSPECIFIED: _ClassVar[Quota]
    QUOTA_REQUESTS_PER_MINUTE: _ClassVar[Quota]
    QUOTA_TURNS_PER_DAY: _ClassVar[Quota]
    QUOTA_TOKENS_PER_DAY: _ClassVar[Quota]
    QUOTA_STREAMS: _ClassVar[Quota]
    QUOTA_DOCUMENTS: _ClassVar[Quota]
    QUOTA_BYTES: _ClassVar[Quota]

class AuditOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_OUTCOME_UNSPECIFIED: _ClassVar[AuditOutcome]
    AUDIT_OUTCOME_DONE: _ClassVar[AuditOutcome]
    AUDIT_OUTCOME_REFUSED: _ClassVar[AuditOutcome]

class DeletionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DELETION_KIND_UNSPECIFIED: _ClassVar[DeletionKind]
    DELETION_KIND_MATTER: _ClassVar[DeletionKind]
    DELETION_KIND_DOCUMENT: _ClassVar[DeletionKind]
    DELETION_KIND_SESSION: _ClassVar[DeletionKind]
    DELETION_KIND_TURNS: _ClassVar[DeletionKind]
CALLER_ROLE_UNSPECIFIED: CallerRole
CALLER_ROLE_ADMIN: CallerRole
CALLER_ROLE_AUDITOR: CallerRole
CALLER_ROLE_OPERATOR: CallerRole
CALLER_ROLE_ACT_FOR_USERS: CallerRole
QUOTA_UNSPECIFIED: Quota
QUOTA_REQUESTS_PER_MINUTE: Quota
QUOTA_TURNS_PER_DAY: Quota
QUOTA_TOKENS_PER_DAY: Quota
QUOTA_STREAMS: Quota
QUOTA_DOCUMENTS: Quota
QUOTA_BYTES: Quota
AUDIT_OUTCOME_UNSPECIFIED: AuditOutcome
AUDIT_OUTCOME_DONE: AuditOutcome
AUDIT_OUTCOME_REFUSED: AuditOutcome
DELETION_KIND_UNSPECIFIED: DeletionKind
DELETION_KIND_MATTER: DeletionKind
DELETION_KIND_DOCUMENT: DeletionKind
DELETION_KIND_SESSION: DeletionKind
DELETION_KIND_TURNS: DeletionKind

class GetCallerRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetCallerResponse(_message.Message):
    __slots__ = ("tenant", "user_id", "roles", "authenticated")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    AUTHENTICATED_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    user_id: str
    roles: _containers.RepeatedScalarFieldContainer[CallerRole]
    authenticated: bool
    def __init__(self, tenant: _Optional[str] = ..., user_id: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[CallerRole, str]]] = ..., authenticated: _Optional[bool] = ...) -> None: ...

class GetUsageRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class QuotaUsage(_message.Message):
    __slots__ = ("quota", "used", "limit", "reset_time")
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    RESET_TIME_FIELD_NUMBER: _ClassVar[int]
    quota: Quota
    used: float
    limit: float
    reset_time: _timestamp_pb2.Timestamp
    def __init__(self, quota: _Optional[_Union[Quota, str]] = ..., used: _Optional[float] = ..., limit: _Optional[float] = ..., reset_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetUsageResponse(_message.Message):
    __slots__ = ("usage",)
    USAGE_FIELD_NUMBER: _ClassVar[int]
    usage: _containers.RepeatedCompositeFieldContainer[QuotaUsage]
    def __init__(self, usage: _Optional[_Iterable[_Union[QuotaUsage, _Mapping]]] = ...) -> None: ...

class AuditFilter(_message.Message):
    __slots__ = ("matter_id", "user_id", "method", "start_time", "end_time")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    user_id: str
    method: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, matter_id: _Optional[str] = ..., user_id: _Optional[str] = ..., method: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListAuditEventsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "filter")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    filter: AuditFilter
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., filter: _Optional[_Union[AuditFilter, _Mapping]] = ...) -> None: ...

class AuditEvent(_message.Message):
    __slots__ = ("sequence", "time", "user_id", "key", "method", "action", "resource", "resource_id", "matter_id", "outcome", "peer", "request_id", "previous_hash", "hash")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HASH_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    sequence: float
    time: _timestamp_pb2.Timestamp
    user_id: str
    key: str
    method: str
    action: str
    resource: str
    resource_id: str
    matter_id: str
    outcome: AuditOutcome
    peer: str
    request_id: str
    previous_hash: str
    hash: str
    def __init__(self, sequence: _Optional[float] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., user_id: _Optional[str] = ..., key: _Optional[str] = ..., method: _Optional[str] = ..., action: _Optional[str] = ..., resource: _Optional[str] = ..., resource_id: _Optional[str] = ..., matter_id: _Optional[str] = ..., outcome: _Optional[_Union[AuditOutcome, str]] = ..., peer: _Optional[str] = ..., request_id: _Optional[str] = ..., previous_hash: _Optional[str] = ..., hash: _Optional[str] = ...) -> None: ...

class ListAuditEventsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[AuditEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[AuditEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Deletion(_message.Message):
    __slots__ = ("deletion_id", "kind", "user_id", "matter_id", "resource_id", "request_time", "complete_time", "documents", "turns", "messages", "size_bytes")
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_TIME_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TIME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    kind: DeletionKind
    user_id: str
    matter_id: str
    resource_id: str
    request_time: _timestamp_pb2.Timestamp
    complete_time: _timestamp_pb2.Timestamp
    documents: int
    turns: int
    messages: int
    size_bytes: float
    def __init__(self, deletion_id: _Optional[str] = ..., kind: _Optional[_Union[DeletionKind, str]] = ..., user_id: _Optional[str] = ..., matter_id: _Optional[str] = ..., resource_id: _Optional[str] = ..., request_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., complete_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., documents: _Optional[int] = ..., turns: _Optional[int] = ..., messages: _Optional[int] = ..., size_bytes: _Optional[float] = ...) -> None: ...

class GetDeletionRequest(_message.Message):
    __slots__ = ("deletion_id", "user_id")
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    user_id: str
    def __init__(self, deletion_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class GetDeletionResponse(_message.Message):
    __slots__ = ("deletion",)
    DELETION_FIELD_NUMBER: _ClassVar[int]
    deletion: Deletion
    def __init__(self, deletion: _Optional[_Union[Deletion, _Mapping]] = ...) -> None: ...

class ListDeletionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "matter_id", "user_id")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    matter_id: str
    user_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., matter_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListDeletionsResponse(_message.Message):
    __slots__ = ("deletions", "next_page_token", "total_size")
    DELETIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    deletions: _containers.RepeatedCompositeFieldContainer[Deletion]
    next_page_token: str
    total_size: int
    def __init__(self, deletions: _Optional[_Iterable[_Union[Deletion, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

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

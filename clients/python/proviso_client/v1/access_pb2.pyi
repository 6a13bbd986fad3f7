from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallerRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALLER_ROLE_UNSPECIFIED: _ClassVar[CallerRole]
    CALLER_ROLE_ADMIN: _ClassVar[CallerRole]
    CALLER_ROLE_AUDITOR: _ClassVar[CallerRole]
    CALLER_ROLE_OPERATOR: _ClassVar[CallerRole]
    CALLER_ROLE_ACT_FOR_USERS: _ClassVar[CallerRole]
CALLER_ROLE_UNSPECIFIED: CallerRole
CALLER_ROLE_ADMIN: CallerRole
CALLER_ROLE_AUDITOR: CallerRole
CALLER_ROLE_OPERATOR: CallerRole
CALLER_ROLE_ACT_FOR_USERS: CallerRole

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

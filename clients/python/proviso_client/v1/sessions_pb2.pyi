import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import context_pb2 as _context_pb2
from proviso_client.v1 import turns_pb2 as _turns_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Rating(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RATING_UNSPECIFIED: _ClassVar[Rating]
    RATING_UP: _ClassVar[Rating]
    RATING_DOWN: _ClassVar[Rating]

class RatingReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RATING_REASON_UNSPECIFIED: _ClassVar[RatingReason]
    RATING_REASON_INCORRECT: _ClassVar[RatingReason]
    RATING_REASON_INCOMPLETE: _ClassVar[RatingReason]
    RATING_REASON_WRONG_SOURCE: _ClassVar[RatingReason]
    RATING_REASON_UNCLEAR: _ClassVar[RatingReason]
    RATING_REASON_OFF_TOPIC: _ClassVar[RatingReason]
    RATING_REASON_TOO_SLOW: _ClassVar[RatingReason]
    RATING_REASON_OTHER: _ClassVar[RatingReason]

class MessageRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_ROLE_UNSPECIFIED: _ClassVar[MessageRole]
    MESSAGE_ROLE_USER: _ClassVar[MessageRole]
    MESSAGE_ROLE_SYSTEM: _ClassVar[MessageRole]
    MESSAGE_ROLE_ERROR: _ClassVar[MessageRole]
    MESSAGE_ROLE_APPROVAL: _ClassVar[MessageRole]
    MESSAGE_ROLE_ASSISTANT: _ClassVar[MessageRole]

class ItemChange(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ITEM_CHANGE_UNSPECIFIED: _ClassVar[ItemChange]
    ITEM_CHANGE_CHANGED: _ClassVar[ItemChange]
    ITEM_CHANGE_MISSING: _ClassVar[ItemChange]
    ITEM_CHANGE_LOST: _ClassVar[ItemChange]
RATING_UNSPECIFIED: Rating
RATING_UP: Rating
RATING_DOWN: Rating
RATING_REASON_UNSPECIFIED: RatingReason
RATING_REASON_INCORRECT: RatingReason
RATING_REASON_INCOMPLETE: RatingReason
RATING_REASON_WRONG_SOURCE: RatingReason
RATING_REASON_UNCLEAR: RatingReason
RATING_REASON_OFF_TOPIC: RatingReason
RATING_REASON_TOO_SLOW: RatingReason
RATING_REASON_OTHER: RatingReason
MESSAGE_ROLE_UNSPECIFIED: MessageRole
MESSAGE_ROLE_USER: MessageRole
MESSAGE_ROLE_SYSTEM: MessageRole
MESSAGE_ROLE_ERROR: MessageRole
MESSAGE_ROLE_APPROVAL: MessageRole
MESSAGE_ROLE_ASSISTANT: MessageRole
ITEM_CHANGE_UNSPECIFIED: ItemChange
ITEM_CHANGE_CHANGED: ItemChange
ITEM_CHANGE_MISSING: ItemChange
ITEM_CHANGE_LOST: ItemChange

class AnswerRating(_message.Message):
    __slots__ = ("rating", "reason", "text", "rate_time")
    RATING_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RATE_TIME_FIELD_NUMBER: _ClassVar[int]
    rating: Rating
    reason: RatingReason
    text: str
    rate_time: _timestamp_pb2.Timestamp
    def __init__(self, rating: _Optional[_Union[Rating, str]] = ..., reason: _Optional[_Union[RatingReason, str]] = ..., text: _Optional[str] = ..., rate_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ChatMessage(_message.Message):
    __slots__ = ("role", "content", "request_context", "create_time", "turn_id", "message_id", "turn", "rating")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    role: MessageRole
    content: str
    request_context: _context_pb2.RequestContext
    create_time: _timestamp_pb2.Timestamp
    turn_id: str
    message_id: str
    turn: _turns_pb2.TurnSummary
    rating: AnswerRating
    def __init__(self, role: _Optional[_Union[MessageRole, str]] = ..., content: _Optional[str] = ..., request_context: _Optional[_Union[_context_pb2.RequestContext, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_id: _Optional[str] = ..., message_id: _Optional[str] = ..., turn: _Optional[_Union[_turns_pb2.TurnSummary, _Mapping]] = ..., rating: _Optional[_Union[AnswerRating, _Mapping]] = ...) -> None: ...

class SessionContextItem(_message.Message):
    __slots__ = ("item", "include_mode", "missing", "locked")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_MODE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    LOCKED_FIELD_NUMBER: _ClassVar[int]
    item: _context_pb2.ContextItemRef
    include_mode: _context_pb2.IncludeMode
    missing: bool
    locked: bool
    def __init__(self, item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ..., include_mode: _Optional[_Union[_context_pb2.IncludeMode, str]] = ..., missing: _Optional[bool] = ..., locked: _Optional[bool] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("session_id", "items", "matter_context", "create_time", "update_time", "running_turn_id", "message_count", "approved_tools", "title", "notes")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    MATTER_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    RUNNING_TURN_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    APPROVED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    items: _containers.RepeatedCompositeFieldContainer[SessionContextItem]
    matter_context: _context_pb2.MatterContext
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    running_turn_id: str
    message_count: int
    approved_tools: _containers.RepeatedCompositeFieldContainer[_context_pb2.ContextItemRef]
    title: str
    notes: str
    def __init__(self, session_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[SessionContextItem, _Mapping]]] = ..., matter_context: _Optional[_Union[_context_pb2.MatterContext, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., running_turn_id: _Optional[str] = ..., message_count: _Optional[int] = ..., approved_tools: _Optional[_Iterable[_Union[_context_pb2.ContextItemRef, _Mapping]]] = ..., title: _Optional[str] = ..., notes: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "request_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    request_id: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ContinueSessionRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "new_session_id", "request_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NEW_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    new_session_id: str
    request_id: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., new_session_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ContinueSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id", "user_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token", "total_size")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    next_page_token: str
    total_size: int
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class UpdateSessionRequest(_message.Message):
    __slots__ = ("session", "update_mask", "user_id")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    session: Session
    update_mask: _field_mask_pb2.FieldMask
    user_id: str
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., user_id: _Optional[str] = ...) -> None: ...

class UpdateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("session_id", "user_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("deletion_id",)
    DELETION_ID_FIELD_NUMBER: _ClassVar[int]
    deletion_id: str
    def __init__(self, deletion_id: _Optional[str] = ...) -> None: ...

class AddContextItemRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "item")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    item: _context_pb2.ContextItemRef
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ...) -> None: ...

class AddContextItemResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class RemoveContextItemRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "item")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    item: _context_pb2.ContextItemRef
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ...) -> None: ...

class RemoveContextItemResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class ListMessagesRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMessagesResponse(_message.Message):
    __slots__ = ("messages", "next_page_token", "total_size")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[ChatMessage]
    next_page_token: str
    total_size: int
    def __init__(self, messages: _Optional[_Iterable[_Union[ChatMessage, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class PreviewRequestContextRequest(_message.Message):
    __slots__ = ("session_id", "user_id", "message", "matter_context", "image_urls", "document_context", "selected_assets")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MATTER_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_URLS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SELECTED_ASSETS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    message: str
    matter_context: _context_pb2.MatterContext
    image_urls: _containers.RepeatedScalarFieldContainer[str]
    document_context: _containers.RepeatedCompositeFieldContainer[_context_pb2.DocumentContext]
    selected_assets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ..., message: _Optional[str] = ..., matter_context: _Optional[_Union[_context_pb2.MatterContext, _Mapping]] = ..., image_urls: _Optional[_Iterable[str]] = ..., document_context: _Optional[_Iterable[_Union[_context_pb2.DocumentContext, _Mapping]]] = ..., selected_assets: _Optional[_Iterable[str]] = ...) -> None: ...

class PreviewRequestContextResponse(_message.Message):
    __slots__ = ("request_context",)
    REQUEST_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    request_context: _context_pb2.RequestContext
    def __init__(self, request_context: _Optional[_Union[_context_pb2.RequestContext, _Mapping]] = ...) -> None: ...

class RebuildRequestRequest(_message.Message):
    __slots__ = ("turn_id", "user_id")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    user_id: str
    def __init__(self, turn_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class ItemDifference(_message.Message):
    __slots__ = ("item", "change", "used_sha256", "current_sha256")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    USED_SHA256_FIELD_NUMBER: _ClassVar[int]
    CURRENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    item: _context_pb2.ContextItemRef
    change: ItemChange
    used_sha256: str
    current_sha256: str
    def __init__(self, item: _Optional[_Union[_context_pb2.ContextItemRef, _Mapping]] = ..., change: _Optional[_Union[ItemChange, str]] = ..., used_sha256: _Optional[str] = ..., current_sha256: _Optional[str] = ...) -> None: ...

class RebuildRequestResponse(_message.Message):
    __slots__ = ("payload_json", "payload_sha256", "recorded_sha256", "matches", "differences", "system_prompt_changed", "truncated")
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_SHA256_FIELD_NUMBER: _ClassVar[int]
    RECORDED_SHA256_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    payload_json: str
    payload_sha256: str
    recorded_sha256: str
    matches: bool
    differences: _containers.RepeatedCompositeFieldContainer[ItemDifference]
    system_prompt_changed: bool
    truncated: bool
    def __init__(self, payload_json: _Optional[str] = ..., payload_sha256: _Optional[str] = ..., recorded_sha256: _Optional[str] = ..., matches: _Optional[bool] = ..., differences: _Optional[_Iterable[_Union[ItemDifference, _Mapping]]] = ..., system_prompt_changed: _Optional[bool] = ..., truncated: _Optional[bool] = ...) -> None: ...

class SuggestRemovalsRequest(_message.Message):
    __slots__ = ("session_id", "user_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    user_id: str
    def __init__(self, session_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class RemovalSuggestion(_message.Message):
    __slots__ = ("item", "answers")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    item: SessionContextItem
    answers: int
    def __init__(self, item: _Optional[_Union[SessionContextItem, _Mapping]] = ..., answers: _Optional[int] = ...) -> None: ...

class SuggestRemovalsResponse(_message.Message):
    __slots__ = ("suggestions", "answers")
    SUGGESTIONS_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    suggestions: _containers.RepeatedCompositeFieldContainer[RemovalSuggestion]
    answers: int
    def __init__(self, suggestions: _Optional[_Iterable[_Union[RemovalSuggestion, _Mapping]]] = ..., answers: _Optional[int] = ...) -> None: ...

class RateAnswerRequest(_message.Message):
    __slots__ = ("turn_id", "user_id", "rating", "reason", "text")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RATING_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    user_id: str
    rating: Rating
    reason: RatingReason
    text: str
    def __init__(self, turn_id: _Optional[str] = ..., user_id: _Optional[str] = ..., rating: _Optional[_Union[Rating, str]] = ..., reason: _Optional[_Union[RatingReason, str]] = ..., text: _Optional[str] = ...) -> None: ...

class RateAnswerResponse(_message.Message):
    __slots__ = ("rating",)
    RATING_FIELD_NUMBER: _ClassVar[int]
    rating: AnswerRating
    def __init__(self, rating: _Optional[_Union[AnswerRating, _Mapping]] = ...) -> None: ...

import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import context_pb2 as _context_pb2
from proviso_client.v1 import errors_pb2 as _errors_pb2
from proviso_client.v1 import sessions_pb2 as _sessions_pb2
from proviso_client.v1 import turns_pb2 as _turns_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Retryable(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETRYABLE_UNSPECIFIED: _ClassVar[Retryable]
    RETRYABLE_YES: _ClassVar[Retryable]
    RETRYABLE_NO: _ClassVar[Retryable]
    RETRYABLE_MAYBE: _ClassVar[Retryable]
    RETRYABLE_NOT_APPLICABLE: _ClassVar[Retryable]

class ContextProblem(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_PROBLEM_UNSPECIFIED: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_MATTER_REQUIRED: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_MATTER_NOT_FOUND: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_DOCUMENT_PROCESSING: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_DOCUMENT_FAILED: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_DOCUMENT_NOT_FOUND: _ClassVar[ContextProblem]
    CONTEXT_PROBLEM_CONTEXT_UNCLEAR: _ClassVar[ContextProblem]

class OnDisconnect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_DISCONNECT_UNSPECIFIED: _ClassVar[OnDisconnect]
    ON_DISCONNECT_GRACE: _ClassVar[OnDisconnect]
    ON_DISCONNECT_CONTINUE: _ClassVar[OnDisconnect]
    ON_DISCONNECT_CANCEL: _ClassVar[OnDisconnect]

class DiscardReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISCARD_REASON_UNSPECIFIED: _ClassVar[DiscardReason]
    DISCARD_REASON_GROUNDING: _ClassVar[DiscardReason]
    DISCARD_REASON_MODEL_RETRY: _ClassVar[DiscardReason]
    DISCARD_REASON_EMPTY_RETRIEVAL: _ClassVar[DiscardReason]
    DISCARD_REASON_NOT_FINAL: _ClassVar[DiscardReason]

class TextRelease(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEXT_RELEASE_UNSPECIFIED: _ClassVar[TextRelease]
    TEXT_RELEASE_CHECKED: _ClassVar[TextRelease]
    TEXT_RELEASE_RAW: _ClassVar[TextRelease]

class CitationKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CITATION_KIND_UNSPECIFIED: _ClassVar[CitationKind]
    CITATION_KIND_DOCUMENT: _ClassVar[CitationKind]
    CITATION_KIND_TOOL_CALL: _ClassVar[CitationKind]
    CITATION_KIND_REFERENCE: _ClassVar[CitationKind]
    CITATION_KIND_ASSET: _ClassVar[CitationKind]

class TurnState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_STATE_UNSPECIFIED: _ClassVar[TurnState]
    TURN_STATE_RUNNING: _ClassVar[TurnState]
    TURN_STATE_AWAITING_APPROVAL: _ClassVar[TurnState]
    TURN_STATE_ENDED: _ClassVar[TurnState]
RETRYABLE_UNSPECIFIED: Retryable
RETRYABLE_YES: Retryable
RETRYABLE_NO: Retryable
RETRYABLE_MAYBE: Retryable
RETRYABLE_NOT_APPLICABLE: Retryable
CONTEXT_PROBLEM_UNSPECIFIED: ContextProblem
CONTEXT_PROBLEM_MATTER_REQUIRED: ContextProblem
CONTEXT_PROBLEM_MATTER_NOT_FOUND: ContextProblem
CONTEXT_PROBLEM_DOCUMENT_PROCESSING: ContextProblem
CONTEXT_PROBLEM_DOCUMENT_FAILED: ContextProblem
CONTEXT_PROBLEM_DOCUMENT_NOT_FOUND: ContextProblem
CONTEXT_PROBLEM_CONTEXT_UNCLEAR: ContextProblem
ON_DISCONNECT_UNSPECIFIED: OnDisconnect
ON_DISCONNECT_GRACE: OnDisconnect
ON_DISCONNECT_CONTINUE: OnDisconnect
ON_DISCONNECT_CANCEL: OnDisconnect
DISCARD_REASON_UNSPECIFIED: DiscardReason
DISCARD_REASON_GROUNDING: DiscardReason
DISCARD_REASON_MODEL_RETRY: DiscardReason
DISCARD_REASON_EMPTY_RETRIEVAL: DiscardReason
DISCARD_REASON_NOT_FINAL: DiscardReason
TEXT_RELEASE_UNSPECIFIED: TextRelease
TEXT_RELEASE_CHECKED: TextRelease
TEXT_RELEASE_RAW: TextRelease
CITATION_KIND_UNSPECIFIED: CitationKind
CITATION_KIND_DOCUMENT: CitationKind
CITATION_KIND_TOOL_CALL: CitationKind
CITATION_KIND_REFERENCE: CitationKind
CITATION_KIND_ASSET: CitationKind
TURN_STATE_UNSPECIFIED: TurnState
TURN_STATE_RUNNING: TurnState
TURN_STATE_AWAITING_APPROVAL: TurnState
TURN_STATE_ENDED: TurnState

class LeaveOut(_message.Message):
    __slots__ = ("tool_output", "repeated_contexts", "history", "told", "context_items")
    TOOL_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REPEATED_CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    TOLD_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ITEMS_FIELD_NUMBER: _ClassVar[int]
    tool_output: bool
    repeated_contexts: bool
    history: bool
    told: bool
    context_items: bool
    def __init__(self, tool_output: _Optional[bool] = ..., repeated_contexts: _Optional[bool] = ..., history: _Optional[bool] = ..., told: _Optional[bool] = ..., context_items: _Optional[bool] = ...) -> None: ...

class ChatOptions(_message.Message):
    __slots__ = ("model", "max_turns", "max_tool_calls", "max_context_chars", "disable_cache", "text_release", "disable_tools", "leave_out")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_CHARS_FIELD_NUMBER: _ClassVar[int]
    DISABLE_CACHE_FIELD_NUMBER: _ClassVar[int]
    TEXT_RELEASE_FIELD_NUMBER: _ClassVar[int]
    DISABLE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    LEAVE_OUT_FIELD_NUMBER: _ClassVar[int]
    model: str
    max_turns: int
    max_tool_calls: int
    max_context_chars: int
    disable_cache: bool
    text_release: TextRelease
    disable_tools: bool
    leave_out: LeaveOut
    def __init__(self, model: _Optional[str] = ..., max_turns: _Optional[int] = ..., max_tool_calls: _Optional[int] = ..., max_context_chars: _Optional[int] = ..., disable_cache: _Optional[bool] = ..., text_release: _Optional[_Union[TextRelease, str]] = ..., disable_tools: _Optional[bool] = ..., leave_out: _Optional[_Union[LeaveOut, _Mapping]] = ...) -> None: ...

class HistoryMessage(_message.Message):
    __slots__ = ("role", "content")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    role: _sessions_pb2.MessageRole
    content: str
    def __init__(self, role: _Optional[_Union[_sessions_pb2.MessageRole, str]] = ..., content: _Optional[str] = ...) -> None: ...

class ConversationHistory(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[HistoryMessage]
    def __init__(self, messages: _Optional[_Iterable[_Union[HistoryMessage, _Mapping]]] = ...) -> None: ...

class ChatRequest(_message.Message):
    __slots__ = ("message", "matter_context", "image_urls", "document_context", "session_id", "history", "user_id", "request_id", "on_disconnect", "options", "selected_assets")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MATTER_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_URLS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SELECTED_ASSETS_FIELD_NUMBER: _ClassVar[int]
    message: str
    matter_context: _context_pb2.MatterContext
    image_urls: _containers.RepeatedScalarFieldContainer[str]
    document_context: _containers.RepeatedCompositeFieldContainer[_context_pb2.DocumentContext]
    session_id: str
    history: ConversationHistory
    user_id: str
    request_id: str
    on_disconnect: OnDisconnect
    options: ChatOptions
    selected_assets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, message: _Optional[str] = ..., matter_context: _Optional[_Union[_context_pb2.MatterContext, _Mapping]] = ..., image_urls: _Optional[_Iterable[str]] = ..., document_context: _Optional[_Iterable[_Union[_context_pb2.DocumentContext, _Mapping]]] = ..., session_id: _Optional[str] = ..., history: _Optional[_Union[ConversationHistory, _Mapping]] = ..., user_id: _Optional[str] = ..., request_id: _Optional[str] = ..., on_disconnect: _Optional[_Union[OnDisconnect, str]] = ..., options: _Optional[_Union[ChatOptions, _Mapping]] = ..., selected_assets: _Optional[_Iterable[str]] = ...) -> None: ...

class ResumeChatRequest(_message.Message):
    __slots__ = ("turn_id", "after_sequence", "user_id", "leave_out")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    LEAVE_OUT_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    after_sequence: int
    user_id: str
    leave_out: LeaveOut
    def __init__(self, turn_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., user_id: _Optional[str] = ..., leave_out: _Optional[_Union[LeaveOut, _Mapping]] = ...) -> None: ...

class AgentEvent(_message.Message):
    __slots__ = ("turn_id", "sequence", "emit_time", "turn_start", "token", "text_discarded", "tool_start", "tool_end", "citation", "approval_required", "heartbeat", "final_state")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EMIT_TIME_FIELD_NUMBER: _ClassVar[int]
    TURN_START_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    TEXT_DISCARDED_FIELD_NUMBER: _ClassVar[int]
    TOOL_START_FIELD_NUMBER: _ClassVar[int]
    TOOL_END_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    FINAL_STATE_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    sequence: int
    emit_time: _timestamp_pb2.Timestamp
    turn_start: TurnStart
    token: Token
    text_discarded: TextDiscarded
    tool_start: ToolStart
    tool_end: ToolEnd
    citation: Citation
    approval_required: ApprovalRequired
    heartbeat: Heartbeat
    final_state: FinalState
    def __init__(self, turn_id: _Optional[str] = ..., sequence: _Optional[int] = ..., emit_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_start: _Optional[_Union[TurnStart, _Mapping]] = ..., token: _Optional[_Union[Token, _Mapping]] = ..., text_discarded: _Optional[_Union[TextDiscarded, _Mapping]] = ..., tool_start: _Optional[_Union[ToolStart, _Mapping]] = ..., tool_end: _Optional[_Union[ToolEnd, _Mapping]] = ..., citation: _Optional[_Union[Citation, _Mapping]] = ..., approval_required: _Optional[_Union[ApprovalRequired, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., final_state: _Optional[_Union[FinalState, _Mapping]] = ...) -> None: ...

class TurnStart(_message.Message):
    __slots__ = ("request_context", "session_id", "model")
    REQUEST_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    request_context: _context_pb2.RequestContext
    session_id: str
    model: str
    def __init__(self, request_context: _Optional[_Union[_context_pb2.RequestContext, _Mapping]] = ..., session_id: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class Token(_message.Message):
    __slots__ = ("text_id", "text", "first_sequence")
    TEXT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    text_id: str
    text: str
    first_sequence: int
    def __init__(self, text_id: _Optional[str] = ..., text: _Optional[str] = ..., first_sequence: _Optional[int] = ...) -> None: ...

class TextDiscarded(_message.Message):
    __slots__ = ("text_id", "reason")
    TEXT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    text_id: str
    reason: DiscardReason
    def __init__(self, text_id: _Optional[str] = ..., reason: _Optional[_Union[DiscardReason, str]] = ...) -> None: ...

class ToolStart(_message.Message):
    __slots__ = ("call_id", "tool", "server_name", "input_json")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    server_name: str
    input_json: str
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., server_name: _Optional[str] = ..., input_json: _Optional[str] = ...) -> None: ...

class ToolEnd(_message.Message):
    __slots__ = ("call_id", "tool", "output", "output_json", "truncated", "error", "duration", "from_cache", "failure_cause")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    FROM_CACHE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    output: str
    output_json: str
    truncated: bool
    error: str
    duration: _duration_pb2.Duration
    from_cache: bool
    failure_cause: _errors_pb2.FailureCause
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., output: _Optional[str] = ..., output_json: _Optional[str] = ..., truncated: _Optional[bool] = ..., error: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., from_cache: _Optional[bool] = ..., failure_cause: _Optional[_Union[_errors_pb2.FailureCause, str]] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("number", "answer_start", "answer_end", "document_id", "filename", "start", "end", "page", "heading", "quote", "permalink", "kind", "call_id", "name", "server_name", "matter_id")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ANSWER_START_FIELD_NUMBER: _ClassVar[int]
    ANSWER_END_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    PERMALINK_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    number: int
    answer_start: int
    answer_end: int
    document_id: str
    filename: str
    start: int
    end: int
    page: int
    heading: str
    quote: str
    permalink: str
    kind: CitationKind
    call_id: str
    name: str
    server_name: str
    matter_id: str
    def __init__(self, number: _Optional[int] = ..., answer_start: _Optional[int] = ..., answer_end: _Optional[int] = ..., document_id: _Optional[str] = ..., filename: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., page: _Optional[int] = ..., heading: _Optional[str] = ..., quote: _Optional[str] = ..., permalink: _Optional[str] = ..., kind: _Optional[_Union[CitationKind, str]] = ..., call_id: _Optional[str] = ..., name: _Optional[str] = ..., server_name: _Optional[str] = ..., matter_id: _Optional[str] = ...) -> None: ...

class ApprovalRequired(_message.Message):
    __slots__ = ("call_id", "tool", "server_name", "input_json", "expire_time")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    server_name: str
    input_json: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., server_name: _Optional[str] = ..., input_json: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FinalState(_message.Message):
    __slots__ = ("exit_reason", "retryable", "retry_after", "display_message", "message", "messages", "request_context", "citations", "usage", "cycles", "tool_calls", "from_cache", "context_problem", "truncated", "duration", "tool_call_records", "exit_cause", "omitted_sentences", "message_truncated", "removed_markup")
    EXIT_REASON_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    REQUEST_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    FROM_CACHE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_PROBLEM_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_RECORDS_FIELD_NUMBER: _ClassVar[int]
    EXIT_CAUSE_FIELD_NUMBER: _ClassVar[int]
    OMITTED_SENTENCES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_MARKUP_FIELD_NUMBER: _ClassVar[int]
    exit_reason: _turns_pb2.ExitReason
    retryable: Retryable
    retry_after: _duration_pb2.Duration
    display_message: bool
    message: str
    messages: _containers.RepeatedCompositeFieldContainer[_sessions_pb2.ChatMessage]
    request_context: _context_pb2.RequestContext
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    usage: _turns_pb2.Usage
    cycles: int
    tool_calls: int
    from_cache: bool
    context_problem: ContextProblem
    truncated: bool
    duration: _duration_pb2.Duration
    tool_call_records: _containers.RepeatedCompositeFieldContainer[_turns_pb2.ToolCallRecord]
    exit_cause: _turns_pb2.ExitCause
    omitted_sentences: int
    message_truncated: bool
    removed_markup: int
    def __init__(self, exit_reason: _Optional[_Union[_turns_pb2.ExitReason, str]] = ..., retryable: _Optional[_Union[Retryable, str]] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., display_message: _Optional[bool] = ..., message: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_sessions_pb2.ChatMessage, _Mapping]]] = ..., request_context: _Optional[_Union[_context_pb2.RequestContext, _Mapping]] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., usage: _Optional[_Union[_turns_pb2.Usage, _Mapping]] = ..., cycles: _Optional[int] = ..., tool_calls: _Optional[int] = ..., from_cache: _Optional[bool] = ..., context_problem: _Optional[_Union[ContextProblem, str]] = ..., truncated: _Optional[bool] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., tool_call_records: _Optional[_Iterable[_Union[_turns_pb2.ToolCallRecord, _Mapping]]] = ..., exit_cause: _Optional[_Union[_turns_pb2.ExitCause, str]] = ..., omitted_sentences: _Optional[int] = ..., message_truncated: _Optional[bool] = ..., removed_markup: _Optional[int] = ...) -> None: ...

class InvokeResponse(_message.Message):
    __slots__ = ("turn_id", "final_state")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    FINAL_STATE_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    final_state: FinalState
    def __init__(self, turn_id: _Optional[str] = ..., final_state: _Optional[_Union[FinalState, _Mapping]] = ...) -> None: ...

class CancelTurnRequest(_message.Message):
    __slots__ = ("turn_id", "user_id")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    user_id: str
    def __init__(self, turn_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class CancelTurnResponse(_message.Message):
    __slots__ = ("cancelled",)
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    cancelled: bool
    def __init__(self, cancelled: _Optional[bool] = ...) -> None: ...

class GetTurnRequest(_message.Message):
    __slots__ = ("turn_id", "user_id")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    user_id: str
    def __init__(self, turn_id: _Optional[str] = ..., user_id: _Optional[str] = ...) -> None: ...

class GetTurnResponse(_message.Message):
    __slots__ = ("turn_id", "state", "last_sequence", "final_state", "session_id", "pending_approvals")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FINAL_STATE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PENDING_APPROVALS_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    state: TurnState
    last_sequence: int
    final_state: FinalState
    session_id: str
    pending_approvals: _containers.RepeatedCompositeFieldContainer[ApprovalRequired]
    def __init__(self, turn_id: _Optional[str] = ..., state: _Optional[_Union[TurnState, str]] = ..., last_sequence: _Optional[int] = ..., final_state: _Optional[_Union[FinalState, _Mapping]] = ..., session_id: _Optional[str] = ..., pending_approvals: _Optional[_Iterable[_Union[ApprovalRequired, _Mapping]]] = ...) -> None: ...

class DecideToolCallRequest(_message.Message):
    __slots__ = ("turn_id", "call_id", "decision", "user_id")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    call_id: str
    decision: _turns_pb2.ToolCallDecision
    user_id: str
    def __init__(self, turn_id: _Optional[str] = ..., call_id: _Optional[str] = ..., decision: _Optional[_Union[_turns_pb2.ToolCallDecision, str]] = ..., user_id: _Optional[str] = ...) -> None: ...

class DecideToolCallResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

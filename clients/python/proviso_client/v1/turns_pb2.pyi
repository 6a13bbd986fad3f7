import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import errors_pb2 as _errors_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExitReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXIT_REASON_UNSPECIFIED: _ClassVar[ExitReason]
    EXIT_REASON_COMPLETED: _ClassVar[ExitReason]
    EXIT_REASON_MAX_TURNS_REACHED: _ClassVar[ExitReason]
    EXIT_REASON_MAX_TOOL_CALLS_REACHED: _ClassVar[ExitReason]
    EXIT_REASON_MAX_CONTEXT_REACHED: _ClassVar[ExitReason]
    EXIT_REASON_EMPTY_INPUT: _ClassVar[ExitReason]
    EXIT_REASON_RATE_LIMITED: _ClassVar[ExitReason]
    EXIT_REASON_LLM_ERROR: _ClassVar[ExitReason]
    EXIT_REASON_LLM_GENERATION_FAILURE: _ClassVar[ExitReason]
    EXIT_REASON_INVALID_TOOL_CALL: _ClassVar[ExitReason]
    EXIT_REASON_CANCELLED: _ClassVar[ExitReason]
    EXIT_REASON_DEADLINE_EXCEEDED: _ClassVar[ExitReason]
    EXIT_REASON_INTERNAL_ERROR: _ClassVar[ExitReason]

class ExitCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXIT_CAUSE_UNSPECIFIED: _ClassVar[ExitCause]
    EXIT_CAUSE_BLOCKED: _ClassVar[ExitCause]
    EXIT_CAUSE_CUT: _ClassVar[ExitCause]
    EXIT_CAUSE_RECITATION: _ClassVar[ExitCause]
    EXIT_CAUSE_LANGUAGE: _ClassVar[ExitCause]
    EXIT_CAUSE_EMPTY: _ClassVar[ExitCause]
    EXIT_CAUSE_MALFORMED: _ClassVar[ExitCause]
    EXIT_CAUSE_UNGROUNDED: _ClassVar[ExitCause]
    EXIT_CAUSE_NOTHING_FOUND: _ClassVar[ExitCause]
    EXIT_CAUSE_STOPPED: _ClassVar[ExitCause]
    EXIT_CAUSE_MESSAGE_TOO_LONG: _ClassVar[ExitCause]
    EXIT_CAUSE_CONVERSATION_FULL: _ClassVar[ExitCause]
    EXIT_CAUSE_PROVIDER_PAUSED: _ClassVar[ExitCause]
    EXIT_CAUSE_PROVIDER_FAILED: _ClassVar[ExitCause]
    EXIT_CAUSE_PROVIDER_REFUSED: _ClassVar[ExitCause]
    EXIT_CAUSE_OVER_BUDGET: _ClassVar[ExitCause]
    EXIT_CAUSE_ABANDONED: _ClassVar[ExitCause]
    EXIT_CAUSE_STOPPING: _ClassVar[ExitCause]
    EXIT_CAUSE_CANCELLED_BY_CALLER: _ClassVar[ExitCause]

class ToolCallDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CALL_DECISION_UNSPECIFIED: _ClassVar[ToolCallDecision]
    TOOL_CALL_DECISION_APPROVE_ONCE: _ClassVar[ToolCallDecision]
    TOOL_CALL_DECISION_APPROVE_FOR_SESSION: _ClassVar[ToolCallDecision]
    TOOL_CALL_DECISION_DENY: _ClassVar[ToolCallDecision]
EXIT_REASON_UNSPECIFIED: ExitReason
EXIT_REASON_COMPLETED: ExitReason
EXIT_REASON_MAX_TURNS_REACHED: ExitReason
EXIT_REASON_MAX_TOOL_CALLS_REACHED: ExitReason
EXIT_REASON_MAX_CONTEXT_REACHED: ExitReason
EXIT_REASON_EMPTY_INPUT: ExitReason
EXIT_REASON_RATE_LIMITED: ExitReason
EXIT_REASON_LLM_ERROR: ExitReason
EXIT_REASON_LLM_GENERATION_FAILURE: ExitReason
EXIT_REASON_INVALID_TOOL_CALL: ExitReason
EXIT_REASON_CANCELLED: ExitReason
EXIT_REASON_DEADLINE_EXCEEDED: ExitReason
EXIT_REASON_INTERNAL_ERROR: ExitReason
EXIT_CAUSE_UNSPECIFIED: ExitCause
EXIT_CAUSE_BLOCKED: ExitCause
EXIT_CAUSE_CUT: ExitCause
EXIT_CAUSE_RECITATION: ExitCause
EXIT_CAUSE_LANGUAGE: ExitCause
EXIT_CAUSE_EMPTY: ExitCause
EXIT_CAUSE_MALFORMED: ExitCause
EXIT_CAUSE_UNGROUNDED: ExitCause
EXIT_CAUSE_NOTHING_FOUND: ExitCause
EXIT_CAUSE_STOPPED: ExitCause
EXIT_CAUSE_MESSAGE_TOO_LONG: ExitCause
EXIT_CAUSE_CONVERSATION_FULL: ExitCause
EXIT_CAUSE_PROVIDER_PAUSED: ExitCause
EXIT_CAUSE_PROVIDER_FAILED: ExitCause
EXIT_CAUSE_PROVIDER_REFUSED: ExitCause
EXIT_CAUSE_OVER_BUDGET: ExitCause
EXIT_CAUSE_ABANDONED: ExitCause
EXIT_CAUSE_STOPPING: ExitCause
EXIT_CAUSE_CANCELLED_BY_CALLER: ExitCause
TOOL_CALL_DECISION_UNSPECIFIED: ToolCallDecision
TOOL_CALL_DECISION_APPROVE_ONCE: ToolCallDecision
TOOL_CALL_DECISION_APPROVE_FOR_SESSION: ToolCallDecision
TOOL_CALL_DECISION_DENY: ToolCallDecision

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "model_calls", "cached_input_tokens", "calls")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    model_calls: int
    cached_input_tokens: int
    calls: _containers.RepeatedCompositeFieldContainer[ModelCallUsage]
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., model_calls: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., calls: _Optional[_Iterable[_Union[ModelCallUsage, _Mapping]]] = ...) -> None: ...

class ModelCallUsage(_message.Message):
    __slots__ = ("model", "input_tokens", "output_tokens", "cached_input_tokens", "duration", "from_cache", "failed")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    FROM_CACHE_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    model: str
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    duration: _duration_pb2.Duration
    from_cache: bool
    failed: bool
    def __init__(self, model: _Optional[str] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., from_cache: _Optional[bool] = ..., failed: _Optional[bool] = ...) -> None: ...

class ToolCallRecord(_message.Message):
    __slots__ = ("call_id", "tool", "server_name", "input_json", "error", "start_time", "duration", "from_cache", "decision", "failure_cause")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    FROM_CACHE_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    server_name: str
    input_json: str
    error: str
    start_time: _timestamp_pb2.Timestamp
    duration: _duration_pb2.Duration
    from_cache: bool
    decision: ToolCallDecision
    failure_cause: _errors_pb2.FailureCause
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., server_name: _Optional[str] = ..., input_json: _Optional[str] = ..., error: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., from_cache: _Optional[bool] = ..., decision: _Optional[_Union[ToolCallDecision, str]] = ..., failure_cause: _Optional[_Union[_errors_pb2.FailureCause, str]] = ...) -> None: ...

class TurnSummary(_message.Message):
    __slots__ = ("exit_reason", "tool_calls", "usage", "duration", "model", "exit_cause")
    EXIT_REASON_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    EXIT_CAUSE_FIELD_NUMBER: _ClassVar[int]
    exit_reason: ExitReason
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCallRecord]
    usage: Usage
    duration: _duration_pb2.Duration
    model: str
    exit_cause: ExitCause
    def __init__(self, exit_reason: _Optional[_Union[ExitReason, str]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCallRecord, _Mapping]]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., model: _Optional[str] = ..., exit_cause: _Optional[_Union[ExitCause, str]] = ...) -> None: ...

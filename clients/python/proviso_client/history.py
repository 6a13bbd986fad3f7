"""This module writes the messages of a session as text or as JSON. Its functions have no side effects."""

import json
from collections.abc import Iterable, Iterator

from google.protobuf import duration_pb2
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from proviso_client.display import enum_name, summary_line
from proviso_client.v1 import sessions_pb2, turns_pb2

_WRITERS = {
    sessions_pb2.MESSAGE_ROLE_USER: "User",
    sessions_pb2.MESSAGE_ROLE_SYSTEM: "System",
    sessions_pb2.MESSAGE_ROLE_ERROR: "Error",
    sessions_pb2.MESSAGE_ROLE_APPROVAL: "Approval",
    sessions_pb2.MESSAGE_ROLE_ASSISTANT: "Assistant",
}
_DECISIONS = {
    turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE: "approved once",
    turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION: "approved for the session",
    turns_pb2.TOOL_CALL_DECISION_DENY: "denied",
}
# JSON allows these line breaks inside a string, but a program that reads line by line may end a line at them.
_LINE_BREAKS = str.maketrans({break_: f"\\u{ord(break_):04x}" for break_ in "\u0085\u2028\u2029"})


def json_lines(messages: Iterable[sessions_pb2.ChatMessage]) -> Iterator[str]:
    """Yields a JSON object for each message, as a single line without a line break at its end.

    The objects have protobuf's JSON form with the field names of the contract. Fields that are not set are left out."""
    for message in messages:
        fields = MessageToDict(message, preserving_proto_field_name=True)
        yield json.dumps(fields, ensure_ascii=False).translate(_LINE_BREAKS)


def message_text(message: sessions_pb2.ChatMessage) -> str:
    """Returns the text of a message under a heading that says who wrote it and when.

    A message that ended a turn is followed by a line for each tool call of the turn. A message of the assistant is
    followed by the summary of its request context. A rated message ends with its rating."""
    heading = _WRITERS.get(message.role, "Unknown")
    if message.HasField("create_time"):
        heading += f", {message.create_time.ToDatetime():%Y-%m-%d %H:%M:%S} UTC"
    lines = [heading, message.content]
    if message.HasField("turn"):
        lines[0] += f", {ending_text(message.turn)}"
        lines += [f"  {tool_call_text(call)}" for call in message.turn.tool_calls]
    if message.role == sessions_pb2.MESSAGE_ROLE_ASSISTANT:
        context = message.request_context if message.HasField("request_context") else None
        lines.append(f"  {summary_line(context)}")
    if message.HasField("rating"):
        lines.append(f"  {rating_text(message.rating)}")
    return "\n".join(lines)


def ending_text(turn: turns_pb2.TurnSummary) -> str:
    """Returns how a turn ended, how long it took and which chat model it used, such as "COMPLETED, 1.20 s, local"."""
    reason = exit_name(turn.exit_reason, turn.exit_cause)
    took = _seconds(turn.duration) if turn.HasField("duration") else ""
    return ", ".join(part for part in (reason, took, turn.model) if part)


def exit_name(reason: int, cause: int = turns_pb2.EXIT_CAUSE_UNSPECIFIED) -> str:
    """Returns the contract's names of why a turn ended, such as "MAX_CONTEXT_REACHED (CONVERSATION_FULL)".

    A value that this version of the contract lacks is written as its number."""
    known = turns_pb2.ExitReason.DESCRIPTOR.values_by_number.get(reason)
    name = known.name.removeprefix("EXIT_REASON_") if known else str(reason)
    if cause == turns_pb2.EXIT_CAUSE_UNSPECIFIED:
        return name
    exact = turns_pb2.ExitCause.DESCRIPTOR.values_by_number.get(cause)
    return f"{name} ({exact.name.removeprefix('EXIT_CAUSE_') if exact else cause})"


def tool_call_text(call: turns_pb2.ToolCallRecord) -> str:
    """Describes a tool call in one line, such as "proviso:isaacus_search  0.06 s, from cache"."""
    parts = [_seconds(call.duration)]
    parts += ["from cache"] if call.from_cache else []
    parts += [_DECISIONS[call.decision]] if call.decision in _DECISIONS else []
    if call.error and call.decision != turns_pb2.TOOL_CALL_DECISION_DENY:
        parts.append(f"failed: {_one_line(call.error)}")
    return f"{_one_line(call.server_name)}:{_one_line(call.tool)}  {', '.join(parts)}"


def rating_text(rating: sessions_pb2.AnswerRating) -> str:
    """Describes a rating in one line, such as "rated down, wrong source: That clause is from the draft"."""
    parts = [f"rated {_words(rating, 'rating')}"]
    if rating.reason != sessions_pb2.RATING_REASON_UNSPECIFIED:
        parts.append(_words(rating, "reason"))
    said = ", ".join(parts)
    return f"{said}: {_one_line(rating.text)}" if rating.text else said


def _words(message: Message, field: str) -> str:
    return enum_name(message, field).lower().replace("_", " ")


def _seconds(duration: duration_pb2.Duration) -> str:
    return f"{duration.ToNanoseconds() / 1e9:.2f} s"


def _one_line(text: str) -> str:
    return " ".join(text.split())

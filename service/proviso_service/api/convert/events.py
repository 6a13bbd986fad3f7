"""Converts the events of a turn and its final state."""

from collections.abc import Callable
from typing import Any

from proviso_client.v1 import chat_pb2 as pb
from proviso_service.api.convert.context import request_context
from proviso_service.api.convert.sessions import chat_message, tool_call_record, usage
from proviso_service.api.convert.values import (
    CITATION_KINDS,
    CONTEXT_PROBLEMS,
    DISCARD_REASONS,
    EXIT_CAUSES,
    EXIT_REASONS,
    MESSAGE_ROLES,
    RETRYABLE,
    clear_if_too_large,
    cut,
    duration,
    failure_cause,
    fit,
    is_too_long,
    set_unix_time,
    shortened,
    timestamp,
    unix_timestamp,
)
from proviso_service.turns import (
    MAX_ANSWER_CHARS,
    ApprovalRequired,
    Citation,
    Event,
    FinalState,
    Heartbeat,
    LoggedEvent,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)


def shortened_event(event: pb.AgentEvent, leave_out: pb.LeaveOut) -> pb.AgentEvent:
    """The event without what its reader does without."""
    match event.WhichOneof("event"):
        case "tool_end" if leave_out.tool_output:
            event.tool_end.ClearField("output")
            event.tool_end.ClearField("output_json")
        case "turn_start" if leave_out.repeated_contexts:
            event.turn_start.ClearField("request_context")
        case "final_state":
            shortened_state(event.final_state, leave_out)
            if leave_out.told:
                event.final_state.ClearField("citations")
                event.final_state.ClearField("tool_call_records")
    return event


def shortened_state(state: pb.FinalState, leave_out: pb.LeaveOut) -> pb.FinalState:
    """The final state without what its reader does without."""
    if leave_out.history:
        state.ClearField("messages")
    if leave_out.repeated_contexts:
        for message in state.messages:
            message.ClearField("request_context")
    if leave_out.context_items and state.HasField("request_context"):
        for listed in ("items", "omitted", "assets"):
            state.request_context.ClearField(listed)
    return state


def agent_event(turn_id: str, logged: LoggedEvent | Heartbeat) -> pb.AgentEvent:
    if isinstance(logged, Heartbeat):
        emit_time = unix_timestamp(logged.emit_time_s)
        return pb.AgentEvent(turn_id=turn_id, emit_time=emit_time, heartbeat=pb.Heartbeat())
    event = logged.event
    if isinstance(event, Token):
        return _token(turn_id, logged, event)
    field, convert = _CONVERTERS[type(event)]
    return pb.AgentEvent(
        turn_id=turn_id,
        sequence=logged.sequence,
        emit_time=unix_timestamp(logged.emit_time_s),
        **{field: convert(event)},
    )


def _token(turn_id: str, logged: LoggedEvent, event: Token) -> pb.AgentEvent:
    """The event of a token, of which a turn has hundreds. Its parts are filled in place, which takes half the time of
    making and copying them."""
    answer = pb.AgentEvent(turn_id=turn_id, sequence=logged.sequence)
    set_unix_time(answer.emit_time, logged.emit_time_s)
    token = answer.token
    token.text_id = event.text_id
    token.text = event.text
    token.first_sequence = logged.first_sequence
    return answer


def final_state(state: FinalState) -> pb.FinalState:
    context = request_context(state.request_context)
    shared = state.request_context, context  # the last message has it, too
    answer = pb.FinalState(
        exit_reason=EXIT_REASONS[state.exit_reason],
        retryable=RETRYABLE[state.retryable],
        retry_after=None if state.retry_after_s is None else duration(state.retry_after_s),
        display_message=state.display_message,
        message=shortened(state.message),
        request_context=context,
        citations=[citation(value) for value in state.citations],
        usage=usage(state.usage),
        cycles=state.cycles,
        tool_calls=state.tool_calls,
        from_cache=state.from_cache,
        context_problem=CONTEXT_PROBLEMS[state.context_problem] if state.context_problem else None,
        duration=None if state.duration_s is None else duration(state.duration_s),
        tool_call_records=[tool_call_record(record) for record in state.tool_call_records],
        exit_cause=EXIT_CAUSES[state.exit_cause] if state.exit_cause else None,
        omitted_sentences=state.omitted_sentences,
        removed_markup=state.removed_markup,
        message_truncated=state.message_truncated or is_too_long(state.message),
    )
    add = answer.messages.add
    for earlier in state.history:  # as there may be hundreds, they are made in place, in a third of the time
        content = earlier.content
        add(
            role=MESSAGE_ROLES[earlier.role],
            content=content if len(content) <= MAX_ANSWER_CHARS else shortened(content),
        )
    answer.messages.extend([chat_message(message, *shared) for message in state.messages])
    fit(answer, "messages", oldest_first=True)
    fit(
        answer,
        "request_context.omitted",
        "usage.calls",
        "tool_call_records",
        "request_context.assets",
        "request_context.items",
        "citations",
    )
    return answer


def citation(value: Citation) -> pb.Citation:
    return pb.Citation(
        number=value.number,
        answer_start=value.answer_start,
        answer_end=value.answer_end,
        document_id=value.document_id,
        filename=value.filename,
        start=value.start,
        end=value.end,
        page=value.page,
        heading=value.heading,
        quote=value.quote,
        permalink=value.permalink,
        kind=CITATION_KINDS[value.kind],
        call_id=value.call_id,
        name=value.name,
        server_name=value.server_name,
        matter_id=value.matter_id,
    )


def approval_required(event: ApprovalRequired) -> pb.ApprovalRequired:
    return pb.ApprovalRequired(
        call_id=event.call_id,
        tool=event.tool,
        server_name=event.server_name,
        input_json=event.input_json,
        expire_time=timestamp(event.expire_time),
    )


def _turn_start(event: TurnStart) -> pb.TurnStart:
    answer = pb.TurnStart(
        request_context=request_context(event.request_context), session_id=event.session_id, model=event.model
    )
    cut(answer, "request_context.omitted", "request_context.assets", "request_context.items")
    return answer


def _text_discarded(event: TextDiscarded) -> pb.TextDiscarded:
    return pb.TextDiscarded(text_id=event.text_id, reason=DISCARD_REASONS[event.reason])


def _tool_start(event: ToolStart) -> pb.ToolStart:
    return pb.ToolStart(
        call_id=event.call_id, tool=event.tool, server_name=event.server_name, input_json=event.input_json
    )


def _tool_end(event: ToolEnd) -> pb.ToolEnd:
    answer = pb.ToolEnd(
        call_id=event.call_id,
        tool=event.tool,
        output=event.output,
        output_json=event.output_json,
        truncated=event.truncated,
        error=event.error,
        duration=duration(event.duration_s),
        from_cache=event.from_cache,
        failure_cause=failure_cause(event.cause),
    )
    clear_if_too_large(answer, "output_json")
    return answer


_CONVERTERS: dict[type[Event], tuple[str, Callable[[Any], Any]]] = {
    TurnStart: ("turn_start", _turn_start),
    TextDiscarded: ("text_discarded", _text_discarded),
    ToolStart: ("tool_start", _tool_start),
    ToolEnd: ("tool_end", _tool_end),
    Citation: ("citation", citation),
    ApprovalRequired: ("approval_required", approval_required),
    FinalState: ("final_state", final_state),
}
"""By type of event, except Token: the field of the message that holds it, and the function that converts it."""

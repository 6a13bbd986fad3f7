"""Converts sessions, their messages and turns, and rebuilt requests."""

from proviso_client.v1 import context_pb2, maintenance_pb2, turns_pb2
from proviso_client.v1 import sessions_pb2 as pb
from proviso_service.agent.rebuilding import RebuiltRequest
from proviso_service.api.convert.context import item_ref, matter_context, request_context
from proviso_service.api.convert.values import (
    DECISIONS,
    EXIT_CAUSES,
    EXIT_REASONS,
    INCLUDE_MODES,
    ITEM_CHANGES,
    MESSAGE_ROLES,
    RATING_REASONS,
    RATINGS,
    clear_if_too_large,
    cut,
    duration,
    failure_cause,
    shortened,
    timestamp,
)
from proviso_service.context.model import RequestContext, SessionItem
from proviso_service.turns import (
    AnswerRating,
    ChatMessage,
    ModelCallUsage,
    RatedAnswer,
    RemovalSuggestion,
    Session,
    ToolCallRecord,
    TurnSummary,
    Usage,
)


def turn_summary(summary: TurnSummary) -> turns_pb2.TurnSummary:
    return turns_pb2.TurnSummary(
        exit_reason=EXIT_REASONS[summary.exit_reason],
        tool_calls=[tool_call_record(record) for record in summary.tool_calls],
        usage=usage(summary.usage),
        duration=None if summary.duration_s is None else duration(summary.duration_s),
        model=summary.model,
        exit_cause=EXIT_CAUSES[summary.exit_cause] if summary.exit_cause else None,
    )


def tool_call_record(record: ToolCallRecord) -> turns_pb2.ToolCallRecord:
    return turns_pb2.ToolCallRecord(
        call_id=record.call_id,
        tool=record.tool,
        server_name=record.server_name,
        input_json=record.input_json,
        error=record.error,
        start_time=timestamp(record.start_time),
        duration=duration(record.duration_s),
        from_cache=record.from_cache,
        decision=DECISIONS[record.decision] if record.decision else None,
        failure_cause=failure_cause(record.cause),
    )


def usage(value: Usage) -> turns_pb2.Usage:
    return turns_pb2.Usage(
        input_tokens=value.input_tokens,
        output_tokens=value.output_tokens,
        model_calls=value.model_calls,
        cached_input_tokens=value.cached_input_tokens,
        calls=[_model_call(call) for call in value.calls],
    )


def _model_call(call: ModelCallUsage) -> turns_pb2.ModelCallUsage:
    return turns_pb2.ModelCallUsage(
        model=call.model,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cached_input_tokens=call.cached_input_tokens,
        duration=duration(call.duration_s),
        from_cache=call.from_cache,
        failed=call.failed,
    )


def chat_message(
    message: ChatMessage, known: RequestContext | None = None, converted: context_pb2.RequestContext | None = None
) -> pb.ChatMessage:
    """`converted` is what the context `known` has been converted to before."""
    context = message.request_context
    answer = pb.ChatMessage(
        role=MESSAGE_ROLES[message.role],
        content=shortened(message.content),
        create_time=timestamp(message.create_time) if message.create_time else None,
        turn_id=message.turn_id,
        message_id=message.message_id,
        rating=answer_rating(message.rating) if message.rating else None,
    )
    if context is None and message.turn is None:
        return answer  # as nearly all are
    answer.MergeFrom(
        pb.ChatMessage(
            request_context=converted if context is known else request_context(context),
            turn=turn_summary(message.turn) if message.turn else None,
        )
    )
    cut(
        answer,
        "request_context.omitted",
        "turn.usage.calls",
        "turn.tool_calls",
        "request_context.assets",
        "request_context.items",
    )
    return answer


def answer_rating(value: AnswerRating | None) -> pb.AnswerRating | None:
    if value is None:
        return None
    return pb.AnswerRating(
        rating=RATINGS[value.rating],
        reason=RATING_REASONS[value.reason] if value.reason else None,
        text=value.text,
        rate_time=timestamp(value.rate_time),
    )


def rated_answer(value: RatedAnswer) -> maintenance_pb2.RatedAnswer:
    return maintenance_pb2.RatedAnswer(
        tenant=value.caller.tenant,
        user_id=value.caller.user,
        session_id=value.session_id,
        turn_id=value.turn_id,
        rating=answer_rating(value.rating),
    )


def session(value: Session) -> pb.Session:
    return pb.Session(
        session_id=value.session_id,
        items=[_item(item) for item in value.items],
        matter_context=matter_context(value.matter_context),
        create_time=timestamp(value.create_time),
        update_time=timestamp(value.update_time),
        running_turn_id=value.running_turn_id,
        message_count=value.message_count,
        approved_tools=[item_ref(tool.ref) for tool in value.approved_tools],
        title=value.title,
        notes=value.notes,
    )


def removal_suggestion(value: RemovalSuggestion) -> pb.RemovalSuggestion:
    return pb.RemovalSuggestion(item=_item(value.item), answers=value.answers)


def _item(item: SessionItem) -> pb.SessionContextItem:
    return pb.SessionContextItem(
        item=item_ref(item.ref), include_mode=INCLUDE_MODES[item.include_mode], missing=item.missing, locked=item.locked
    )


def rebuilt_request(rebuilt: RebuiltRequest) -> pb.RebuildRequestResponse:
    answer = pb.RebuildRequestResponse(
        payload_json=rebuilt.payload_json,
        payload_sha256=rebuilt.payload_sha256,
        recorded_sha256=rebuilt.recorded_sha256,
        matches=rebuilt.matches,
        differences=[
            pb.ItemDifference(
                item=item_ref(difference.ref),
                change=ITEM_CHANGES[difference.change],
                used_sha256=difference.used_sha256,
                current_sha256=difference.current_sha256,
            )
            for difference in rebuilt.differences
        ],
        system_prompt_changed=rebuilt.system_prompt_changed,
    )
    clear_if_too_large(answer, "payload_json")
    return answer

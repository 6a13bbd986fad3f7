"""Sessions and their messages."""

from proviso_client.v1 import sessions_pb2 as pb
from proviso_service.api.convert.context import item_ref, matter_context, request_context
from proviso_service.api.convert.enums import INCLUDE_MODES, MESSAGE_ROLES
from proviso_service.api.convert.times import timestamp
from proviso_service.api.convert.turns import turn_summary
from proviso_service.context.model import SessionItem
from proviso_service.turns import ChatMessage, RemovalSuggestion, Session


def chat_message(message: ChatMessage) -> pb.ChatMessage:
    return pb.ChatMessage(
        role=MESSAGE_ROLES[message.role],
        content=message.content,
        request_context=request_context(message.request_context),
        create_time=timestamp(message.create_time) if message.create_time else None,
        turn_id=message.turn_id,
        message_id=message.message_id,
        turn=turn_summary(message.turn) if message.turn else None,
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
    )


def removal_suggestion(value: RemovalSuggestion) -> pb.RemovalSuggestion:
    return pb.RemovalSuggestion(item=_item(value.item), answers=value.answers)


def _item(item: SessionItem) -> pb.SessionContextItem:
    return pb.SessionContextItem(
        item=item_ref(item.ref), include_mode=INCLUDE_MODES[item.include_mode], missing=item.missing
    )

"""What the commands of a conversation do: calls of SessionService, and their answers on the page."""

from dataclasses import dataclass

import grpc.aio

from proviso_client.display import NO_CONTEXT, context_text, details_text, item_name, summary_line
from proviso_client.history import message_text
from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_service.cli.chat_commands import (
    HELP,
    AddItem,
    Command,
    Preview,
    Rebuild,
    RemoveItem,
    ShowContext,
    ShowHelp,
    ShowHistory,
)
from proviso_service.cli.client import CALL_TIMEOUT_S, Client, failure
from proviso_service.cli.sessions import ensure_session, last_answer, pages_of_messages

NO_ANSWER = "There is no answer in this session yet."
NO_MODEL_CALL = "The last answer was given without the model: there is nothing to rebuild."
NO_MESSAGES = "There are no messages in this session yet."

_CHANGES = {
    sessions_pb2.ITEM_CHANGE_CHANGED: "has another version in the catalog now",
    sessions_pb2.ITEM_CHANGE_MISSING: "has left the catalog",
    sessions_pb2.ITEM_CHANGE_LOST: "is no longer stored as it was used: the payload lacks it",
}


@dataclass(frozen=True, slots=True)
class SessionCommands:
    """Commands on one session. `matter` goes with previews, as it goes with messages."""

    client: Client
    session_id: str
    matter: context_pb2.MatterContext

    async def run(self, command: Command) -> str:
        """What is shown for it. Raises AioRpcError."""
        match command:
            case ShowHelp():
                return HELP
            case Preview(message):
                return await self._preview(message)
        await ensure_session(self.client, self.session_id)
        return await self._in_session(command)

    async def _in_session(self, command: AddItem | RemoveItem | Rebuild | ShowContext | ShowHistory) -> str:
        match command:
            case AddItem(item):
                return await self._add(item)
            case RemoveItem(item):
                return await self._remove(item)
            case Rebuild():
                return await self._rebuild()
            case ShowContext():
                return await self._context()
            case ShowHistory():
                return await self._history()

    async def _context(self) -> str:
        answer = await last_answer(self.client, self.session_id)
        if answer is None:
            return NO_ANSWER
        return page(answer.request_context if answer.HasField("request_context") else None)

    async def _preview(self, message: str) -> str:
        request = sessions_pb2.PreviewRequestContextRequest(session_id=self.session_id, message=message)
        if self.matter.matter_id:
            request.matter_context.CopyFrom(self.matter)
        answer = await self.client.sessions.PreviewRequestContext(request, timeout=CALL_TIMEOUT_S)
        return page(answer.request_context)

    async def _add(self, item: context_pb2.ContextItemRef) -> str:
        request = sessions_pb2.AddContextItemRequest(session_id=self.session_id, item=item)
        answer = await self.client.sessions.AddContextItem(request, timeout=CALL_TIMEOUT_S)
        return f"{item_name(item)} is in the session: {_items_line(answer.session)}"

    async def _remove(self, item: context_pb2.ContextItemRef) -> str:
        request = sessions_pb2.RemoveContextItemRequest(session_id=self.session_id, item=item)
        answer = await self.client.sessions.RemoveContextItem(request, timeout=CALL_TIMEOUT_S)
        return f"{item_name(item)} is not in the session: {_items_line(answer.session)}"

    async def _rebuild(self) -> str:
        answer = await last_answer(self.client, self.session_id)
        if answer is None:
            return NO_ANSWER
        request = sessions_pb2.RebuildRequestRequest(turn_id=answer.turn_id)
        try:
            return rebuilt(await self.client.sessions.RebuildRequest(request, timeout=CALL_TIMEOUT_S))
        except grpc.aio.AioRpcError as error:
            if failure(error).reason == "NO_REQUEST_CONTEXT":
                return NO_MODEL_CALL
            raise

    async def _history(self) -> str:
        texts = [
            message_text(message)
            async for messages in pages_of_messages(self.client, self.session_id)
            for message in messages
        ]
        return "\n\n".join(texts) or NO_MESSAGES


def page(context: context_pb2.RequestContext | None) -> str:
    """A request context whole: the summary on top, the items, and the rest."""
    if context is None:
        return NO_CONTEXT
    sections = (summary_line(context), context_text(context), details_text(context))
    return "\n\n".join(section for section in sections if section)


def rebuilt(answer: sessions_pb2.RebuildRequestResponse) -> str:
    """What a rebuilt request says about the one that was sent."""
    lines = [
        f"The request can be rebuilt exactly as it was sent (SHA-256 {answer.payload_sha256})."
        if answer.matches
        else "The request as rebuilt differs from the one that was sent."
    ]
    lines += [f"  • {item_name(one.item)} {_CHANGES.get(one.change, 'has changed')}" for one in answer.differences]
    if answer.system_prompt_changed:
        lines.append("  • The service's own instructions have changed")
    return "\n".join(lines)


def _items_line(session: sessions_pb2.Session) -> str:
    """The session's items, counted as those of a request."""
    items = [
        context_pb2.RequestContextItem(type=item.item.type, name=item.item.name, include_mode=item.include_mode)
        for item in session.items
    ]
    return summary_line(context_pb2.RequestContext(items=items))

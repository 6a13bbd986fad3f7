"""What a person can do with a session: the commands of a conversation, which begin with a slash, and its history."""

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from proviso_client import AsyncClient
from proviso_client.display import NO_CONTEXT, context_text, details_text, item_name, summary_line
from proviso_client.errors import AlreadyExists, FailedPrecondition
from proviso_client.history import json_lines, message_text
from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_service.cli.connection import connect
from proviso_service.cli.output import UsageProblem, printable
from proviso_service.cli.server_options import Server

HELP = """\
/context             what the last answer was given, and why
/add TYPE NAME       adds an item to the session: rule, reference or tool; a tool as server:name
/remove TYPE NAME    removes one
/preview MESSAGE     what a message would be given, without sending it
/rebuild             whether the request of the last answer can be rebuilt as it was
/history             the messages of the session
/rename TITLE        gives the session a title
/rate up|down TEXT   says how good the last answer was; the text may be left out
/continue            goes on in a new session, with the items, the matter and the last answers of this one
/help                this list
A message that begins with a slash is sent with a space before it."""

NO_ANSWER = "There is no answer in this session yet."
NO_MODEL_CALL = "The last answer was given without the model: there is nothing to rebuild."
NO_MESSAGES = "There are no messages in this session yet."

_TYPES = {
    "rule": context_pb2.CONTEXT_ITEM_TYPE_RULE,
    "reference": context_pb2.CONTEXT_ITEM_TYPE_REFERENCE,
    "tool": context_pb2.CONTEXT_ITEM_TYPE_TOOL,
}
_RATINGS = ("up", "down")
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d"}
_CHANGES = {
    sessions_pb2.ITEM_CHANGE_CHANGED: "has another version in the catalog now",
    sessions_pb2.ITEM_CHANGE_MISSING: "has left the catalog",
    sessions_pb2.ITEM_CHANGE_LOST: "is no longer stored as it was used: the payload lacks it",
}


class Action(StrEnum):
    """The first word of a command."""

    CONTEXT = "/context"
    ADD = "/add"
    REMOVE = "/remove"
    PREVIEW = "/preview"
    REBUILD = "/rebuild"
    HISTORY = "/history"
    RENAME = "/rename"
    RATE = "/rate"
    CONTINUE = "/continue"
    HELP = "/help"


@dataclass(frozen=True, slots=True)
class Command:
    """A command with what it needs: an item to add or remove, a message to preview, a title, or a rating (`up` or
    `down`) with a text."""

    action: Action
    item: context_pb2.ContextItemRef = field(default_factory=context_pb2.ContextItemRef)
    message: str = ""
    rating: str = ""


def parse_command(line: str) -> Command:
    """Reads a line that begins with a slash. Raises UsageProblem, which says what is wrong with the line."""
    typed, rest = _first_word(line)
    try:
        action = Action(typed.casefold())
    except ValueError:
        raise UsageProblem(
            f"There is no command {typed}; /help lists them. To send a message that begins with a slash, put a space "
            "before it"
        ) from None
    match action:
        case Action.ADD | Action.REMOVE:
            return Command(action, item=_item(action, rest))
        case Action.PREVIEW:
            if not rest:
                raise UsageProblem("Give the message: /preview MESSAGE")
            return Command(action, message=rest)
        case Action.RENAME:
            if not rest:
                raise UsageProblem("Give the title: /rename TITLE")
            return Command(action, message=_unquoted(rest))
        case Action.RATE:
            rating, text = _first_word(rest)
            if rating.casefold() not in _RATINGS:
                raise UsageProblem("Say up or down, and why if you like: /rate down The date is missing")
            return Command(action, message=text, rating=rating.casefold())
    if rest:
        raise UsageProblem(f"{action} takes nothing after it")
    return Command(action)


def _item(action: Action, rest: str) -> context_pb2.ContextItemRef:
    typed, name = _first_word(rest)
    kind, name = typed.casefold(), _unquoted(name)
    usage = f'{action} rule|reference|tool NAME, as in {action} rule "My rule"'
    if typed and kind not in _TYPES:
        raise UsageProblem(f"{typed!r} is no type of item: {usage}")
    if not name:
        raise UsageProblem(f"Give a type and a name: {usage}")
    if kind != "tool":
        return context_pb2.ContextItemRef(type=_TYPES[kind], name=name)
    server, _, tool = name.partition(":")
    if not server or not tool:
        raise UsageProblem(f"Name a tool with its server, as in {action} tool proviso:isaacus_search")
    return context_pb2.ContextItemRef(type=_TYPES[kind], name=tool, server_name=server)


def _first_word(text: str) -> tuple[str, str]:
    """Returns the first word of a text, and the rest."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first, rest[0].strip() if rest else ""


def _unquoted(name: str) -> str:
    """Takes off the quotation marks that a name may have, as on a shell. Without them, it is the rest of the line."""
    closing = _QUOTES.get(name[:1])
    if closing and closing not in name[1:]:
        raise UsageProblem("The name begins with a quotation mark that nothing closes")
    if closing and name.endswith(closing):
        return name[1:-1].strip()
    return name


@dataclass(frozen=True, slots=True)
class SessionCommands:
    """Carries out commands on one session. Previews are about `matter`, as the conversation's messages are."""

    client: AsyncClient
    session_id: str
    matter: context_pb2.MatterContext

    async def run(self, command: Command) -> str:
        """Carries out a command, and returns the text to be shown for it. Raises the client's ProvisoError."""
        if command.action is Action.HELP:
            return HELP
        if command.action is Action.PREVIEW:
            return await self._preview(command.message)
        await self._make()
        return await self._in_session(command)

    async def go_on(self, new_session_id: str) -> sessions_pb2.Session:
        """Makes a session that goes on from this one, and returns it. Raises the client's ProvisoError."""
        await self._make()
        return await self.client.sessions.continue_from(self.session_id, new_session_id)

    async def _make(self) -> None:
        """Makes the session, as the first message of a conversation would, unless there is one."""
        with suppress(AlreadyExists):
            await self.client.sessions.create(self.session_id)

    async def _in_session(self, command: Command) -> str:
        match command.action:
            case Action.ADD:
                shown = await self._add(command.item)
            case Action.REMOVE:
                shown = await self._remove(command.item)
            case Action.RENAME:
                shown = await self._rename(command.message)
            case Action.RATE:
                shown = await self._rate(command.rating, command.message)
            case Action.REBUILD:
                shown = await self._rebuild()
            case Action.CONTEXT:
                shown = await self._context()
            case _:
                shown = await self._history()
        return shown

    async def _context(self) -> str:
        answer = await self._last_answer()
        if answer is None:
            return NO_ANSWER
        return _context_page(answer.request_context if answer.HasField("request_context") else None)

    async def _preview(self, message: str) -> str:
        if self.matter.matter_id:
            context = await self.client.sessions.preview(self.session_id, message, matter_context=self.matter)
        else:
            context = await self.client.sessions.preview(self.session_id, message)
        return _context_page(context)

    async def _add(self, item: context_pb2.ContextItemRef) -> str:
        session = await self.client.sessions.add_item(self.session_id, item.type, item.name, item.server_name)
        return f"{item_name(item)} is in the session: {_items_line(session)}"

    async def _remove(self, item: context_pb2.ContextItemRef) -> str:
        session = await self.client.sessions.remove_item(self.session_id, item.type, item.name, item.server_name)
        return f"{item_name(item)} is not in the session: {_items_line(session)}"

    async def _rename(self, title: str) -> str:
        session = await self.client.sessions.update(self.session_id, title=title)
        return f"The title of the session is: {session.title}"

    async def _rate(self, rating: str, text: str) -> str:
        answer = await self._last_answer()
        if answer is None:
            return NO_ANSWER
        await self.client.sessions.rate(answer.turn_id, rating, text=text)
        return f"Thank you. The last answer is rated: {rating}"

    async def _rebuild(self) -> str:
        answer = await self._last_answer()
        if answer is None:
            return NO_ANSWER
        try:
            return _comparison(await self.client.sessions.rebuild(answer.turn_id))
        except FailedPrecondition as error:
            if error.reason == "NO_REQUEST_CONTEXT":
                return NO_MODEL_CALL
            raise

    async def _history(self) -> str:
        texts = [message_text(message) async for message in self.client.sessions.messages(self.session_id)]
        return "\n\n".join(texts) or NO_MESSAGES

    async def _last_answer(self) -> sessions_pb2.ChatMessage | None:
        """Returns the newest message of the assistant, or None when there is none yet."""
        found = None
        async for message in self.client.sessions.messages(self.session_id):
            if message.role == sessions_pb2.MESSAGE_ROLE_ASSISTANT:
                found = message
        return found


async def print_history(session_id: str, server: Server, *, as_json: bool) -> None:
    """Writes the messages of a session to stdout, oldest first. Raises CommandError."""
    async with connect(server) as connection:
        async for message in connection.client.sessions.messages(session_id):
            text = next(json_lines([message])) if as_json else f"{printable(message_text(message))}\n"
            sys.stdout.write(f"{text}\n")


def _context_page(context: context_pb2.RequestContext | None) -> str:
    """Shows all of a request context: a summary, then the items, then the rest."""
    if context is None:
        return NO_CONTEXT
    sections = (summary_line(context), context_text(context), details_text(context))
    return "\n\n".join(section for section in sections if section)


def _comparison(rebuilt: sessions_pb2.RebuildRequestResponse) -> str:
    """Says whether a rebuilt request is the one that was sent, and what has changed since."""
    lines = [
        f"The request can be rebuilt exactly as it was sent (SHA-256 {rebuilt.payload_sha256})."
        if rebuilt.matches
        else "The request as rebuilt differs from the one that was sent."
    ]
    lines += [f"  • {item_name(one.item)} {_CHANGES.get(one.change, 'has changed')}" for one in rebuilt.differences]
    if rebuilt.system_prompt_changed:
        lines.append("  • The service's own instructions have changed")
    return "\n".join(lines)


def _items_line(session: sessions_pb2.Session) -> str:
    """Counts the items of a session by type, in the words that are used for a request context."""
    items = [
        context_pb2.RequestContextItem(type=item.item.type, name=item.item.name, include_mode=item.include_mode)
        for item in session.items
    ]
    return summary_line(context_pb2.RequestContext(items=items))

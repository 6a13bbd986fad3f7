"""Commands of a conversation: lines that begin with a slash."""

from dataclasses import dataclass

from proviso_client.v1 import context_pb2
from proviso_service.cli.problems import UsageProblem

HELP = """\
/context             what the last answer was given, and why
/add TYPE NAME       adds an item to the session: rule, reference or tool; a tool as server:name
/remove TYPE NAME    removes one
/preview MESSAGE     what a message would be given, without sending it
/rebuild             whether the request of the last answer can be rebuilt as it was
/history             the messages of the session
/help                this list
A message that begins with a slash is sent with a space before it."""

_TYPES = {
    "rule": context_pb2.CONTEXT_ITEM_TYPE_RULE,
    "reference": context_pb2.CONTEXT_ITEM_TYPE_REFERENCE,
    "tool": context_pb2.CONTEXT_ITEM_TYPE_TOOL,
}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d"}


@dataclass(frozen=True, slots=True)
class ShowContext:
    """/context"""


@dataclass(frozen=True, slots=True)
class AddItem:
    """/add TYPE NAME"""

    item: context_pb2.ContextItemRef


@dataclass(frozen=True, slots=True)
class RemoveItem:
    """/remove TYPE NAME"""

    item: context_pb2.ContextItemRef


@dataclass(frozen=True, slots=True)
class Preview:
    """/preview MESSAGE"""

    message: str


@dataclass(frozen=True, slots=True)
class Rebuild:
    """/rebuild"""


@dataclass(frozen=True, slots=True)
class ShowHistory:
    """/history"""


@dataclass(frozen=True, slots=True)
class ShowHelp:
    """/help"""


Command = ShowContext | AddItem | RemoveItem | Preview | Rebuild | ShowHistory | ShowHelp

_BARE: dict[str, type[ShowContext | Rebuild | ShowHistory | ShowHelp]] = {
    "/context": ShowContext,
    "/rebuild": Rebuild,
    "/history": ShowHistory,
    "/help": ShowHelp,
}


def parse_command(line: str) -> Command:
    """Reads a line that begins with a slash. Raises UsageProblem that says what is wrong with it."""
    typed, rest = _split(line)
    name = typed.casefold()
    match name:
        case "/add":
            return AddItem(_item(name, rest))
        case "/remove":
            return RemoveItem(_item(name, rest))
        case "/preview" if rest:
            return Preview(rest)
        case "/preview":
            raise UsageProblem("Give the message: /preview MESSAGE")
    if name not in _BARE:
        raise UsageProblem(
            f"There is no command {typed}; /help lists them. To send a message that begins with a slash, put a space "
            "before it"
        )
    if rest:
        raise UsageProblem(f"{name} takes nothing after it")
    return _BARE[name]()


def _item(command: str, rest: str) -> context_pb2.ContextItemRef:
    typed, name = _split(rest)
    kind, name = typed.casefold(), _unquoted(name)
    usage = f'{command} rule|reference|tool NAME, as in {command} rule "My rule"'
    if typed and kind not in _TYPES:
        raise UsageProblem(f"{typed!r} is no type of item: {usage}")
    if not name:
        raise UsageProblem(f"Give a type and a name: {usage}")
    if kind != "tool":
        return context_pb2.ContextItemRef(type=_TYPES[kind], name=name)
    server, _, tool = name.partition(":")
    if not server or not tool:
        raise UsageProblem(f"Name a tool with its server, as in {command} tool proviso:isaacus_search")
    return context_pb2.ContextItemRef(type=_TYPES[kind], name=tool, server_name=server)


def _split(text: str) -> tuple[str, str]:
    """The first word, and what follows it."""
    first, *rest = text.split(maxsplit=1) or [""]
    return first, rest[0].strip() if rest else ""


def _unquoted(name: str) -> str:
    """A name may stand in quotation marks, as on a shell; without them it is the rest of the line."""
    closing = _QUOTES.get(name[:1])
    if closing and closing not in name[1:]:
        raise UsageProblem("The name begins with a quotation mark that nothing closes")
    if closing and name.endswith(closing):
        return name[1:-1].strip()
    return name

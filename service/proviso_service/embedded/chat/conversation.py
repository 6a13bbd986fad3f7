"""Reads the message list of a model call: what is asked now, what was asked before, what the tools have said since."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

_MARKER = re.compile(
    r'\[CONTEXT\] The user has selected matter "(?P<matter>[^\n]*)" \(matter_id: [^\s()]+\)\.[ \t]*(?:\n|$)'
    r'(?:The user is currently viewing document "(?P<name>[^\n]*)" \(document_id: (?P<id>[^\s()]+)\)\.[ \t]*(?:\n|$))?'
)
_ASSET_HEADING = "[Uploaded Documents Context]\n"
_ASSET = re.compile(r"- (?P<filename>[^\n]+?) \((?P<type>[^()\n]*)\): (?P<summary>[^\n]*)")
_IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True, slots=True)
class ViewedDocument:
    document_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Asset:
    """A file whose summary the back end put in front of the message."""

    filename: str
    type: str
    summary: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person's message without the blocks that the service puts in front of it."""

    text: str
    has_matter: bool = False
    viewed: ViewedDocument | None = None
    assets: tuple[Asset, ...] = ()
    has_images: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """`earlier` holds the previous user messages, oldest first; `steps` what followed the current one."""

    current: UserMessage
    earlier: tuple[str, ...] = ()
    last_answer: str = ""
    steps: tuple[BaseMessage, ...] = ()


def read_conversation(messages: Sequence[BaseMessage]) -> Conversation:
    """The last human message is the current one; without any, the current text is empty."""
    asked = [index for index, message in enumerate(messages) if isinstance(message, HumanMessage)]
    if not asked:
        return Conversation(UserMessage(""))
    before = messages[: asked[-1]]
    answers = [str(message.text) for message in before if isinstance(message, AIMessage) and message.text]
    return Conversation(
        current=read_user_message(messages[asked[-1]]),
        earlier=tuple(read_user_message(messages[index]).text for index in asked[:-1]),
        last_answer=answers[-1] if answers else "",
        steps=tuple(messages[asked[-1] + 1 :]),
    )


def read_user_message(message: BaseMessage) -> UserMessage:
    text = str(message.text)
    marker = _MARKER.match(text)
    if marker:
        text = text[marker.end() :].lstrip("\n")
    assets, text = _take_assets(text)
    viewed = ViewedDocument(marker["id"], _unescaped(marker["name"])) if marker and marker["id"] else None
    return UserMessage(text.strip(), marker is not None, viewed, assets, _has_images(message))


def _take_assets(text: str) -> tuple[tuple[Asset, ...], str]:
    if not text.startswith(_ASSET_HEADING):
        return (), text
    block, _, rest = text.removeprefix(_ASSET_HEADING).partition("\n\n")
    found = (_ASSET.fullmatch(line) for line in block.split("\n"))
    return tuple(Asset(one["filename"], one["type"], one["summary"]) for one in found if one), rest


def _has_images(message: BaseMessage) -> bool:
    if isinstance(message.content, str):
        return False
    return any(isinstance(part, dict) and part.get("type") in _IMAGE_TYPES for part in message.content)


def _unescaped(name: str) -> str:
    return re.sub(r"\\([\\\"])", r"\1", name)

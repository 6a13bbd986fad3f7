"""What a turn's first model call is sent: a pure function of the turn's request context, the conversation, and the
contents that the context names by hash (seeds: context tracking design, "Build from request context")."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from proviso_service.agent.conversation import message_text, sent_history
from proviso_service.agent.instructions import Entry, render_system
from proviso_service.context.assets import image_part
from proviso_service.context.model import AssetKind, ItemType, RequestContext, RequestItem
from proviso_service.turns import HistoryMessage, MessageRole

Part = dict[str, Any]

_PIECE_CHARS = 64 * 1024


@dataclass(frozen=True, slots=True)
class ModelPayload:
    """`text` is the person's message with what it came with, `images` are parts that follow it; an image's bytes are
    named by their SHA-256. `tools` are functions: name, description, parameters."""

    system: str
    history: tuple[HistoryMessage, ...]
    text: str
    images: tuple[Part, ...]
    tools: tuple[Part, ...]

    def to_json(self) -> str:
        """The same text for the same payload: with sorted keys."""
        return "".join(self._json())

    @property
    def sha256(self) -> str:
        """Of its JSON, in hexadecimal."""
        digest = hashlib.sha256()
        for piece in self._json():
            digest.update(piece.encode())
        return digest.hexdigest()

    def _json(self) -> Iterator[str]:
        """In pieces, since instructions may be megabytes: while one is written no other thread runs."""
        content: str | list[Part] = [{"type": "text", "text": self.text}, *self.images] if self.images else self.text
        earlier = [{"role": message.role.value, "content": message.content} for message in self.history]
        messages = [*earlier, {"role": MessageRole.USER.value, "content": content}]
        yield f'{{"messages": {json.dumps(messages, sort_keys=True)}, "system": "'
        for start in range(0, len(self.system), _PIECE_CHARS):
            yield json.dumps(self.system[start : start + _PIECE_CHARS])[1:-1]
        yield f'", "tools": {json.dumps(self.tools, sort_keys=True)}}}'

    def messages(self, image_data: Mapping[str, str]) -> list[AnyMessage]:
        """As LangChain has them; `image_data` are the images' bytes in base64, by their SHA-256."""
        parts: list[str | Part] = [_with_bytes(part, image_data) for part in self.images]
        return [
            SystemMessage(self.system),
            *(_SENT_AS[message.role](message.content) for message in self.history),
            HumanMessage([{"type": "text", "text": self.text}, *parts] if parts else self.text),
        ]


_SENT_AS: Mapping[MessageRole, type[HumanMessage] | type[AIMessage]] = {
    MessageRole.USER: HumanMessage,
    MessageRole.ASSISTANT: AIMessage,
}


def build_payload(
    context: RequestContext, history: Sequence[HistoryMessage], text: str, contents: Mapping[str, str]
) -> ModelPayload:
    """`history` are the earlier messages of the conversation, `text` is the message as typed, without its marker. What
    `contents` lacks is left out."""
    given = [item for item in context.items if item.is_given and item.content_sha256 in contents]
    lines = [asset.text for asset in context.assets if asset.kind is AssetKind.DOCUMENT and asset.included]
    images = [asset for asset in context.assets if asset.kind is AssetKind.IMAGE]
    return ModelPayload(
        system=render_system(
            contents.get(context.system_prompt_sha256, ""),
            _entries(given, ItemType.RULE, contents),
            _entries(given, ItemType.REFERENCE, contents),
        ),
        history=tuple(sent_history(history)),
        text=message_text(text, context.matter_context, lines),
        images=tuple(part for number, asset in enumerate(images, 1) if (part := image_part(number, asset))),
        tools=tuple(json.loads(contents[item.content_sha256]) for item in given if item.ref.type is ItemType.TOOL),
    )


def _entries(items: Sequence[RequestItem], kind: ItemType, contents: Mapping[str, str]) -> list[Entry]:
    return [Entry(item.ref.name, contents[item.content_sha256]) for item in items if item.ref.type is kind]


def _with_bytes(part: Part, image_data: Mapping[str, str]) -> Part:
    if part["type"] != "image":
        return part
    return {"type": "image", "base64": image_data[part["sha256"]], "mime_type": part["media_type"]}

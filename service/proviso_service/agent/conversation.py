"""The messages that are sent to the model, and how many characters they take."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, message_to_dict

from proviso_service.agent.prompts import is_note
from proviso_service.context.assets import render_documents
from proviso_service.context.marker import parse_marker, render_marker
from proviso_service.context.model import DocumentSummary, MatterContext
from proviso_service.context.sessions import MessageRole
from proviso_service.turns.ports import HistoryMessage


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The newest messages that fit into the limit; `overflowed` when an older one was left out. `characters` are those
    of all of them."""

    messages: tuple[AnyMessage, ...]
    characters: int
    overflowed: bool


def trim_messages(messages: Sequence[AnyMessage], max_chars: int) -> Trimmed:
    """Counts the text of conversation messages newest first and keeps them until the limit is reached. System messages
    and the service's own notes are kept and not counted (behavioural contract section 6)."""
    kept: list[AnyMessage] = []
    characters = 0
    for message in reversed(messages):
        if not (isinstance(message, SystemMessage) or is_note(message)):
            characters += text_length(message)
            if characters > max_chars:
                continue
        kept.append(message)
    return Trimmed(tuple(reversed(kept)), characters, overflowed=characters > max_chars)


def text_length(message: AnyMessage) -> int:
    """Code points of a message's text; images count nothing."""
    if isinstance(message.content, str):
        return len(message.content)
    return sum(len(part if isinstance(part, str) else str(part.get("text", ""))) for part in message.content)


def without_repeats(history: Sequence[HistoryMessage], text: str) -> tuple[HistoryMessage, ...]:
    """The history without its last messages where they are `text`, which nobody answered and which is sent again."""
    end = len(history)
    while end and history[end - 1] == HistoryMessage(MessageRole.USER, text):
        end -= 1
    return tuple(history[:end])


def history_messages(history: Sequence[HistoryMessage]) -> list[AnyMessage]:
    """Earlier messages as the model sees them: user messages as typed, without marker, and displayed answers."""
    sent: list[AnyMessage] = []
    for message in history:
        if message.role is MessageRole.USER:
            text = parse_marker(message.content).text
            if text.strip():
                sent.append(HumanMessage(text))
        elif message.role is MessageRole.ASSISTANT and message.content.strip():
            sent.append(AIMessage(message.content))
    return sent


def user_message(
    text: str, context: MatterContext | None, documents: Sequence[DocumentSummary], summary_chars: int
) -> HumanMessage:
    """The person's message with what it came with: context block, asset block, then the message."""
    blocks = []
    if context is not None:
        blocks.append(render_marker(context))
    if documents:
        blocks.append(render_documents(documents, summary_chars))
    return HumanMessage("\n\n".join([*blocks, text]))


def payload_sha256(messages: Sequence[AnyMessage], tools_sha256: str) -> str:
    """Identifies what is sent to the model in a turn's first call; the tools by their own hash, which is at hand."""
    payload = {"messages": [_without_bytes(message_to_dict(m)) for m in messages], "tools": tools_sha256}
    return hashlib.sha256(json.dumps(payload, sort_keys=True, default=str).encode()).hexdigest()


def _without_bytes(message: dict[str, Any]) -> dict[str, Any]:
    """With a hash in place of each image: writing megabytes as JSON would take the event loop's time."""
    content = message["data"]["content"]
    if isinstance(content, str):
        return message
    return {**message, "data": {**message["data"], "content": [_hashed(part) for part in content]}}


def _hashed(part: Any) -> Any:
    if isinstance(part, dict) and isinstance(part.get("base64"), str):
        return {**part, "base64": hashlib.sha256(part["base64"].encode()).hexdigest()}
    return part

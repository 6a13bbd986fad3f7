"""The messages that are sent to the model, and how many characters they take."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, SystemMessage

from proviso_service.agent.prompts import is_note
from proviso_service.context.assets import render_documents
from proviso_service.context.marker import parse_marker, render_marker
from proviso_service.context.model import MatterContext
from proviso_service.turns import HistoryMessage, MessageRole


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


def sent_history(history: Sequence[HistoryMessage]) -> list[HistoryMessage]:
    """Earlier messages as the model sees them: user messages as typed, without marker, and displayed answers."""
    sent: list[HistoryMessage] = []
    for message in history:
        if message.role is MessageRole.USER:
            text = parse_marker(message.content).text
            if text.strip():
                sent.append(HistoryMessage(MessageRole.USER, text))
        elif message.role is MessageRole.ASSISTANT and message.content.strip():
            sent.append(message)
    return sent


def message_text(text: str, context: MatterContext | None, documents: Sequence[str]) -> str:
    """The person's message with what it came with: context block, asset block, then the message. `documents` are the
    lines about them."""
    blocks = []
    if context is not None:
        blocks.append(render_marker(context))
    if documents:
        blocks.append(render_documents(documents))
    return "\n\n".join([*blocks, text])

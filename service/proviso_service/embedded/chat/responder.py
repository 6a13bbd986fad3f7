"""One step of the model: from the conversation so far to tool calls or an answer, the same for the same input."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from proviso_service.embedded.chat import phrases
from proviso_service.embedded.chat.answers import answer
from proviso_service.embedded.chat.conversation import Conversation, UserMessage, read_conversation
from proviso_service.embedded.chat.evidence import RETRIEVER_TOOL, read_evidence
from proviso_service.embedded.chat.examples import Intent
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.planning import (
    Call,
    Tools,
    documentation_call,
    next_calls,
    second_look,
    wider_look,
)
from proviso_service.embedded.chat.targets import Target, find_target
from proviso_service.embedded.chat.task import understand
from proviso_service.embedded.chat.uploads import is_about_uploads, uploads_answer
from proviso_service.models import Embedder

_ABOUT_IMAGE = re.compile(
    r"\b(?:images?|pictures?|photos?|photographs?|screenshots?|diagrams?|drawings?|designs?|scans?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Step:
    """Either `calls` or `text`."""

    text: str = ""
    calls: tuple[Call, ...] = ()


async def respond(
    messages: Sequence[BaseMessage], tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> Step:
    """`tools` are those on offer for this step; none in an answer step."""
    conversation = read_conversation(messages)
    message = conversation.current
    if not message.text or (message.has_images and _ABOUT_IMAGE.search(message.text)):
        return Step(phrases.NO_IMAGES if message.has_images else phrases.FIXED_ANSWERS[Intent.GREETING])
    if is_about_uploads(message):
        return Step(_with_image_note(uploads_answer(message.text, message.assets), message))
    step = await _document_step(conversation, tools, embedder, recogniser)
    return replace(step, text=_with_image_note(step.text, message)) if step.text else step


async def _document_step(
    conversation: Conversation, tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> Step:
    task = await understand(conversation, recogniser)
    if task.is_document_free:
        return Step(phrases.FIXED_ANSWERS[task.intent])
    evidence = read_evidence(conversation.steps)
    if not conversation.current.has_matter and (call := documentation_call(task, evidence, tools)):
        return Step(calls=(call,))
    if evidence.has_called(RETRIEVER_TOOL):
        stated = await answer(replace(task, intent=Intent.FACT), Target(), evidence, embedder)
        return Step(stated.text)
    target = find_target(task, evidence, conversation.last_answer)
    calls = next_calls(task, target, evidence, tools)
    if calls:
        return Step(calls=tuple(calls))
    if not evidence.calls:
        return Step(phrases.NO_TOOLS if conversation.current.has_matter else phrases.NO_MATTER)
    found = await answer(task, target, evidence, embedder)
    if found.found:
        more = wider_look(task, target, evidence, tools, found.documents)
    else:
        more = second_look(task, target, evidence, tools)
    return Step(calls=tuple(more)) if more else Step(found.text)


def _with_image_note(text: str, message: UserMessage) -> str:
    return f"{phrases.NO_IMAGES}\n\n{text}" if message.has_images else text

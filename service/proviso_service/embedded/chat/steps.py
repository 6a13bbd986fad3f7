"""The step that the chat model makes in each call: from the messages so far to tool calls or to an answer. The same
messages always lead to the same step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from proviso_service.embedded.chat.answers import answer, language_notes, no_answer
from proviso_service.embedded.chat.conversation import Call, ReadConversation, read_conversation, read_evidence
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.phrases import DOCUMENT_FREE, Intent, pattern
from proviso_service.embedded.chat.planning import Tools, documentation_call, next_calls, read_on, second_look
from proviso_service.embedded.chat.request import TargetDocuments, find_target_documents
from proviso_service.embedded.chat.result_answers import is_about_uploads, uploads_answer
from proviso_service.embedded.chat.understanding import understand
from proviso_service.embedded.chat.wording import fixed_answer, said
from proviso_service.models import Embedder
from proviso_service.tool_results import RETRIEVER_TOOL


@dataclass(frozen=True, slots=True)
class ModelStep:
    """What the model does next: it makes the `calls`, or it answers with the `text`."""

    text: str = ""
    calls: Sequence[Call] = ()


async def respond(
    messages: Sequence[BaseMessage], tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> ModelStep:
    """Decides on the next step. `tools` are those that may be called in it, none in a step that must answer."""
    conversation = read_conversation(messages)
    message = conversation.current
    if not message.text or (message.has_images and pattern("about_image").search(message.text)):
        return ModelStep(said("no_images") if message.has_images else fixed_answer(Intent.GREETING))
    if is_about_uploads(message):
        step = ModelStep(uploads_answer(message.text, message.assets))
    else:
        step = await _document_step(conversation, tools, embedder, recogniser)
    return ModelStep(f"{said('no_images')}\n\n{step.text}") if message.has_images and step.text else step


async def _document_step(
    conversation: ReadConversation, tools: Tools, embedder: Embedder, recogniser: IntentRecogniser
) -> ModelStep:
    request = await understand(conversation, recogniser)
    if request.is_at_end or (request.intent in DOCUMENT_FREE and not request.is_about_clauses):
        return ModelStep(said("all_shown", request.language) if request.is_at_end else fixed_answer(request.intent))
    evidence = read_evidence(conversation.steps)
    if not conversation.current.has_matter and (call := documentation_call(request, evidence, tools)):
        return ModelStep(calls=(call,))
    if any(call.name == RETRIEVER_TOOL for call in evidence.calls):
        request, target = replace(request, intent=Intent.FACT), TargetDocuments()
    else:
        target = find_target_documents(request, evidence, conversation.last_answer)
        calls = next_calls(request, target, evidence, tools) or read_on(request, target, evidence, tools)
        if calls:
            return ModelStep(calls=calls)
        if not evidence.calls:
            return ModelStep(said("no_tools" if conversation.current.has_matter else "no_matter"))
    text = await answer(request, target, evidence, embedder)
    if not text and (calls := second_look(request, target, evidence, tools)):
        return ModelStep(calls=calls)
    text = text or no_answer(request, target, evidence)
    return ModelStep("\n\n".join((text, *language_notes(evidence, request.language))))

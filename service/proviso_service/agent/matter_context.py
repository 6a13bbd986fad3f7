"""Finds out which matter and document a turn is about, and whether they can be used.

The context comes from the request's typed field, else from the marker in the message, else from what the conversation
last knew. A problem, such as a matter that does not exist, is answered by a sentence, without the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proviso_service.context.marker import parse_marker
from proviso_service.context.model import MatterContext
from proviso_service.errors import DocumentNotFound, MatterNotFound
from proviso_service.matters import Document, DocumentStatus, Matter, is_uuid
from proviso_service.turns import ContextProblem, HistoryMessage

MAX_DOCUMENTS_LISTED = 20

ASK_FOR_MATTER = "Which matter are you working with? Please select one, so that I can look into its documents."


class MatterReader(Protocol):
    """Reads what a turn needs to know of matters. The methods raise MatterNotFound and DocumentNotFound."""

    async def get(self, tenant: str, matter_id: str) -> Matter: ...

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document: ...

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]: ...


@dataclass(frozen=True, slots=True)
class ResolvedContext:
    """The matter context of a turn. `context` is checked: its ids exist, and its names are the stored ones. Where there
    is a `problem`, `sentence` is the answer that tells it. `is_new` says that the message itself brings the context and
    that it is valid, so that the session should remember it. `index_version` is that of the matter, 0 without one."""

    context: MatterContext | None
    problem: ContextProblem | None = None
    sentence: str = ""
    is_new: bool = False
    index_version: int = 0


def last_known_in(history: Sequence[HistoryMessage]) -> MatterContext | None:
    """The matter context of the last marker in a history that the caller sent."""
    for message in reversed(history):
        if message.role == "user" and (context := parse_marker(message.content).context):
            return context
    return None


async def resolve(
    tenant: str, given: MatterContext | None, last_known: MatterContext | None, matters: MatterReader
) -> ResolvedContext:
    """Checks the matter context that the message gives, or else the one that the conversation last knew."""
    context = given or last_known
    if context is None:
        return ResolvedContext(None)
    if not is_uuid(context.matter_id):
        return _matter_not_found(context)
    try:
        matter = await matters.get(tenant, context.matter_id)
    except MatterNotFound:
        return _matter_not_found(context)
    if not context.document_id:
        here = MatterContext(matter.matter_id, matter.name)
        return ResolvedContext(here, is_new=given is not None, index_version=matter.index_version)
    return await _resolve_document(tenant, matter, context, matters, is_new=given is not None)


async def _resolve_document(
    tenant: str, matter: Matter, context: MatterContext, matters: MatterReader, *, is_new: bool
) -> ResolvedContext:
    document = await _find_document(tenant, matter, context.document_id, matters)
    if document is None:
        return ResolvedContext(
            MatterContext(matter.matter_id, matter.name),
            ContextProblem.DOCUMENT_NOT_FOUND,
            _documents_to_choose_from(matter, await matters.all_documents(tenant, matter.matter_id)),
        )
    known = MatterContext(matter.matter_id, matter.name, document.document_id, document.filename)
    if document.status is DocumentStatus.FAILED:
        sentence = f'"{document.filename}" could not be read: {document.failure_reason}'
        return ResolvedContext(known, ContextProblem.DOCUMENT_FAILED, sentence, is_new)
    if document.status is not DocumentStatus.READY:
        sentence = f'"{document.filename}" is still being processed. Please ask again in a moment.'
        return ResolvedContext(known, ContextProblem.DOCUMENT_PROCESSING, sentence, is_new)
    return ResolvedContext(known, is_new=is_new, index_version=matter.index_version)


async def _find_document(tenant: str, matter: Matter, document_id: str, matters: MatterReader) -> Document | None:
    if not is_uuid(document_id):
        return None
    try:
        return await matters.get_document(tenant, matter.matter_id, document_id)
    except DocumentNotFound:
        return None


def _matter_not_found(context: MatterContext) -> ResolvedContext:
    name = f' "{context.matter_name}"' if context.matter_name else ""
    return ResolvedContext(
        None,
        ContextProblem.MATTER_NOT_FOUND,
        f"I could not find the matter{name}. Please check that it exists and that you have access to it.",
    )


def _documents_to_choose_from(matter: Matter, documents: Sequence[Document]) -> str:
    if not documents:
        return f'That document is not in the matter "{matter.name}", which has no documents yet.'
    names = [f"- {d.filename}" for d in documents[:MAX_DOCUMENTS_LISTED]]
    if len(documents) > MAX_DOCUMENTS_LISTED:
        names.append(f"- and {len(documents) - MAX_DOCUMENTS_LISTED} more")
    return "\n".join([f'That document is not in the matter "{matter.name}". Which of these do you mean?', *names])

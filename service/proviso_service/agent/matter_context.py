"""Finds out which matter and document a turn is about, and whether they can be used.

The context comes from the request's typed field, else from the marker in the message, else from what the conversation
last knew. A problem, such as a matter that does not exist, is answered by a sentence, without the model. What is sound
of a context with a problem is remembered, so that the conversation never goes on with a context from before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from proviso_service.access import Action, Authorisation
from proviso_service.agent.sentences import (
    ASK_FOR_MATTER,
    DOCUMENT_FAILED,
    DOCUMENT_NOT_FOUND,
    DOCUMENT_NOTED,
    DOCUMENT_PROCESSING,
    MATTER_NOT_FOUND,
    MATTER_NOTED,
    MORE_DOCUMENTS,
    NO_DOCUMENTS,
    UNCLEAR,
)
from proviso_service.context.marker import MarkerFault, parse_marker, render_marker
from proviso_service.context.model import MatterContext
from proviso_service.errors import DocumentNotFound, MatterNotFound
from proviso_service.identity import Caller
from proviso_service.matters import Document, DocumentStatus, Matter, MatterReader, is_uuid
from proviso_service.turns import ContextProblem, HistoryMessage, MessageRole, Texts, filled

MAX_DOCUMENTS_LISTED = 20


def _beginnings(*sentences: Texts) -> tuple[str, ...]:
    return tuple(text.partition("{")[0] for texts in sentences for text in texts.values())


_NOTED = _beginnings(MATTER_NOTED, DOCUMENT_NOTED)
_TOLD = _beginnings(MATTER_NOT_FOUND, DOCUMENT_NOT_FOUND, NO_DOCUMENTS)
"""How the sentences begin that are said once; what was sound then is gone on with."""

_UNCLEAR = {
    MarkerFault.NO_MATTER: "I can read no matter_id in it",
    MarkerFault.SEVERAL_MATTERS: "it names more than one matter_id",
    MarkerFault.DOCUMENT: "I cannot read which document it names",
}
_RIGHT_FORM = render_marker(
    MatterContext("id of the matter", "name of the matter", "id of the document", "name of the document")
)
_CITATION = re.compile(r"\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class ResolvedContext:
    """The matter context of a turn. `context` is checked: its ids exist, and its names are the stored ones. Where there
    is a `problem`, `sentence` is the answer that tells it, by language, and `context` is what is sound all the same,
    None where nothing is. `is_new` says that the session should know `context` from now on, in place of what it last
    knew. `index_version` is that of the matter, 0 without one."""

    context: MatterContext | None
    problem: ContextProblem | None = None
    sentence: Texts = field(default_factory=dict)
    is_new: bool = False
    index_version: int = 0


@dataclass(frozen=True, slots=True)
class KnownContext:
    """The matter context that a conversation last knew. A history that the caller keeps has it from its last marker,
    which may have led to a problem when it was sent; `answers` are those that were displayed since. They are None for a
    session, which keeps only what was sound."""

    context: MatterContext | None = None
    answers: tuple[str, ...] | None = None

    @property
    def had_problem(self) -> bool:
        """Whether the context is that of a marker that could not be used when it was sent, which was told then. That it
        was noted, and answers that cite a source, show that it could be used."""
        if self.answers is None:
            return False
        was_used = any(answer.startswith(_NOTED) or _CITATION.search(answer) for answer in self.answers)
        return not was_used or any(answer.startswith(_TOLD) for answer in self.answers)


@dataclass(frozen=True, slots=True)
class VisibleMatters:
    """The matters that a caller may read, by `reader`; any other does not exist."""

    reader: MatterReader
    authorisation: Authorisation

    async def get(self, caller: Caller, matter_id: str) -> Matter:
        """Raises MatterNotFound."""
        await self.authorise(caller, matter_id)
        return await self.reader.get(caller.tenant, matter_id)

    async def authorise(self, caller: Caller, matter_id: str) -> None:
        """Raises MatterNotFound."""
        await self.authorisation.authorise(caller, Action.READ_MATTER, matter_id)


def last_known_in(history: Sequence[HistoryMessage]) -> KnownContext:
    """The matter context of the last marker in a history that the caller sent. A marker that cannot be read leaves
    none, as it does in a session."""
    answers: list[str] = []
    for message in reversed(history):
        if message.role is MessageRole.ASSISTANT:
            answers.append(message.content)
            continue
        marked = parse_marker(message.content)
        if marked.fault is not None:
            break
        if marked.context is not None:
            return KnownContext(marked.context, tuple(answers))
    return KnownContext()


def unclear(fault: MarkerFault) -> ResolvedContext:
    """What comes of a message whose marker cannot be read: the person is asked, and no context is gone on with."""
    sentence = filled(UNCLEAR, problem=_UNCLEAR[fault], form=_RIGHT_FORM)
    return ResolvedContext(None, ContextProblem.CONTEXT_UNCLEAR, sentence, is_new=True)


async def resolve_given(caller: Caller, given: MatterContext, matters: VisibleMatters) -> ResolvedContext:
    """Checks the matter context that a message gives."""
    return replace(await _check(caller, given, matters), is_new=True)


async def resolve_known(caller: Caller, known: KnownContext, matters: VisibleMatters) -> ResolvedContext:
    """Checks the matter context that the conversation last knew; the matter or document may have been deleted since."""
    if known.context is None:
        return ResolvedContext(None)
    resolved = await _check(caller, known.context, matters)
    if resolved.problem in (ContextProblem.MATTER_NOT_FOUND, ContextProblem.DOCUMENT_NOT_FOUND) and known.had_problem:
        return replace(resolved, problem=None, sentence={})
    return replace(resolved, is_new=resolved.problem is not None)


def acknowledge(context: MatterContext | None) -> Texts:
    """The answer to a message that only says what is on view."""
    if context is None:
        return ASK_FOR_MATTER
    noted = DOCUMENT_NOTED if context.document_name else MATTER_NOTED
    return filled(noted, document=context.document_name, matter=context.matter_name)


async def _check(caller: Caller, context: MatterContext, matters: VisibleMatters) -> ResolvedContext:
    if not is_uuid(context.matter_id):
        return _matter_not_found(context)
    try:
        matter = await matters.get(caller, context.matter_id)
    except MatterNotFound:
        return _matter_not_found(context)
    here = ResolvedContext(MatterContext(matter.matter_id, matter.name), index_version=matter.index_version)
    if not context.document_id:
        return here
    document = await _find_document(matter, context.document_id, matters.reader)
    if document is None:
        documents = await matters.reader.all_documents(matter.tenant, matter.matter_id)
        sentence = _documents_to_choose_from(matter, documents)
        return replace(here, problem=ContextProblem.DOCUMENT_NOT_FOUND, sentence=sentence)
    viewed = MatterContext(matter.matter_id, matter.name, document.document_id, document.filename)
    problem, sentence = _problem_of(document)
    return replace(here, context=viewed, problem=problem, sentence=sentence)


def _problem_of(document: Document) -> tuple[ContextProblem | None, Texts]:
    name = document.filename
    if document.status is DocumentStatus.FAILED:
        failed = filled(DOCUMENT_FAILED, document=name, reason=document.failure_reason)
        return ContextProblem.DOCUMENT_FAILED, failed
    if document.status is not DocumentStatus.READY:
        return ContextProblem.DOCUMENT_PROCESSING, filled(DOCUMENT_PROCESSING, document=name)
    return None, {}


async def _find_document(matter: Matter, document_id: str, matters: MatterReader) -> Document | None:
    if not is_uuid(document_id):
        return None
    try:
        return await matters.get_document(matter.tenant, matter.matter_id, document_id)
    except DocumentNotFound:
        return None


def _matter_not_found(context: MatterContext) -> ResolvedContext:
    name = f' "{context.matter_name}"' if context.matter_name else ""
    return ResolvedContext(None, ContextProblem.MATTER_NOT_FOUND, filled(MATTER_NOT_FOUND, name=name))


def _documents_to_choose_from(matter: Matter, documents: Sequence[Document]) -> Texts:
    if not documents:
        return filled(NO_DOCUMENTS, matter=matter.name)
    names = "\n".join(f"- {d.filename}" for d in documents[:MAX_DOCUMENTS_LISTED])
    left_out = len(documents) - MAX_DOCUMENTS_LISTED
    more = filled(MORE_DOCUMENTS, count=left_out) if left_out > 0 else {}
    return {
        language: text.format(matter=matter.name, documents=names + more.get(language, ""))
        for language, text in DOCUMENT_NOT_FOUND.items()
    }

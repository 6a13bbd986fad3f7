"""Decides which documents a task is about, once the matter's documents are known."""

from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat.evidence import Evidence, ListedDocument
from proviso_service.embedded.chat.examples import Intent
from proviso_service.embedded.chat.mentions import Mention, match_mention
from proviso_service.embedded.chat.task import Scope, Task, names_viewed


@dataclass(frozen=True, slots=True)
class Target:
    """`documents` to look in, all of the matter's when empty. `missing` are names that fit no document, `unready` are
    named documents that cannot be searched yet."""

    documents: tuple[ListedDocument, ...] = ()
    missing: tuple[str, ...] = ()
    unready: tuple[ListedDocument, ...] = ()
    matched: tuple[Mention, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [document.document_id for document in self.documents]


def needs_listing(task: Task) -> bool:
    """Whether filenames must be known before the task can go on."""
    if task.is_document_free:
        return False
    if task.mentions:
        return not (len(task.mentions) == 1 and names_viewed(task.mentions[0], task.viewed))
    if task.scope is Scope.EARLIER or task.intent is Intent.LIST:
        return True
    if task.intent in (Intent.SHOW, Intent.SUMMARY):
        return task.scope is Scope.MATTER
    return task.intent is Intent.COMPARE or (task.intent is Intent.COUNT and not task.subject(task.mentions))


def find_target(task: Task, evidence: Evidence, last_answer: str = "") -> Target:
    """Documents for the task, as far as they are known."""
    if task.mentions:
        return _named(task, evidence)
    if task.viewed and task.scope in (Scope.VIEWED, Scope.VIEWED_FIRST):
        return Target((ListedDocument(document_id=task.viewed.document_id, filename=task.viewed.name),))
    if task.scope is Scope.EARLIER and evidence.listing:
        return _split(tuple(one for one in evidence.listing.documents if one.filename in last_answer))
    return Target()


def _named(task: Task, evidence: Evidence) -> Target:
    if task.viewed and len(task.mentions) == 1 and names_viewed(task.mentions[0], task.viewed):
        viewed = ListedDocument(document_id=task.viewed.document_id, filename=task.viewed.name)
        return Target((viewed,), matched=task.mentions)
    if evidence.listing is None:
        return Target()
    listed = evidence.listing.documents
    fits = {mention: match_mention(mention, [one.filename for one in listed]) for mention in task.mentions}
    indices = dict.fromkeys(index for found in fits.values() for index in found)
    lost = [mention for mention, found in fits.items() if not found]
    is_missing = evidence.listing.holds_named and (task.intent is Intent.COMPARE or not indices)
    missing = tuple(one.phrase for one in lost if one.firm) if is_missing else ()
    return _split([listed[index] for index in indices], missing, tuple(one for one, found in fits.items() if found))


def _split(
    documents: Sequence[ListedDocument], missing: tuple[str, ...] = (), matched: tuple[Mention, ...] = ()
) -> Target:
    ready = tuple(one for one in documents if one.is_ready)
    return Target(ready, missing, tuple(one for one in documents if not one.is_ready), matched)

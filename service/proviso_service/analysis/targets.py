"""The documents that a question is asked about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.errors import NoReadyDocuments
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.ports import MatterStore
from proviso_service.matters.service import why_not_ready

NO_SUCH_DOCUMENT = "There is no such document in this matter"


@dataclass(frozen=True, slots=True)
class Target:
    """The `index`-th document asked about; `error` says why it can't be read. `document` is None only then."""

    index: int
    document_id: str
    document: Document | None
    error: str = ""

    @property
    def filename(self) -> str:
        return self.document.filename if self.document else ""


async def find_targets(
    store: MatterStore, tenant: str, matter_id: str, document_ids: Sequence[str]
) -> tuple[Target, ...]:
    """The documents asked for, in their order; else all of the matter, in the order of upload. Raises MatterNotFound,
    and NoReadyDocuments where the matter has none."""
    await store.get_matter(tenant, matter_id)
    documents = await store.all_documents(tenant, matter_id)
    if not any(document.status is DocumentStatus.READY for document in documents):
        raise NoReadyDocuments
    return tuple(_targets(documents, document_ids))


def _targets(documents: Sequence[Document], document_ids: Sequence[str]) -> Iterator[Target]:
    by_id = {document.document_id: document for document in documents}
    for index, document_id in enumerate(document_ids or by_id):
        document = by_id.get(document_id)
        yield Target(index, document_id, document, _error(document))


def _error(document: Document | None) -> str:
    if document is None:
        return NO_SUCH_DOCUMENT
    return "" if document.status is DocumentStatus.READY else why_not_ready(document)

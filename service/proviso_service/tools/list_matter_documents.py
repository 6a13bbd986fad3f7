"""The tool `list_matter_documents`: what a matter holds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.service import Matters
from proviso_service.tools.base import Number, Rendered, ToolArgs, ToolScope, matter_of
from proviso_service.tools.rendering import fit_list


class ListMatterDocumentsArgs(ToolArgs):
    pass


@dataclass(frozen=True, slots=True)
class MatterDocuments:
    """Every document of a matter, in the order of upload."""

    matter_id: str
    documents: Sequence[Document]

    @property
    def found(self) -> bool:
        return True

    def summary(self) -> dict[str, int]:
        """Counts by state, under the names of the tool family."""
        by_status = Counter(d.status for d in self.documents)
        return {
            "ready_for_search": by_status[DocumentStatus.READY],
            "still_processing": by_status[DocumentStatus.PENDING] + by_status[DocumentStatus.PROCESSING],
            "failed": by_status[DocumentStatus.FAILED],
        }

    def data(self) -> dict[str, Any]:
        return {
            "total_count": len(self.documents),
            "matter_id": self.matter_id,
            "summary": self.summary(),
            "documents": [_document(d) for d in self.documents],
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        del number  # a list of names is no passage to quote
        return fit_list(self.data(), "documents", max_chars)


class ListMatterDocuments:
    """Lists a matter's documents with their states."""

    name = "list_matter_documents"
    description = (
        "List the documents of the matter with file name, type, size and processing status. Use it to learn which "
        "documents there are, to count them, or to find the document_id of a document the user names."
    )
    args = ListMatterDocumentsArgs
    needs_matter = True
    is_retrieval = False

    def __init__(self, matters: Matters) -> None:
        self._matters = matters

    async def run(self, scope: ToolScope, args: ListMatterDocumentsArgs) -> MatterDocuments:
        del args  # the matter is all it takes
        matter_id = matter_of(scope)
        return MatterDocuments(matter_id, await self._matters.all_documents(scope.caller.tenant, matter_id))


def _document(document: Document) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "filename": document.filename,
        "file_type": document.file_type,
        "file_size": document.size_bytes,
        "processing_status": document.status.value,
        "uploaded_at": document.upload_time.isoformat(timespec="seconds"),
    }

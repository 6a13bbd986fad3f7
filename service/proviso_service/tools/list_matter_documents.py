"""The tool `list_matter_documents`: the documents of a matter."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from proviso_service.matters import Document, DocumentStatus, Matters
from proviso_service.reading import joined_words
from proviso_service.tool_results import LIST_TOOL, DocumentCounts, DocumentList, ListedDocument
from proviso_service.tools.base import Number, Rendered, ToolArgs, ToolScope, matter_of
from proviso_service.tools.rendering import fit_list, stems_of

# Words that the names of most documents hold.
_GENERAL = stems_of("agreement agreements contract contracts document documents")
_NAME_WITH_FIGURE = re.compile(r"(?<![\w-])[A-Za-z]{1,3}-?\d[A-Za-z]?(?![\w-])")


class ListMatterDocumentsArgs(ToolArgs):
    name: str = Field(
        "",
        max_length=300,
        description="What a document is called: its title, its parties, its date or its file name. Documents that hold "
        "words of it in their file name or at their beginning are listed first, with these words.",
    )


@dataclass(frozen=True, slots=True)
class MatterDocuments:
    """All documents of a matter. Those that hold words that were asked for come first, the more of them the earlier;
    otherwise they are in the order of upload. `held` are the stems of these words by the ids of documents."""

    matter_id: str
    documents: Sequence[Document]
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def name_matches(self) -> int:
        return sum(1 for words in self.held.values() if words)

    @property
    def found(self) -> bool:
        return True

    def summary(self) -> DocumentCounts:
        """The number of documents in each state, under the field names of the tool contract."""
        by_status = Counter(d.status for d in self.documents)
        return DocumentCounts(
            ready_for_search=by_status[DocumentStatus.READY],
            still_processing=by_status[DocumentStatus.PENDING] + by_status[DocumentStatus.PROCESSING],
            failed=by_status[DocumentStatus.FAILED],
        )

    def data(self) -> dict[str, Any]:
        return DocumentList(
            total_count=len(self.documents),
            matter_id=self.matter_id,
            summary=self.summary(),
            documents=tuple(self._listed(_document(d)) for d in self.documents),
        ).as_json()

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The whole list where it fits, else the names and ids of as many documents as fit."""
        del number  # a list of names is no passage to quote
        data = self.data() | {"name_matches": self.name_matches}
        whole = fit_list(data, "documents", max_chars)
        if not whole.truncated:
            return whole
        brief = [self._listed(_brief(document)).as_json() for document in self.documents]
        return fit_list(data | {"documents": brief}, "documents", max_chars)

    def _listed(self, document: ListedDocument) -> ListedDocument:
        words = self.held.get(document.document_id)
        return document.model_copy(update={"holds": tuple(sorted(words))}) if words else document


class ListMatterDocuments:
    """Lists a matter's documents with their processing states."""

    name = LIST_TOOL
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
        matter_id = matter_of(scope)
        tenant = scope.caller.tenant
        documents = await self._matters.all_documents(tenant, matter_id)
        stems = _stems(args.name) - _GENERAL
        openings = await self._matters.openings(tenant, matter_id) if stems else {}
        held = {one.document_id: _held(one.filename, openings.get(one.document_id, ""), stems) for one in documents}
        ordered = sorted(documents, key=lambda document: -len(held[document.document_id]))
        return MatterDocuments(matter_id, ordered, held)


def _held(filename: str, opening: str, stems: frozenset[str]) -> frozenset[str]:
    """Those of the words that stand in the file's name, also inside longer words, or in the opening of its text."""
    name = filename.lower()
    return frozenset(stem for stem in stems if stem in name) | (stems & _stems(opening) if stems else frozenset())


def _stems(text: str) -> frozenset[str]:
    """The stems of words, and names such as AT&T and H-2, of which too little is left without the mark or figure."""
    return (
        stems_of(text)
        | {word for word in joined_words(text) if "&" in word}
        | {found.lower() for found in _NAME_WITH_FIGURE.findall(text)}
    )


def _document(document: Document) -> ListedDocument:
    return ListedDocument(
        document_id=document.document_id,
        filename=document.filename,
        file_type=document.file_type,
        file_size=document.size_bytes,
        processing_status=document.status.value,
        uploaded_at=document.upload_time.isoformat(timespec="seconds"),
    )


def _brief(document: Document) -> ListedDocument:
    """The fields by which a document is recognised."""
    if document.status is DocumentStatus.READY:
        return ListedDocument(document_id=document.document_id, filename=document.filename)
    return ListedDocument(
        document_id=document.document_id, filename=document.filename, processing_status=document.status.value
    )

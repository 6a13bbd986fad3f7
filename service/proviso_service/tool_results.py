"""The results of the service's own tools as a chat model reads them: JSON objects of these shapes.

The tools write them and the embedded chat model reads them, so both know one declaration. The result of `retriever`
is written as numbered references instead; there a `FoundPassages` goes along as the message's artifact.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

CLASSIFY_TOOL = "isaacus_classify"
EXTRACT_TOOL = "isaacus_extract"
IQL_TOOL = "isaacus_iql"
LIST_TOOL = "list_matter_documents"
RETRIEVER_TOOL = "retriever"
SEARCH_TOOL = "isaacus_search"
TEXT_TOOL = "get_document_text"


class ResultShape(BaseModel):
    """The base of all shapes. What a shape does not know is passed over when it is read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    def as_json(self) -> dict[str, Any]:
        """The fields that were given, in the order in which the shape declares them."""
        return self.model_dump(mode="json", exclude_unset=True)


class SearchedDocuments(ResultShape):
    """How many `documents` a tool looked in, `of` all of the matter that can be searched. `filenames` are the first of
    them where they are neither all nor the document on view alone."""

    documents: int
    of: int
    filenames: tuple[str, ...] = ()


class DocumentOnView(ResultShape):
    """The document that the person has on the screen: whether the tool looked in it, and whether the result holds
    something of it. Both are None for a tool that looks in no document. It goes without id and name where passages of
    it are shown with theirs."""

    document_id: str = ""
    filename: str = ""
    searched: bool | None = None
    found: bool | None = None


class TurnResult(ResultShape):
    """The base of results that say what became of the document on view, in a turn that has one, and in `languages` what
    to know of languages that the models do not read."""

    languages: tuple[str, ...] = ()
    searched: SearchedDocuments | None = None
    on_view: DocumentOnView | None = None


class ListedDocument(ResultShape):
    document_id: str
    filename: str
    file_type: str = ""
    file_size: int = 0
    processing_status: str = "ready"
    uploaded_at: str = ""
    holds: tuple[str, ...] = ()
    """The stems of those of the words asked for that stand in the file's name or at the beginning of its text."""

    @property
    def is_ready(self) -> bool:
        return self.processing_status.lower() == "ready"


class DocumentCounts(ResultShape):
    """How many documents of a matter are in which state."""

    ready_for_search: int = 0
    still_processing: int = 0
    failed: int = 0


class DocumentList(TurnResult):
    """What list_matter_documents answers. `total_count` counts all documents of the matter, `documents` may hold fewer;
    the first `name_matches` hold words of the name that was asked for."""

    total_count: int
    matter_id: str = ""
    summary: DocumentCounts = DocumentCounts()
    documents: tuple[ListedDocument, ...] = ()
    name_matches: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every document of the matter is shown."""
        return len(self.documents) >= self.total_count

    @property
    def holds_named(self) -> bool:
        """Whether every document that may have been named is shown."""
        return self.is_whole or (self.name_matches is not None and len(self.documents) >= self.name_matches)


class FoundPassage(ResultShape):
    """A piece of a document's text that an answer may quote, cited by its `ref`. `page` counts from 1; `confidence` and
    `score`, from 0 to 1, are the classifier's."""

    ref: int | None = None
    document_id: str = ""
    filename: str = ""
    heading: str = ""
    page: int = 0
    confidence: float = 0.0
    score: float = 0.0
    text: str


class MatchingDocument(ResultShape):
    """A document with `passages` passages that hold all significant words of a search."""

    document_id: str = ""
    filename: str
    passages: int = 0


class FailedDocument(ResultShape):
    """A document that could not be searched or analysed, and why."""

    document_id: str = ""
    filename: str = ""
    error: str = ""


class FoundPassages(TurnResult):
    """What isaacus_search answers: the best passages first, of which `results` may hold fewer than were asked for.
    `total_found` counts all that were found, also those that were not asked for, and `documents_found` the documents of
    the passages. `documents_matching_count` counts all documents that hold the words of the search, and
    `documents_matching` holds the first of them; both are None where nobody counted."""

    query: str = ""
    total_found: int = 0
    documents_found: int = 0
    results: tuple[FoundPassage, ...] = ()
    documents_matching: tuple[MatchingDocument, ...] | None = None
    documents_matching_count: int | None = None
    documents_available: tuple[str, ...] = ()
    documents_processing: tuple[str, ...] = ()
    not_searched: tuple[FailedDocument, ...] = ()
    truncated: bool = False


class ExtractedAnswer(FoundPassage):
    """A passage with the words of it that answer a question; `confidence`, from 0 to 1, says how surely, and `start`
    where the text starts in its document, in code points."""

    answer: str = ""
    start: int = 0


class ExtractedAnswers(TurnResult):
    """What isaacus_extract answers. The first of the `citations` holds the `answer`, and `alternatives` other answers,
    or those of other documents where each was asked; without an answer that is sure enough there are only these. Where
    each of `documents_asked` was asked, `not_shown` counts those for whose answers there was no room, and
    `not_shown_confidence` is that of the surest of these; where each of the matter was asked, `documents_without` names
    documents that have no likely answer, of which there are `documents_without_count`."""

    question: str = ""
    answer: str = ""
    confidence: float = 0.0
    found: bool = False
    citations: tuple[ExtractedAnswer, ...] = ()
    alternatives: tuple[ExtractedAnswer, ...] = ()
    documents_asked: int = 0
    not_shown: int = 0
    not_shown_confidence: float = 0
    documents_without: tuple[str, ...] = ()
    documents_without_count: int = 0
    document_errors: tuple[FailedDocument, ...] = ()
    truncated: bool = False

    @property
    def answers(self) -> tuple[ExtractedAnswer, ...]:
        """All answers and places of them, best first."""
        own = (one.model_copy(update={"answer": self.answer}) for one in self.citations)
        return tuple(sorted((*own, *self.alternatives), key=lambda one: -one.confidence))


class DocumentPart(TurnResult):
    """What get_document_text answers: the text of a document of `character_count` code points from `start` on. Where it
    goes on, at `next_start`, `hint` says how to read what follows."""

    ref: int | None = None
    document_id: str = ""
    filename: str
    file_type: str = ""
    character_count: int = 0
    truncated: bool = False
    start: int = 0
    page: int = 0
    section_path: tuple[str, ...] = ()
    next_start: int | None = None
    text: str
    hint: str = ""

    @property
    def passage(self) -> FoundPassage:
        return FoundPassage(ref=self.ref, document_id=self.document_id, filename=self.filename, text=self.text)


class AnalysedDocument(ResultShape):
    """A document by its score. `match_count` counts all its matches, `matches` may hold fewer."""

    document_id: str = ""
    filename: str
    score: float = 0.0
    match_count: int = 0
    matches: tuple[FoundPassage, ...] = ()

    @property
    def passages(self) -> tuple[FoundPassage, ...]:
        """The matches with the document that they are from."""
        here = {"document_id": self.document_id, "filename": self.filename}
        return tuple(match.model_copy(update=here) for match in self.matches)


class QueryMatches(TurnResult):
    """What isaacus_iql answers, best document first. `document_results` and `errors` may hold fewer documents than
    there are; the counts are those of the whole result."""

    query: str = ""
    total_matches: int
    average_score: float = 0.0
    document_count: int = 0
    model: str = ""
    warnings: tuple[str, ...] = ()
    document_results: tuple[AnalysedDocument, ...] = ()
    errors: tuple[FailedDocument, ...] = ()
    truncated: bool = False


class ClausesOfType(ResultShape):
    """The clauses of a type that was found: how many in how many documents, and the surest ones."""

    clause_type: str
    clauses: int
    documents: int = 1
    passages: tuple[FoundPassage, ...] = ()


class ClassifiedClauses(TurnResult):
    """What isaacus_classify answers. The lists may hold fewer than there are; the counts are those of the whole
    result."""

    total_found: int
    types_searched: int
    types_found: int
    clause_types: tuple[ClausesOfType, ...] = ()
    not_found: tuple[str, ...] = ()
    document_errors: tuple[FailedDocument, ...] = ()
    truncated: bool = False

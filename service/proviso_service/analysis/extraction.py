"""Answers a question with a span of the documents' text."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import Field

from proviso_service.analysis.answer_values import AnswerValue, values_in_answer
from proviso_service.analysis.document_scoring import TargetDocument, find_targets
from proviso_service.analysis.likelihood import USUAL_BANDS, Bands
from proviso_service.analysis.party_names import Definitions, PartyNames
from proviso_service.concurrency import with_timeout
from proviso_service.errors import InvalidRequest, TooBusy
from proviso_service.matters import (
    MatterStore,
    Outline,
    Retriever,
    SearchHit,
    SearchQuery,
    StoredChunk,
    uuid_of,
    uuids_of,
)
from proviso_service.models import AnswerExtractor, AnswerSpan, ModelPassage
from proviso_service.reading import Chunk, Span
from proviso_service.settings import Fraction, Seconds, Section

DEFAULT_MAX_ALTERNATIVES = 3
_EACH_TIMES = 4
"""Where each document is asked, so many times as many passages are read."""

LIKELY = 0.25
"""From here on a document may have the answer, where each is asked."""

_LEAST_OF_DOCUMENT = 3
_BEST_OF_DOCUMENTS = 16
"""So many answers are given where few documents are asked, and one of each where they are more."""


class ExtractionConfig(Section):
    """The limits of extractions."""

    min_confidence: Fraction = Field(0.3, description="Lowest confidence of an answer, where the request names none.")
    passages: int = Field(40, ge=1, le=100, description="Passages that an answer is looked for in.")
    max_running: int = Field(8, ge=1, le=256, description="Extractions that run at once.")
    time_limit_s: Seconds = Field(45.0, description="Time limit of an extraction.")


NOT_FOUND = "Not found in the documents"

_OUTER_MARKS = " .,;:()[]\"'\u201c\u201d\u2018\u2019"


@dataclass(frozen=True, slots=True)
class ExtractQuery:
    """A question to a matter. Empty `document_ids` mean the whole matter; a `min_confidence` of None means that of the
    settings."""

    matter_id: str
    question: str
    document_ids: Sequence[str] = ()
    min_confidence: float | None = None
    max_alternatives: int = DEFAULT_MAX_ALTERNATIVES
    each_document: bool = False
    """Whether each document is asked: the answers are then the best ones of the documents."""
    skip: int = 0
    """So many documents, the surest first, have been shown before where each is asked."""


@dataclass(frozen=True, slots=True)
class AnswerCitation:
    """A passage that holds an answer, from `start` to `end` in the document's text. `relevance` is that of the passage
    to the question, `confidence` that of the answer in the passage; both are in [0, 1]. `values` are those of the
    answer, placed in its text."""

    stored: StoredChunk
    relevance: float
    start: int
    end: int
    confidence: float
    values: tuple[AnswerValue, ...] = ()

    @property
    def text(self) -> str:
        chunk = self.stored.chunk
        return chunk.text[self.start - chunk.start : self.end - chunk.start]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """What one or more passages say in the same words, the surest passage first."""

    citations: tuple[AnswerCitation, ...]

    @property
    def text(self) -> str:
        return self.citations[0].text

    @property
    def confidence(self) -> float:
        return self.citations[0].confidence


@dataclass(frozen=True, slots=True)
class ExtractOutcome:
    """What was found. `answer` is None where nothing is sure enough; `alternatives` are other answers, best first.
    `failed` are the documents that could not be read, each with its error. `rerank_failed` says that passages were
    chosen without the reranker, because it failed. `outlines` are those of the documents that hold the answers,
    `documents` is the number of those that were read, and where each of a matter was asked, `without` are those of
    them that have no likely answer."""

    query: ExtractQuery
    model: str
    answer: CitedAnswer | None
    alternatives: tuple[CitedAnswer, ...]
    failed: tuple[TargetDocument, ...]
    rerank_failed: bool = False
    outlines: Mapping[str, Outline] = field(default_factory=dict)
    documents: int = 0
    without: tuple[TargetDocument, ...] = ()
    bands: Bands = USUAL_BANDS

    def passage(self, citation: AnswerCitation) -> Chunk:
        """Returns the passage of a citation, on the page and in the clause in which the answer stands."""
        chunk = citation.stored.chunk
        outline = self.outlines.get(citation.stored.document_id)
        if outline is None or not outline.places_within(Span(chunk.start, citation.start + 1)):
            return chunk
        return replace(chunk, page=outline.page_at(citation.start), section_path=outline.path_at(citation.start))


class Extraction:
    """Finds the passages that a question is about and has the extractor look for the answer in them, with a bounded
    number of questions at once."""

    def __init__(
        self,
        store: MatterStore,
        retriever: Retriever,
        extractor: AnswerExtractor,
        parties: PartyNames,
        settings: ExtractionConfig | None = None,
        bands: Bands = USUAL_BANDS,
    ) -> None:
        self._bands = bands
        self._store = store
        self._parties = parties
        self._retriever = retriever
        self._extractor = extractor
        self._settings = settings or ExtractionConfig()
        self._running = asyncio.Semaphore(self._settings.max_running)

    async def extract(self, tenant: str, query: ExtractQuery) -> ExtractOutcome:
        """Answers a question. Raises InvalidRequest, MatterNotFound, NoReadyDocuments, what the extractor raises, and
        TooBusy when there is no answer within the time limit."""
        matter_id = uuid_of("matter_id", query.matter_id)
        document_ids = uuids_of("document_ids", query.document_ids)
        if not query.question.strip():
            raise InvalidRequest.of("question", "must not be blank")
        return await with_timeout(
            self._settings.time_limit_s,
            self._extract_when_free(tenant, matter_id, query, document_ids),
            late=lambda: TooBusy("Finding the answer took too long; try again shortly", retry_after_s=1.0),
        )

    async def _extract_when_free(
        self, tenant: str, matter_id: str, query: ExtractQuery, document_ids: Sequence[str]
    ) -> ExtractOutcome:
        """Waits until fewer extractions run than are allowed at the same time."""
        async with self._running:
            targets = await find_targets(self._store, tenant, matter_id, document_ids)
            return await self._extract(tenant, matter_id, query, targets)

    async def _extract(
        self, tenant: str, matter_id: str, query: ExtractQuery, targets: Sequence[TargetDocument]
    ) -> ExtractOutcome:
        hits, rerank_failed = await self._passages(tenant, matter_id, query, targets)
        passages = [ModelPassage(hit.stored.chunk.text, hit.stored.chunk.section_path) for hit in hits]
        found = await self._found(tenant, query.question, hits, passages)
        answers = _answers(hits, found, each_document=query.each_document)
        least = self._settings.min_confidence if query.min_confidence is None else query.min_confidence
        is_found = bool(answers) and answers[0].confidence >= least
        shown = await self._with_values(tenant, answers[: is_found + query.max_alternatives])
        answer = shown[0] if is_found else None
        alternatives = shown[is_found:]
        readable = [target for target in targets if not target.error]
        likely = {one.citations[0].stored.document_id for one in answers if round(one.confidence, 3) >= LIKELY}
        asks_all = query.each_document and not query.document_ids
        return ExtractOutcome(
            query=query,
            model=self._extractor.model_id,
            answer=answer,
            alternatives=tuple(alternatives),
            failed=tuple(target for target in targets if target.error),
            rerank_failed=rerank_failed,
            outlines=await self._outlines(tenant, [answer, *alternatives] if answer else alternatives),
            documents=len(readable),
            without=tuple(one for one in readable if one.document_id not in likely) if asks_all else (),
            bands=self._bands,
        )

    async def _found(
        self, tenant: str, question: str, hits: Sequence[SearchHit], passages: Sequence[ModelPassage]
    ) -> Sequence[Sequence[AnswerSpan]]:
        """Asks the extractor. The passages of a document that calls a party otherwise than the question are asked in
        the document's words."""
        ids = [hit.stored.document_id for hit in hits]
        definitions = await self._parties.definitions(tenant, sorted(set(ids)))
        places: dict[str, list[int]] = {}
        for place, document_id in enumerate(ids):
            places.setdefault(definitions[document_id].in_own_words(question), []).append(place)
        found: dict[int, Sequence[AnswerSpan]] = {}
        for asked, some in places.items():
            answers = await self._extractor.extract(asked, [passages[place] for place in some])
            found |= zip(some, answers, strict=True)
        return [found[place] for place in range(len(ids))]

    async def _with_values(self, tenant: str, answers: Sequence[CitedAnswer]) -> list[CitedAnswer]:
        """Reads the values of answers. What a document calls its parties is read from its opening."""
        ids = {one.stored.document_id for answer in answers for one in answer.citations}
        parties = await self._parties.definitions(tenant, sorted(ids))
        return await asyncio.to_thread(_read_values, answers, parties)

    async def _outlines(self, tenant: str, answers: Iterable[CitedAnswer]) -> Mapping[str, Outline]:
        found = {citation.stored.document_id for answer in answers for citation in answer.citations}
        return await self._store.outlines(tenant, sorted(found))

    async def _passages(
        self, tenant: str, matter_id: str, query: ExtractQuery, targets: Sequence[TargetDocument]
    ) -> tuple[Sequence[SearchHit], bool]:
        """Returns the nearest passages, however far they are: the extractor decides whether they answer the question.
        Where each document is asked, each has its share of them, of three at least. Also tells whether they were chosen
        without the reranker, because it failed."""
        readable = [target.document_id for target in targets if not target.error]
        if not readable:
            return (), False
        places: Sequence[Sequence[str]] = [readable if query.document_ids else ()]
        share = self._settings.passages
        if query.each_document:
            places = [[one] for one in readable]
            share = max(_LEAST_OF_DOCUMENT, share * _EACH_TIMES // len(places))
        hits: list[SearchHit] = []
        failed = False
        for place in places:
            search = SearchQuery(
                matter_id=matter_id,
                query=query.question,
                max_results=min(share, self._settings.passages),
                threshold=0,
                document_ids=place,
            )
            outcome = await self._retriever.search(tenant, search)
            hits += outcome.hits
            failed = failed or outcome.rerank_failed
        return hits, failed


def _answers(
    hits: Sequence[SearchHit], found: Sequence[Sequence[AnswerSpan]], *, each_document: bool
) -> list[CitedAnswer]:
    """Returns the answers, best first; of equally sure ones, that of the more relevant passage. Answers in the same
    words are one answer; where each document is asked, the best of each are one each."""
    citations = [_citation(hit, span) for hit, spans in zip(hits, found, strict=True) for span in spans]
    citations.sort(key=lambda one: (-one.confidence, -one.relevance))
    same: dict[str, list[AnswerCitation]] = {}
    for citation in citations:
        same.setdefault(citation.stored.document_id if each_document else _key(citation.text), []).append(citation)
    if not each_document:
        return [CitedAnswer(tuple(group)) for group in same.values()]
    most = max(1, _BEST_OF_DOCUMENTS // max(1, len(same)))
    return [CitedAnswer((one,)) for rank in range(most) for group in same.values() for one in group[rank : rank + 1]]


def _read_values(answers: Sequence[CitedAnswer], parties: Mapping[str, Definitions]) -> list[CitedAnswer]:
    return [
        CitedAnswer(
            tuple(
                replace(one, values=tuple(values_in_answer(one.text, parties[one.stored.document_id])))
                for one in answer.citations
            )
        )
        for answer in answers
    ]


def _citation(hit: SearchHit, span: AnswerSpan) -> AnswerCitation:
    chunk = hit.stored.chunk
    if not (0 <= span.start < span.end <= len(chunk.text) and 0 <= span.score <= 1):
        raise ValueError("an extractor gives spans within their passage, with scores within 0 and 1")
    relevance = hit.similarity if hit.rerank_score is None else hit.rerank_score
    return AnswerCitation(hit.stored, relevance, chunk.start + span.start, chunk.start + span.end, span.score)


def _key(answer: str) -> str:
    """Returns what answers are compared by: the text without regard to case, white space and marks at its ends."""
    return " ".join(answer.casefold().split()).strip(_OUTER_MARKS)

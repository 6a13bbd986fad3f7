"""The tool `isaacus_extract`: the answer to a question, as a span of the documents' text."""

from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from pydantic import Field

from proviso_service.analysis.answer_values import AnswerValue
from proviso_service.analysis.extraction import (
    LIKELY,
    NOT_FOUND,
    AnswerCitation,
    CitedAnswer,
    Extraction,
    ExtractOutcome,
    ExtractQuery,
)
from proviso_service.reading import Span
from proviso_service.tool_results import EXTRACT_TOOL
from proviso_service.tools.base import (
    LookedIn,
    Number,
    Rendered,
    SourcePassage,
    ToolArgs,
    ToolScope,
    matter_of,
    passage_of,
)
from proviso_service.tools.rendering import (
    MAX_ERRORS_SHOWN,
    check_any_read,
    error_of,
    excerpt_of,
    fair_share,
    part_around,
    stems_of,
    to_json,
)
from proviso_service.tools.search import MAX_DOCUMENT_IDS

MAX_QUESTION_SHOWN = 300
MAX_ANSWER_SHOWN = 600
MAX_OTHER_SHOWN = 100
MIN_SENTENCE_CHARS = 80
MAX_VALUES_SHOWN = 4
_MAX_OTHERS = 5
_UNLIKELY = 0.2
_MIN_PLACE_CHARS = 480
_AROUND_CHARS = 300
_AROUND_CHARS_OF_FEW, _FEW_DOCUMENTS = 600, 4
_MANY_DOCUMENTS = 20
"""Of more documents the answers come without headings and values, so that more have room."""

_ROOM_OF_NAMES = 4
_SCORE_DIGITS = 3

DESCRIPTION = """\
Answer a question with the exact words of the matter's documents: one figure, date, name or short statement, with a \
confidence from 0 to 1 (above 0.7 is high, below 0.5 low), the passage that holds it, and its dates, amounts, periods \
and parties as `values` that can be compared. Where no document answers it, it says so.
Use it when users ask for one fact: "What is the notice period?", "Which law governs the lease?"
Do not use it to find clauses by criteria ("Find termination clauses", isaacus_iql), for "What types of clauses are \
here?" (isaacus_classify), "Search for references to payment" (isaacus_search) or "Show me the full document" \
(get_document_text).
When [CONTEXT] includes document_id, use document_ids=[document_id]; when it has matter_id only, omit document_ids. \
Quote from `text` and cite by its ref; say that you are not sure where the confidence is low."""


class IsaacusExtractArgs(ToolArgs):
    question: str = Field(min_length=1, max_length=2_000, description="The question, in natural language.")
    document_ids: list[str] | None = Field(
        default=None, max_length=MAX_DOCUMENT_IDS, description="Documents to read; all of the matter when left out."
    )
    each_document: bool = Field(
        False,
        description="Ask each document: the answer and the alternatives are then the best one of each. Use it for "
        "comparisons, and for which documents, how many or none.",
    )
    skip: int = Field(
        0,
        ge=0,
        le=MAX_DOCUMENT_IDS,
        description="Where each document is asked: as many of the first documents are not shown again.",
    )

    @property
    def room(self) -> int:
        """Whole sentences, and those of several documents, make other calls needless."""
        return 4 if self.each_document and len(self.document_ids or ()) != 1 else 3


@dataclass(frozen=True, slots=True)
class ExtractResult:
    """The answer to the question, where there is one, and other answers that were found."""

    outcome: ExtractOutcome

    @property
    def _asks_each(self) -> bool:
        return self.outcome.query.each_document

    @property
    def _least_chars(self) -> int:
        """Of each passage so much is shown before another gets room: little where each document has its answer."""
        return MIN_SENTENCE_CHARS if self._asks_each else _MIN_PLACE_CHARS

    @property
    def found(self) -> bool:
        """Whether anything was found. Answers of low confidence count, since their passages can be read."""
        return bool(self.outcome.answer or self.outcome.alternatives)

    @property
    def partial(self) -> bool:
        return bool(self.outcome.failed) or self.outcome.rerank_failed

    def looked_in(self) -> LookedIn:
        outcome = self.outcome
        answers = (outcome.answer, *outcome.alternatives)
        return LookedIn(
            asked=frozenset(outcome.query.document_ids),
            found=frozenset(one.stored.document_id for answer in answers if answer for one in answer.citations),
            failed=frozenset(target.document_id for target in outcome.failed),
        )

    def data(self) -> dict[str, Any]:
        answer, outcome = self.outcome.answer, self.outcome
        return {
            "documents_asked": outcome.documents,
            "documents_without": [
                {"document_id": one.document_id, "filename": one.filename} for one in outcome.without
            ],
            "answer": answer.text if answer else NOT_FOUND,
            "confidence": answer.confidence if answer else 0,
            "citations": [self._citation(one) for one in answer.citations] if answer else [],
            "question": outcome.query.question,
            "found": answer is not None,
            "alternatives": [
                {"answer": other.text, "confidence": other.confidence, "citation": self._citation(other.citations[0])}
                for other in outcome.alternatives
            ],
            "model": outcome.model,
            "document_errors": [error_of(target).as_json() for target in outcome.failed],
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The answer and its best passage, then, while there is room, the other answers and the other places of all,
        the surest first. Each passage is cut to the part around its answer."""
        answer, failed = None if self.outcome.query.skip else self.outcome.answer, self.outcome.failed
        frame: dict[str, Any] = {
            "question": self.outcome.query.question[:MAX_QUESTION_SHOWN],
            "found": answer is not None,
            "answer": answer.text[:MAX_ANSWER_SHOWN] if answer else NOT_FOUND,
            "confidence": round(answer.confidence, _SCORE_DIGITS) if answer else 0,
            "citations": [],
            "alternatives": [],
            "document_errors": [error_of(target).as_json() for target in failed[:MAX_ERRORS_SHOWN]],
            "truncated": False,
        }
        if self._asks_each:
            frame |= {"documents_asked": self.outcome.documents, "not_shown": 0, "not_shown_confidence": 0.001}
            frame |= self._without(max_chars // _ROOM_OF_NAMES)
        is_whole = self._add_passages(frame, number, max_chars - len(to_json(frame)))
        if "not_shown" in frame:
            shown = {one["document_id"] for one in (*frame["citations"], *frame["alternatives"])}
            left = [one for _, _, one in self._by_weight() if one.stored.document_id not in shown]
            frame |= {
                "not_shown": len({one.stored.document_id for one in left}),
                "not_shown_confidence": round(max((one.confidence for one in left), default=0), _SCORE_DIGITS),
            }
        is_whole = is_whole and len(failed) <= MAX_ERRORS_SHOWN
        return Rendered(to_json(frame | {"truncated": not is_whole}), not is_whole)

    def _without(self, room: int) -> dict[str, Any]:
        """How many documents have no likely answer, and their names, as many as have room, unless they were shown."""
        names = [one.filename for one in self.outcome.without]
        sizes = accumulate(len(to_json(name)) + 1 for name in names)
        room = 0 if self.outcome.query.skip else room
        shown = [name for name, size in zip(names, sizes, strict=True) if size <= room]
        return {"documents_without": shown, "documents_without_count": len(names)} if names else {}

    def _add_passages(self, frame: dict[str, Any], number: Number, room: int) -> bool:
        """Adds passages to the frame while there is room. Returns whether all were added as a whole."""
        waiting = self._worth_showing()
        stems = stems_of(self.outcome.query.question)
        is_whole = True
        documents, most = len(waiting), room
        if self._asks_each:  # the best answers of all have the room that they need before the second best
            documents = len({one.stored.document_id for _, _, one in waiting})
            most = _AROUND_CHARS_OF_FEW if 1 < documents <= _FEW_DOCUMENTS else _AROUND_CHARS
        for position, (place, answer, citation) in enumerate(waiting):
            stored = citation.stored
            passage = passage_of(stored.document_id, stored.filename, stored.chunk, self.outcome.outlines)
            empty = self._shown(1_000, answer, citation, passage.empty(), is_brief=documents > _MANY_DOCUMENTS)
            share = fair_share(room, documents - position % documents, empty, self._least_chars)
            shown = min(share, max(most, citation.end - citation.start))
            part = _excerpt_around(passage, citation, stems, shown, self._least_chars)
            if part is None:
                return False
            is_whole = is_whole and part.text == passage.text
            is_brief = documents > _MANY_DOCUMENTS
            frame[place].append(self._shown(number(part), answer, citation, part, is_brief=is_brief))
            room -= len(to_json(frame[place][-1])) + 1
        return is_whole

    def _worth_showing(self) -> list[tuple[str, CitedAnswer | None, AnswerCitation]]:
        """The passages to show, in order: where each document of a matter was asked, or one for all its places, without
        those that say hardly anything beside a likely answer."""
        found, outcome = self._by_weight(), self.outcome
        are_named = len(outcome.query.document_ids) > 1
        best = max((one.confidence for one in (outcome.answer, *outcome.alternatives) if one), default=0.0)
        if are_named or not self._asks_each or best < LIKELY:
            return found
        return [one for one in found if one[2].confidence >= _UNLIKELY]

    def _shown(
        self, ref: int, answer: CitedAnswer | None, citation: AnswerCitation, part: SourcePassage, *, is_brief: bool
    ) -> dict[str, Any]:
        of_many = self._asks_each and len(self.outcome.query.document_ids) != 1
        # The text holds the whole of the answer, and where each document was asked hardly more than a long one.
        is_told = answer is not None and not (self._asks_each and len(answer.text) > MAX_OTHER_SHOWN)
        said: dict[str, Any] = {"answer": answer.text[:MAX_OTHER_SHOWN]} if answer and is_told else {}
        said |= {"confidence": round(citation.confidence, _SCORE_DIGITS)}
        values = [] if is_brief else [_value(one) for one in citation.values[:MAX_VALUES_SHOWN]]
        return {
            "ref": ref,
            **said,
            **({"values": values} if values else {}),
            "document_id": part.document_id,
            "filename": part.filename,
            **({} if is_brief else {"heading": part.heading}),
            **({"page": part.page} if part.page else {}),
            **({} if of_many else {"start": part.start}),
            "text": part.text,
        }

    def _citation(self, citation: AnswerCitation) -> dict[str, Any]:
        stored, chunk = citation.stored, self.outcome.passage(citation)
        return {
            "document_id": stored.document_id,
            "chunk_id": stored.chunk_id,
            "filename": stored.filename,
            "text_excerpt": chunk.text,
            "relevance_score": round(citation.relevance, _SCORE_DIGITS),
            "answer_start": citation.start,
            "answer_end": citation.end,
            "values": [
                asdict(one) | {"start": citation.start + one.start, "end": citation.start + one.end}
                for one in citation.values
            ],
            "page": chunk.page,
            "heading": chunk.heading,
            "section_path": list(chunk.section_path),
            "permalink": f"cite:{stored.document_id}@{citation.start}-{citation.end}",
        }

    def _by_weight(self) -> list[tuple[str, CitedAnswer | None, AnswerCitation]]:
        """The passages in order of importance, each with the list that it is shown in, and its answer where that is
        another one. Where the same words, such as "thirty (30) days", stand in several passages, each has its place
        by its own confidence: what is said around them may differ."""
        answer, others = self.outcome.answer, self.outcome.alternatives
        found: list[tuple[str, CitedAnswer | None, AnswerCitation]] = []
        if answer:
            found += [("citations", None, one) for one in answer.citations]
        found += [("alternatives", other, one) for other in others for one in other.citations]
        if not self._asks_each:
            found.sort(key=lambda one: -one[2].confidence)
        passed = list(dict.fromkeys(one.stored.document_id for _, _, one in found))[: self.outcome.query.skip]
        found = [one for one in found if one[2].stored.document_id not in passed]
        return found[: self.outcome.query.max_alternatives + 1]


class IsaacusExtract:
    """Answers questions out of the matter's documents."""

    name = EXTRACT_TOOL
    description = DESCRIPTION
    args = IsaacusExtractArgs
    needs_matter = True
    is_retrieval = True

    def __init__(self, extraction: Extraction) -> None:
        self._extraction = extraction

    async def run(self, scope: ToolScope, args: IsaacusExtractArgs) -> ExtractResult:
        most = MAX_DOCUMENT_IDS if args.each_document else _MAX_OTHERS
        query = ExtractQuery(
            matter_of(scope),
            args.question,
            tuple(args.document_ids or ()),
            max_alternatives=most,
            each_document=args.each_document,
            skip=args.skip if args.each_document else 0,
        )
        outcome = await self._extraction.extract(scope.caller.tenant, query)
        if len(outcome.failed) >= len(set(query.document_ids)) > 0:
            check_any_read(query.document_ids, outcome.failed)
        return ExtractResult(outcome)


def _excerpt_around(
    passage: SourcePassage,
    citation: AnswerCitation,
    stems: frozenset[str],
    max_chars: int,
    min_chars: int,
) -> SourcePassage | None:
    """The answer with what stands around it."""
    answer = Span(citation.start - passage.start, citation.end - passage.start)
    return excerpt_of(passage, lambda limit: part_around(passage.text, answer, stems, limit), max_chars, min_chars)


def _value(value: AnswerValue) -> dict[str, str]:
    unit = {"unit": value.unit} if value.unit else {}
    return {"kind": value.kind, "value": value.value, **unit}

"""Answers out of documents: their very words, where they stand, and what could not be read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from proviso_service.analysis.answer_values import ValueKind
from proviso_service.analysis.extraction import (
    CitedAnswer,
    Extraction,
    ExtractionConfig,
    ExtractOutcome,
    ExtractQuery,
)
from proviso_service.analysis.party_names import PartyNames
from proviso_service.backends.sql.scores import SqlScoreStore
from proviso_service.errors import InvalidRequest, MatterNotFound, ModelApiUnavailable, NoReadyDocuments, TooBusy
from proviso_service.matters.model import Matter, SearchOutcome, SearchQuery
from proviso_service.matters.retrieval import Retriever
from proviso_service.models import AnswerExtractor, AnswerSpan, ModelPassage
from tests.support.matters_world import TENANT, MattersWorld, matters_world
from tests.support.word_embedder import WordEmbedder
from tests.support.word_extractor import WordExtractor

LEASE = (
    "# Lease\n\n## 1. Rent\n\nThe rent is due on the first day.\n\n## 2. Notice\n\nThe notice period is sixty days.\n"
)
NDA = "# NDA\n\nThe Notice  period is\nsixty days.\n"
QUESTION = "What is the notice period?"
ANSWER = "The notice period is sixty days."


@dataclass
class ExtractionWorld:
    world: MattersWorld
    matter: Matter
    extractor: WordExtractor = field(default_factory=WordExtractor)

    @property
    def retriever(self) -> Retriever:
        return Retriever(self.world.store, self.world.indexes, self.world.embedder)

    @property
    def parties(self) -> PartyNames:
        return PartyNames(SqlScoreStore(self.world.database))

    def extraction(self, extractor: AnswerExtractor | None = None, **settings: Any) -> Extraction:
        chosen = ExtractionConfig(**settings)
        return Extraction(self.world.store, self.retriever, extractor or self.extractor, self.parties, chosen)

    async def ask(self, question: str = QUESTION, **options: Any) -> ExtractOutcome:
        return await self.extraction().extract(TENANT, ExtractQuery(self.matter.matter_id, question, **options))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ExtractionWorld]:
    async with matters_world(tmp_path, WordEmbedder()) as matters, matters.running():
        yield ExtractionWorld(matters, await matters.matter())


async def assert_stands_there(world: ExtractionWorld, answer: CitedAnswer) -> None:
    for citation in answer.citations:
        whole = await world.world.matters.document_text(
            TENANT, world.matter.matter_id, document_id=citation.stored.document_id
        )
        assert whole.text[citation.start : citation.end] == citation.text


async def test_the_answer_is_the_words_of_the_document(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    outcome = await world.ask()
    assert outcome.answer is not None
    assert (outcome.answer.text, outcome.answer.confidence) == (ANSWER, 1.0)
    assert (outcome.model, outcome.failed) == ("word-extractor", ())
    [citation] = outcome.answer.citations
    assert (citation.stored.filename, citation.stored.chunk.heading) == ("lease.md", "2. Notice")
    assert LEASE[citation.start : citation.end] == ANSWER
    assert 0 < citation.relevance <= 1
    [value] = citation.values
    assert (value.kind, value.value) == (ValueKind.PERIOD, "P60D")
    assert ANSWER[value.start : value.end] == "sixty days"
    await assert_stands_there(world, outcome.answer)


async def test_equal_answers_are_one_with_several_citations(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE, "nda.md": NDA, "copy.md": f"{LEASE}\nSigned."})
    answer = (await world.ask()).answer
    assert answer is not None
    assert {citation.stored.filename for citation in answer.citations} == {"lease.md", "nda.md", "copy.md"}
    relevances = [citation.relevance for citation in answer.citations]
    assert relevances == sorted(relevances, reverse=True)
    await assert_stands_there(world, answer)


async def test_other_answers_are_alternatives_best_first(world: ExtractionWorld) -> None:
    texts = {"a.md": "The notice is short.", "b.md": "The period is long.", "c.md": "A period of rest.", "d.md": NDA}
    await world.world.ingest(world.matter, texts)
    outcome = await world.ask(max_alternatives=2)
    assert outcome.answer is not None
    assert " ".join(outcome.answer.text.split()) == "The Notice period is sixty days."
    assert [answer.confidence for answer in outcome.alternatives] == [0.5, 0.5]
    assert (await world.ask(max_alternatives=0)).alternatives == ()


async def test_where_each_document_is_asked_each_has_its_answer(world: ExtractionWorld) -> None:
    many = {f"lease-{number}.md": LEASE.replace("sixty", f"{number}0") for number in range(1, 8)}
    await world.world.ingest(world.matter, many)
    outcome = await world.ask(each_document=True, max_alternatives=100)
    assert outcome.answer is not None
    answers = [outcome.answer, *outcome.alternatives]
    best = {answer.citations[0].stored.filename: answer.text for answer in reversed(answers)}
    assert best == {f"lease-{number}.md": f"The notice period is {number}0 days." for number in range(1, 8)}
    assert len(answers) == len(many)


class Noting(WordExtractor):
    """Notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        self.asked.append(question)
        return await super().extract(question, passages)


async def test_each_document_is_asked_by_what_it_calls_a_party(world: ExtractionWorld) -> None:
    defined = 'This Lease is between Acme Robots Inc. (the "Landlord") and Orchard Ltd. (the "Tenant").\n\n'
    texts = {"lease.md": f"{defined}The Landlord pays the taxes.", "other.md": "Acme pays no taxes."}
    await world.world.ingest(world.matter, texts)
    extractor = Noting()
    query = ExtractQuery(world.matter.matter_id, "What taxes does Acme pay?", max_alternatives=5)
    outcome = await world.extraction(extractor).extract(TENANT, query)
    assert sorted(extractor.asked) == ["What taxes does Acme pay?", "What taxes does Landlord pay?"]
    assert outcome.answer is not None
    found = [outcome.answer, *outcome.alternatives]
    assert "The Landlord pays the taxes." in {answer.text for answer in found}
    for answer in found:
        await assert_stands_there(world, answer)


async def test_what_is_not_sure_enough_is_an_alternative_only(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"a.md": "The notice is short."})
    outcome = await world.ask(min_confidence=0.75)
    assert outcome.answer is None
    assert [(answer.text, answer.confidence) for answer in outcome.alternatives] == [("The notice is short.", 0.5)]
    assert (await world.ask(min_confidence=0.5)).answer is not None
    query = ExtractQuery(world.matter.matter_id, QUESTION)
    assert (await world.extraction(min_confidence=0.75).extract(TENANT, query)).answer is None


async def test_where_nothing_answers_nothing_is_found(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    outcome = await world.ask("Who insures the boat?")
    assert (outcome.answer, outcome.alternatives) == (None, ())


async def test_a_passage_far_from_the_question_is_looked_at_too(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {f"{n}.md": f"Matter {n} of something else." for n in range(60)})
    await world.ask("quite different words")
    [(_, passages)] = world.extractor.calls
    assert len(passages) == 40


async def test_only_the_documents_asked_for_are_read(world: ExtractionWorld) -> None:
    documents = await world.world.ingest(world.matter, {"lease.md": LEASE, "nda.md": NDA})
    outcome = await world.ask(document_ids=[documents["nda.md"].document_id])
    assert outcome.answer is not None
    assert [citation.stored.filename for citation in outcome.answer.citations] == ["nda.md"]


async def test_documents_that_are_not_there_or_not_ready_are_named(world: ExtractionWorld) -> None:
    documents = await world.world.ingest(world.matter, {"lease.md": LEASE})
    with world.world.embedder.shut_meanwhile():
        slow = (await world.world.upload(world.matter, NDA, "slow.md")).document
        outcome = await world.ask()
        assert outcome.answer is not None
        [failed] = outcome.failed
        assert (failed.document_id, failed.filename) == (slow.document_id, "slow.md")
        assert failed.error.startswith("slow.md is still being processed")
        absent = str(uuid4())
        asked = [documents["lease.md"].document_id, absent, slow.document_id]
        outcome = await world.ask(document_ids=asked)
        assert outcome.answer is not None
        assert [one.document_id for one in outcome.failed] == [absent, slow.document_id]
        assert outcome.failed[0].error == "There is no such document in this matter"
        world.extractor.calls.clear()
        outcome = await world.ask(document_ids=[absent, slow.document_id])
        assert (outcome.answer, outcome.alternatives, len(outcome.failed)) == (None, (), 2)
        assert world.extractor.calls == []


async def test_a_matter_without_ready_documents_is_refused(world: ExtractionWorld) -> None:
    with pytest.raises(NoReadyDocuments, match="No ready documents found in this matter"):
        await world.ask()
    with world.world.embedder.shut_meanwhile():
        await world.world.upload(world.matter, NDA, "slow.md")
        with pytest.raises(NoReadyDocuments):
            await world.ask()


async def test_what_cannot_be_asked_is_refused(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    with pytest.raises(InvalidRequest, match="question: must not be blank"):
        await world.ask(" \n")
    with pytest.raises(InvalidRequest, match="document_ids"):
        await world.ask(document_ids=["lease.md"])
    with pytest.raises(InvalidRequest, match="matter_id"):
        await world.extraction().extract(TENANT, ExtractQuery("42", QUESTION))
    with pytest.raises(MatterNotFound):
        await world.extraction().extract("other", ExtractQuery(world.matter.matter_id, QUESTION))


@pytest.mark.parametrize("error", [ModelApiUnavailable("Isaacus", "it did not answer"), RuntimeError("broken")])
async def test_a_failure_of_the_extractor_is_the_calls(world: ExtractionWorld, error: Exception) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    world.extractor.failure = error
    with pytest.raises(type(error), match=str(error)):
        await world.ask()


async def test_a_bounded_number_is_under_way(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    extraction = world.extraction(max_running=2)
    world.extractor.shut()
    query = ExtractQuery(world.matter.matter_id, QUESTION)
    asking = [asyncio.create_task(extraction.extract(TENANT, query)) for _ in range(5)]
    await world.extractor.until_running(2)
    world.extractor.open()
    assert all(outcome.answer for outcome in await asyncio.gather(*asking))
    assert world.extractor.most_running == 2


async def test_an_answer_that_takes_too_long_is_given_up(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    world.extractor.shut()
    extraction = world.extraction(time_limit_s=0.3, max_running=1)
    query = ExtractQuery(world.matter.matter_id, QUESTION)
    with pytest.raises(TooBusy, match="took too long"):
        await extraction.extract(TENANT, query)
    world.extractor.open()
    assert world.extractor.running == 0
    patient = replace(query, question="What is the rent?")
    assert (await world.extraction().extract(TENANT, patient)).answer


@dataclass
class FixedExtractor:
    """Gives every passage the same spans."""

    spans: Sequence[AnswerSpan]
    model_id = "fixed"

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        return [self.spans for _ in passages]


@pytest.mark.parametrize(
    "span", [AnswerSpan(0, 9_999, 0.5), AnswerSpan(-1, 3, 0.5), AnswerSpan(3, 3, 0.5), AnswerSpan(0, 3, float("nan"))]
)
async def test_spans_that_cannot_be_are_a_fault_and_no_answer(world: ExtractionWorld, span: AnswerSpan) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    with pytest.raises(ValueError, match="spans within their passage"):
        await world.extraction(FixedExtractor([span])).extract(TENANT, ExtractQuery(world.matter.matter_id, QUESTION))


class RerankedRetriever(Retriever):
    """A search whose results a reranker has scored; it has failed for other questions than QUESTION."""

    async def search(self, tenant: str, query: SearchQuery) -> SearchOutcome:
        found = await super().search(tenant, query)
        hits = tuple(replace(hit, rerank_score=0.875) for hit in found.hits)
        return replace(found, hits=hits, rerank_failed=query.query != QUESTION)


async def test_a_rerankers_score_is_the_relevance(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    inner = world.world
    retriever = RerankedRetriever(inner.store, inner.indexes, inner.embedder)
    extraction = Extraction(inner.store, retriever, world.extractor, world.parties)
    answer = (await extraction.extract(TENANT, ExtractQuery(world.matter.matter_id, QUESTION))).answer
    assert answer is not None
    assert [citation.relevance for citation in answer.citations] == [0.875]


async def test_an_answer_says_that_the_reranker_failed(world: ExtractionWorld) -> None:
    await world.world.ingest(world.matter, {"lease.md": LEASE})
    inner = world.world
    retriever = RerankedRetriever(inner.store, inner.indexes, inner.embedder)
    extraction = Extraction(inner.store, retriever, world.extractor, world.parties)
    failed = [
        (await extraction.extract(TENANT, ExtractQuery(world.matter.matter_id, question))).rerank_failed
        for question in (QUESTION, QUESTION.upper())
    ]
    assert failed == [False, True]

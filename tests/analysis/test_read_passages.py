"""A classifier that reads passages once: they are read when a document comes in, or with the first query."""

from collections.abc import AsyncIterator, Sequence

import pytest

from proviso_service.analysis.model import IqlOutcome, IqlQuery
from proviso_service.analysis.scoring import READ_PASSAGES_AT_ONCE
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.embedded import EmbeddedClassifier
from proviso_service.errors import StorageFailed
from proviso_service.matters.model import Document
from proviso_service.models import ModelPassage, PassageWords, ReadPassages, Scores
from tests.support.analysis_world import TENANT, AnalysisWorld
from tests.support.counting import calls_of_steps
from tests.support.stored import MODEL, a_document, a_text, committed, vectors_of
from tests.support.word_embedder import WordEmbedder

RENT = "Tenant shall pay the rent of $900 on the first day of every month."
LAW = "This lease is governed by the laws of Oregon."
QUERY = "{This is a clause about rent.} OR {This is a governing law clause.}"


MOST_CALLS = 20_000


class Counting(EmbeddedClassifier):
    """The embedded classifier with a record of what it is given; it is about words alone, because the vectors of the
    documents here are of no model."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.read_before: list[int] = []
        self.texts: list[str] = []
        self.scored: list[tuple[Sequence[str], int]] = []

    def read(self, passages: Sequence[ModelPassage]) -> PassageWords:
        self.read_before.append(len(passages))
        return super().read(passages)

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        self.texts += [passage.text for passage in passages]
        return await super().score(statement, passages)

    async def score_read(self, statements: Sequence[str], parts: Sequence[ReadPassages]) -> Sequence[Scores]:
        self.scored.append((statements, sum(len(part.words) for part in parts)))
        return await super().score_read(statements, parts)


@pytest.fixture
async def classifier() -> AsyncIterator[Counting]:
    classifier = Counting.load(WordEmbedder())
    yield classifier
    await classifier.close()


@pytest.fixture
def analysis(world: AnalysisWorld, classifier: Counting) -> IqlAnalysis:
    return world.restarted(classifier)


async def ask(world: AnalysisWorld, analysis: IqlAnalysis, query: str = QUERY) -> IqlOutcome:
    outcome = await analysis.execute(TENANT, IqlQuery(world.matter.matter_id, query, min_score=0.1))
    assert not [result.error for result in outcome.results if result.error]
    return outcome


async def add_read(world: AnalysisWorld, classifier: Counting, *passages: str, words_id: str = "") -> Document:
    """A document whose passages were read when it came in."""
    document, _ = await world.store.add_document(a_document(world.matter))
    parsed, chunks = a_text(*passages)
    words = EmbeddedClassifier.read(classifier, [ModelPassage(chunk.text) for chunk in chunks])
    kept = (words_id or classifier.words_id, words)
    return await world.store.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks), *kept)


async def test_documents_that_were_read_before_are_judged_together_and_without_their_texts(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        await add_read(world, classifier, RENT, LAW)

    async def never(*_: object) -> None:
        raise AssertionError("texts were read")

    monkeypatch.setattr(world.scores, "passages", never)
    outcome = await ask(world, analysis)
    assert outcome.summary.total_matches == 8
    assert sorted(count for _, count in classifier.scored) == [2, 6]  # the first batch is one document
    assert all(len(statements) == 2 for statements, _ in classifier.scored)
    assert (classifier.read_before, classifier.texts) == ([], [])


async def test_an_older_document_is_read_once(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    await committed(world.store, (await world.store.add_document(a_document(world.matter)))[0], RENT, LAW)
    by_texts = [await classifier.score(one, [ModelPassage(RENT)]) for one in ("This is a clause about rent.",)]
    classifier.texts.clear()
    outcome = await ask(world, analysis, "{This is a clause about rent.}")
    assert outcome.results[0].score == by_texts[0][0]
    await ask(world, analysis)
    await ask(world, world.restarted(classifier), "{This is a notice clause.}")
    assert (classifier.read_before, classifier.texts) == ([2], [])


async def test_what_an_earlier_version_has_read_is_read_again(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    await add_read(world, classifier, RENT, words_id="an earlier version")
    await ask(world, analysis)
    await ask(world, analysis, "{This is a notice clause.}")
    assert classifier.read_before == [1]


async def test_statements_about_form_are_judged_by_texts_beside_others(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    await add_read(world, classifier, RENT, LAW)
    outcome = await ask(world, analysis, '{IS clause obligating "Tenant"} AND {This is a clause about rent.}')
    assert [match.chunk.text for match in outcome.results[0].matches] == [RENT]
    assert classifier.texts == [RENT, LAW]
    assert [count for _, count in classifier.scored] == [2]


async def test_without_vectors_that_fit_passages_are_judged_by_their_texts(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    document, _ = await world.store.add_document(a_document(world.matter))
    parsed, chunks = a_text(RENT, LAW)
    await world.store.commit_ready(document, parsed, chunks, "another-model", vectors_of(chunks))
    await add_read(world, classifier, LAW)
    await ask(world, analysis, "{This is a clause about rent.}")
    await ask(world, analysis, "{This is a notice clause.}")
    assert classifier.texts == [RENT, LAW] * 2
    assert classifier.read_before == [2]


async def test_only_documents_that_a_statement_was_not_scored_on_are_judged(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    await add_read(world, classifier, RENT)
    await ask(world, analysis, "{This is a clause about rent.}")
    await add_read(world, classifier, LAW, RENT)
    classifier.scored.clear()
    outcome = await ask(world, analysis)
    assert [len(result.matches) for result in outcome.results] == [1, 2]
    judged = [(statement, count) for statements, count in classifier.scored for statement in statements]
    law, rent = "This is a governing law clause.", "This is a clause about rent."
    assert sorted(judged) == [(rent, 2), (law, 1), (law, 2)]


async def test_a_long_document_is_judged_part_by_part(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis
) -> None:
    passages = [f"Notice {number}" for number in range(READ_PASSAGES_AT_ONCE)]
    await add_read(world, classifier, *passages, RENT)
    [result] = (await ask(world, analysis, "{This is a clause about rent.}")).results
    assert [match.chunk.text for match in result.matches] == [RENT]
    assert [count for _, count in classifier.scored] == [READ_PASSAGES_AT_ONCE, 1]


async def test_a_full_disk_keeps_no_words_and_no_answer_from_being_given(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add(RENT)

    async def full(*_: object) -> None:
        raise StorageFailed("The disk is full")

    monkeypatch.setattr(world.scores, "keep_words", full)
    assert (await ask(world, analysis)).summary.total_matches == 1


async def test_a_query_about_many_documents_takes_small_steps_of_the_event_loop(
    world: AnalysisWorld, classifier: Counting, analysis: IqlAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 ms are some 60,000 calls of functions. They are counted, because other work on the machine changes no
    count."""
    for _ in range(300):
        await add_read(world, classifier, RENT, LAW, RENT, LAW)
    query = " OR ".join(f"{{This is a clause about rent number {number}.}}" for number in range(8))
    with calls_of_steps(monkeypatch) as cold:
        assert (await ask(world, analysis, query)).summary.document_count == 300
    with calls_of_steps(monkeypatch) as warm:
        await ask(world, analysis, query)
    assert max(len(batch_statements) for batch_statements, _ in classifier.scored) == 8
    assert len(cold) > 20
    assert max(cold) < MOST_CALLS
    assert max(warm) < MOST_CALLS

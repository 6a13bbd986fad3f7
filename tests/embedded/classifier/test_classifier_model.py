"""What every score keeps to: bounds, repeatability, independence of neighbours, and the port's ways to fail."""

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proviso_service.embedded import EmbeddedClassifier, MiniLmEmbedder
from proviso_service.models import ModelBusy, ModelClosed, ModelPassage, Vectors
from tests.support.word_embedder import WordEmbedder

LAW = ModelPassage("This lease is governed by the laws of Oregon.", ("9. Governing Law",))
RENT = ModelPassage("Tenant shall pay the rent on the first day of every month, without deduction.", ("2. Rent",))
STATEMENTS = (
    "This is a governing law clause.",
    "This is a clause about Rent. When is the rent due?",
    'This is a clause called "Rent".',
    "This clause imposes an obligation or duty on Tenant.",
    "This clause does not limit liability.",
)


@pytest.fixture(scope="module")
def classifier() -> Iterator[EmbeddedClassifier]:
    """With vectors of another model than the fitted numbers are about: words and drafting alone decide."""
    classifier = EmbeddedClassifier.load(WordEmbedder())
    yield classifier
    asyncio.run(classifier.close())


@pytest.fixture(scope="module")
def meaning_classifier(embedder: MiniLmEmbedder) -> Iterator[EmbeddedClassifier]:
    classifier = EmbeddedClassifier.load(embedder)
    yield classifier
    asyncio.run(classifier.close())


passages = st.builds(
    ModelPassage,
    st.text(max_size=200) | st.sampled_from([LAW.text, RENT.text, "Rent. Due monthly.", "governed by law " * 40]),
    st.lists(st.text(max_size=20) | st.sampled_from(["2. Rent", "Governing Law"]), max_size=3).map(tuple),
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(neighbours=st.lists(passages, max_size=5), more=st.lists(passages, max_size=5), passage=passages)
async def test_a_score_does_not_depend_on_neighbours(
    classifier: EmbeddedClassifier, neighbours: list[ModelPassage], more: list[ModelPassage], passage: ModelPassage
) -> None:
    for statement in STATEMENTS:
        alone = (await classifier.score(statement, [passage]))[0]
        among = (await classifier.score(statement, [*neighbours, passage, *more]))[len(neighbours)]
        assert alone == among


async def test_a_score_with_embeddings_does_not_depend_on_neighbours(
    meaning_classifier: EmbeddedClassifier, embedder: MiniLmEmbedder
) -> None:
    texts = [f"{RENT.text} {'The rent of year ' * n}{n}." for n in range(40)]
    vectors = await embedder.embed_documents(texts)
    read = [ModelPassage(text, (), vector) for text, vector in zip(texts, vectors, strict=True)]
    for statement in STATEMENTS:
        together = await meaning_classifier.score(statement, read)
        backwards = await meaning_classifier.score(statement, read[::-1])
        alone = [(await meaning_classifier.score(statement, [passage]))[0] for passage in read]
        np.testing.assert_array_equal(together, backwards[::-1])
        np.testing.assert_array_equal(together, alone)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(statement=st.text(max_size=120), passage=passages)
async def test_any_text_has_a_probability(
    classifier: EmbeddedClassifier, statement: str, passage: ModelPassage
) -> None:
    scores = await classifier.score(statement, [passage, LAW])
    assert scores.shape == (2,)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()


@pytest.mark.parametrize("text", ["", " ", "\ud800", "合同 § 4 – Loi française", "a" * 50_000, "((((" * 5_000])
async def test_odd_texts_are_scored(classifier: EmbeddedClassifier, text: str) -> None:
    for statement in (*STATEMENTS, text):
        assert (await classifier.score(statement, [ModelPassage(text, (text,))])).shape == (1,)


async def test_no_passages_have_no_scores(classifier: EmbeddedClassifier) -> None:
    assert (await classifier.score("This is a lease.", [])).shape == (0,)


async def test_a_second_classifier_gives_the_same_scores_and_id(classifier: EmbeddedClassifier) -> None:
    other = EmbeddedClassifier.load(WordEmbedder())
    try:
        assert other.model_id == classifier.model_id
        for statement in STATEMENTS:
            np.testing.assert_array_equal(
                await other.score(statement, [RENT, LAW]), await classifier.score(statement, [RENT, LAW])
            )
    finally:
        await other.close()


async def test_the_id_names_the_embedder(
    classifier: EmbeddedClassifier, meaning_classifier: EmbeddedClassifier
) -> None:
    assert classifier.model_id != meaning_classifier.model_id


async def test_words_alone_still_tell_clauses_apart(classifier: EmbeddedClassifier) -> None:
    law, rent = await classifier.score("This is a governing law clause.", [LAW, RENT])
    assert law > 5 * rent


async def test_a_heading_counts(meaning_classifier: EmbeddedClassifier) -> None:
    text = "It applies for five years and to all of the above."
    under, elsewhere = await meaning_classifier.score(
        "This is a confidentiality clause.",
        [ModelPassage(text, ("7. Confidentiality",)), ModelPassage(text, ("7. Boats",))],
    )
    assert under > elsewhere


async def test_vectors_that_are_at_hand_are_not_made_again() -> None:
    class Counting(WordEmbedder):
        embedded = 0

        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            self.embedded += len(texts)
            return await super().embed_documents(texts)

    counting = Counting()
    classifier = EmbeddedClassifier.load(counting)
    try:
        vector = (await WordEmbedder().embed_documents([RENT.text]))[0]
        with_vector = ModelPassage(RENT.text, RENT.section_path, vector)
        scores = await classifier.score(STATEMENTS[0], [with_vector, LAW, RENT])
        assert counting.embedded == 2
        assert scores[0] == scores[2]
    finally:
        await classifier.close()


async def test_a_closed_classifier_is_not_ready() -> None:
    classifier = EmbeddedClassifier.load(WordEmbedder())
    await classifier.close()
    with pytest.raises(ModelClosed):
        await classifier.score("This is a lease.", [RENT])


async def test_too_many_statements_are_refused() -> None:
    classifier = EmbeddedClassifier.load(WordEmbedder())
    try:
        waiting = [asyncio.create_task(classifier.score(f"Clause {n}", [RENT])) for n in range(200)]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        refused = [outcome for outcome in outcomes if isinstance(outcome, ModelBusy)]
        assert 0 < len(refused) < len(outcomes)
        assert (await classifier.score("This is a lease.", [RENT])).shape == (1,)
    finally:
        await classifier.close()

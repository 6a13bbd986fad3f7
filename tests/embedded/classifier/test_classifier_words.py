"""Passages that were read before are judged as their texts are."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from proviso_service.embedded import EmbeddedClassifier, MiniLmEmbedder
from proviso_service.models import ModelBusy, ModelClosed, ModelPassage, PassageWords, ReadPassages
from tests.support.word_embedder import WordEmbedder

LAW = ModelPassage("This lease is governed by the laws of Oregon.", ("9. Governing Law",))
RENT = ModelPassage("Tenant shall pay the rent on the first day of every month, without deduction.", ("2. Rent",))
NOTHING = ModelPassage("")
CONTENT = (
    "This is a governing law clause.",
    "This is a clause about Rent. When is the rent due?",
    "This clause does not limit liability.",
)


@pytest.fixture(scope="module")
def classifier(embedder: MiniLmEmbedder) -> Iterator[EmbeddedClassifier]:
    classifier = EmbeddedClassifier.load(embedder)
    yield classifier
    asyncio.run(classifier.close())


async def test_scores_by_words_are_those_by_texts(classifier: EmbeddedClassifier, embedder: MiniLmEmbedder) -> None:
    passages = [LAW, NOTHING, *(ModelPassage(f"{RENT.text} {n} years. " * n, RENT.section_path) for n in range(9))]
    vectors = await embedder.embed_documents([passage.text for passage in passages])
    words = PassageWords.unpacked(classifier.read(passages).packed())
    parts = [
        ReadPassages(words.part(first, end), vectors[first:end])
        for first, end in ((0, 1), (1, 7), (7, 7), (7, len(passages)))
    ]
    found = await classifier.score_read(CONTENT, parts)
    assert len(found) == len(CONTENT)
    for statement, scores in zip(CONTENT, found, strict=True):
        np.testing.assert_array_equal(scores, await classifier.score(statement, passages))


def test_words_of_passages_are_kept_apart(classifier: EmbeddedClassifier) -> None:
    alone = [classifier.read([passage]) for passage in (LAW, NOTHING, RENT)]
    together = classifier.read([LAW, NOTHING, RENT])
    assert together.packed() == PassageWords.joined(alone).packed()
    assert [together.part(n, n + 1).packed() for n in range(3)] == [one.packed() for one in alone]
    assert len(together.part(1, 9)) == 2


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("This is a governing law clause.", False),
        ("This clause does not limit liability.", False),
        ('This is a clause called "Rent".', True),
        ("This clause imposes an obligation or duty on Tenant.", True),
        ("This clause obligates Tenant to pay the rent.", True),
        ("This is a unilateral clause.", True),
    ],
)
def test_texts_are_needed_for_statements_about_form_and_duties(
    classifier: EmbeddedClassifier, statement: str, needed: bool
) -> None:
    assert classifier.needs_texts(statement) is needed


async def test_passages_read_before_wait_and_end_as_others_do() -> None:
    classifier = EmbeddedClassifier.load(WordEmbedder())
    part = ReadPassages(classifier.read([RENT]), await WordEmbedder().embed_documents([RENT.text]))
    waiting = [asyncio.create_task(classifier.score_read([f"Clause {n}."], [part])) for n in range(200)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert 0 < sum(isinstance(outcome, ModelBusy) for outcome in outcomes) < len(outcomes)
    await classifier.close()
    with pytest.raises(ModelClosed):
        await classifier.score_read(CONTENT, [part])


@pytest.mark.parametrize(
    ("statement", "title", "is_titled"),
    [
        ("This is a termination clause.", "12. Termination", True),
        ("This is a termination clause: it permits a party to end the contract.", "14. Term and Termination", True),
        ("This is a clause about governing law.", "ARTICLE 9 GOVERNING LAW; JURISDICTION", True),
        ("This is a termination clause.", "9. TERMINATION OF THIS AGREEMENT", True),
        ("This is a termination clause.", "14. Restrictions after Termination", False),
        ("This is a mutual termination clause.", "12. Termination", False),
        ("Either party may terminate.", "12. Termination", False),
    ],
)
async def test_what_stands_below_the_name_of_a_kind_of_clause_is_likely_one(
    classifier: EmbeddedClassifier, statement: str, title: str, *, is_titled: bool
) -> None:
    text = "The Supplier returns the keys of the warehouse in spring."
    scores = await classifier.score(statement, [ModelPassage(text, (title,))])
    assert bool(scores[0] > 0.8) is is_titled

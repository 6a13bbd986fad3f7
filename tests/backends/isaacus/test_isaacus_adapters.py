"""Tests of the requests to Isaacus's models, and of what is made of their answers."""

import numpy as np
import pytest

from proviso_service.backends.hosted_calls import EndpointUsage
from proviso_service.backends.isaacus.analysis import IsaacusClassifier, IsaacusExtractor
from proviso_service.backends.isaacus.client import IsaacusConfig
from proviso_service.backends.isaacus.retrieval import IsaacusReranker
from proviso_service.models import AnswerSpan, ModelPassage
from tests.backends.isaacus.conftest import IsaacusWorld
from tests.support.hosted_api import changed
from tests.support.isaacus_answers import embedding

SETTINGS = IsaacusConfig()
CLAUSES = (
    ModelPassage("The fees are due in July."),
    ModelPassage("Either party may terminate this agreement."),
    ModelPassage("The supplier may terminate."),
)


async def test_embeddings_are_unit_vectors_in_the_order_of_the_texts(world: IsaacusWorld) -> None:
    texts = [f"clause {word}" for word in ["one", "two", "three", "four", "five"]]
    world.server.then(changed(lambda body: body["embeddings"].reverse()))
    vectors = await world.embedder(texts_per_call=2).embed_documents(texts)
    assert vectors.shape == (5, 8)
    assert vectors.dtype == np.float32
    expected = np.array([embedding(text, 8) for text in texts])
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert sorted(len(asked.request.texts) for asked in world.server.asked) == [1, 2, 2], "parts are sent side by side"


async def test_documents_and_queries_are_embedded_for_their_tasks(world: IsaacusWorld) -> None:
    embedder = world.embedder()
    await embedder.embed_documents(["A clause."])
    vector = await embedder.embed_query("Which clause?")
    assert vector.shape == (8,)
    document, query = (asked.raw for asked in world.server.asked)
    assert document == {
        "model": "kanon-2-embedder",
        "texts": ["A clause."],
        "task": "retrieval/document",
        "overflow_strategy": "drop_end",
        "dimensions": 8,
    }
    assert query == document | {"texts": ["Which clause?"], "task": "retrieval/query"}


async def test_nothing_to_embed_is_no_call(world: IsaacusWorld) -> None:
    assert (await world.embedder().embed_documents([])).shape == (0, 8)
    assert world.server.attempts == 0


async def test_texts_that_the_api_would_refuse_are_sent_in_another_form(world: IsaacusWorld) -> None:
    await world.embedder().embed_documents(["", " \u200b\n", "lone \ud800 surrogate", "\ufb01ne\u00a0print"])
    assert world.server.texts_of("embeddings") == ["-", "-", "lone \ufffd surrogate", "fine print"]


async def test_a_classifier_gets_a_statement_in_words_and_passages_under_their_headings(world: IsaacusWorld) -> None:
    passages = [
        ModelPassage("9. Term\nEither party may terminate.", ("Lease", "9. Term")),
        ModelPassage("It ends at once.", ("Lease", "9. Term")),
    ]
    await IsaacusClassifier(world.client(), SETTINGS).score("This is a termination clause.", passages)
    [asked] = world.server.asked
    assert asked.raw == {
        "model": "kanon-universal-classifier",
        "query": "This is a termination clause.",
        "texts": ["Lease\n\n9. Term\nEither party may terminate.", "Lease / 9. Term\n\nIt ends at once."],
        "is_iql": False,
        "scoring_method": "auto",
        "chunking_options": None,
    }


async def test_scores_come_in_the_order_of_the_passages(world: IsaacusWorld) -> None:
    classifier = IsaacusClassifier(world.client(), IsaacusConfig(texts_per_call=2))
    scores = await classifier.score("supplier may terminate", CLAUSES)
    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([0.0, 2 / 3, 1.0])


async def test_a_reranker_scores_every_passage(world: IsaacusWorld) -> None:
    scores = await IsaacusReranker(world.client(), SETTINGS).score("Who may terminate?", CLAUSES)
    assert scores.tolist() == pytest.approx([0.0, 2 / 3, 2 / 3])
    [asked] = world.server.asked
    assert asked.raw == {
        "model": "kanon-2-reranker",
        "query": "Who may terminate?",
        "texts": [passage.text for passage in CLAUSES],
        "top_n": None,
        "is_iql": False,
        "scoring_method": "auto",
        "chunking_options": None,
    }


async def test_answers_are_spans_of_the_passages_own_text(world: IsaacusWorld) -> None:
    text = "\U0001f600 Fees are due. \ufb01nal notice\u00a0period is thirty days.\n"
    passages = [ModelPassage("Nothing here."), ModelPassage(""), ModelPassage(text, ("9. Term",))]
    answers = await IsaacusExtractor(world.client(), SETTINGS).extract("notice period days", passages)
    assert answers[:2] == [(), ()]
    best, *others = answers[2]
    assert text[best.start : best.end] == "\ufb01nal notice\u00a0period is thirty days."
    assert best.score == 1.0
    assert all(other.score < best.score for other in others)
    [asked] = world.server.asked
    assert asked.raw == {
        "model": "kanon-answer-extractor",
        "query": "notice period days",
        "texts": ["Nothing here.", text],
        "ignore_inextractability": False,
        "top_k": 3,
        "chunking_options": None,
    }


async def test_an_answer_counts_less_where_there_may_be_none(world: IsaacusWorld) -> None:
    answer = {"text": "July", "start": 20, "end": 24, "score": 0.8}
    world.server.then(
        changed(lambda body: body["extractions"][0].update(answers=[answer], inextractability_score=0.25))
    )
    [[span]] = await IsaacusExtractor(world.client(), SETTINGS).extract("When are the fees due?", CLAUSES[:1])
    assert span == AnswerSpan(20, 24, 0.8 * 0.75)


async def test_answers_are_trimmed_and_do_not_overlap(world: IsaacusWorld) -> None:
    spans = [(13, 24, 0.5), (16, 24, 0.9), (4, 9, 0.4), (3, 4, 0.3)]
    text = CLAUSES[0].text
    answers = [{"text": text[start:end], "start": start, "end": end, "score": score} for start, end, score in spans]
    world.server.then(changed(lambda body: body["extractions"][0].update(answers=answers, inextractability_score=0.0)))
    [found] = await IsaacusExtractor(world.client(), SETTINGS).extract("When are the fees due?", CLAUSES[:1])
    assert [text[span.start : span.end] for span in found] == ["in July", "fees"]


async def test_ids_name_vendor_model_and_what_changes_results(world: IsaacusWorld) -> None:
    client = world.client()
    assert world.embedder(client, dimensions=256).model_id == "isaacus/kanon-2-embedder/256"
    assert IsaacusClassifier(client, SETTINGS).model_id == "isaacus/kanon-universal-classifier/1"
    assert IsaacusReranker(client, SETTINGS).model_id == "isaacus/kanon-2-reranker/1"
    assert IsaacusExtractor(client, SETTINGS).model_id == "isaacus/kanon-answer-extractor/1"


async def test_usage_is_counted_by_endpoint(world: IsaacusWorld) -> None:
    client = world.client(texts_per_call=2)
    await IsaacusClassifier(client, IsaacusConfig(texts_per_call=2)).score("two words", CLAUSES)
    await IsaacusReranker(client, SETTINGS).score("three more words", CLAUSES)
    words = sum(len(passage.text.split()) for passage in CLAUSES)
    assert client.usage == {
        "classifications/universal": EndpointUsage(calls=2, tries=2, input_tokens=2 * 2 + words),
        "rerankings": EndpointUsage(calls=1, tries=1, input_tokens=3 + words),
    }

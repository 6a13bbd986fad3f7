"""The models of a model server: what they are sent, and what is made of the answers."""

import numpy as np
import pytest

from proviso_service.errors import ModelApiRefused
from proviso_service.models import ModelPassage
from tests.backends.model_server.conftest import TeiWorld
from tests.support.isaacus_answers import score

FEES = ModelPassage("The fees are due.", ("2. Fees",))
LEASE = ModelPassage("The lease ends.")


def texts(count: int) -> list[str]:
    """Each holds a word that no other has."""
    return [f"clause {chr(97 + at // 26) * 3}{chr(97 + at % 26) * 3}" for at in range(count)]


@pytest.mark.parametrize("model", ["", "proviso/embedding"])
async def test_vectors_have_length_one_and_the_order_of_the_texts(world: TeiWorld, model: str) -> None:
    server = await world.server()
    embedder = await world.embedder(server, model)
    vectors = await embedder.embed_documents([*texts(70), " "])
    assert vectors.shape == (71, 64) == (71, embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    alone = [await embedder.embed_query(text) for text in texts(70)]
    assert np.array_equal(vectors[:70], np.array(alone))


@pytest.mark.parametrize("model", ["", "proviso/embedding"])
async def test_nothing_is_sent_where_there_is_no_text(world: TeiWorld, model: str) -> None:
    embedder = await world.embedder(await world.server(), model)
    assert (await embedder.embed_documents([])).shape == (0, 64)


async def test_a_model_is_known_by_name_revision_and_dimensions(world: TeiWorld) -> None:
    server = await world.server()
    assert (await world.embedder(server)).model_id == "tei/proviso/embedding/5c38ec7c405ec4b4/64"
    assert (await world.embedder(server, "proviso/embedding")).model_id == "openai/proviso/embedding/64"
    server.sha = None
    assert (await world.embedder(server)).model_id == "tei/proviso/embedding/64"


async def test_the_models_own_words_go_before_queries_and_texts(world: TeiWorld) -> None:
    server = await world.server(query="query: ", passage="passage: ")
    embedder = await world.embedder(server)
    started = len(server.asked)
    await embedder.embed_documents(["rent"])
    await embedder.embed_query("rent")
    assert [asked.request.prompt_name for asked in server.asked[started:]] == ["passage", "query"]
    assert all(asked.request.truncate for asked in server.asked)


async def test_a_model_without_such_words_is_sent_the_text_alone(world: TeiWorld) -> None:
    server = await world.server()
    embedder = await world.embedder(server)
    await embedder.embed_query("rent")
    assert server.asked[-1].request.prompt_name is None


async def test_calls_keep_to_the_limits_of_the_server(world: TeiWorld) -> None:
    server = await world.server("reranker")
    server.most_texts, server.most_at_once = 5, 3
    reranker = await world.reranker(server)
    passages = [ModelPassage(text) for text in texts(10)]
    scores = await reranker.score(texts(8)[-1], passages)
    assert int(scores.argmax()) == 7
    assert [len(asked.texts) for asked in server.asked_for("/rerank")] == [3, 3, 3, 1]


async def test_a_reranker_scores_passages_below_their_headings(world: TeiWorld) -> None:
    server = await world.server("reranker")
    for scorer in (await world.reranker(server), await world.classifier(server)):
        assert scorer.model_id == "tei/proviso/reranker/5c38ec7c405ec4b4/1"
        scores = await scorer.score("fees that are due", [LEASE, FEES])
        text = "2. Fees\n\nThe fees are due."
        assert scores == pytest.approx(
            [score("fees that are due", "The lease ends."), score("fees that are due", text)]
        )


async def test_a_model_of_inference_says_whether_the_statement_follows(world: TeiWorld) -> None:
    server = await world.server("classifier", ("ENTAILMENT", "neutral", "contradiction"))
    classifier = await world.classifier(server)
    scores = await classifier.score("The lease ends.", [FEES, LEASE])
    assert scores[1] == 1.0 > scores[0]
    [asked] = server.asked_for("/predict")
    assert asked.inputs[1] == ["The lease ends.", "The lease ends."]


async def test_a_model_of_another_kind_is_refused(world: TeiWorld) -> None:
    with pytest.raises(ModelApiRefused, match="proviso/reranker is not a model of embeddings"):
        await world.embedder(await world.server("reranker"))
    with pytest.raises(ModelApiRefused, match="proviso/embedding is not a reranker"):
        await world.reranker(await world.server())
    moods = await world.server("classifier", ("joy", "anger"))
    with pytest.raises(ModelApiRefused, match="proviso/classifier is neither a reranker nor has it a label entailment"):
        await world.classifier(moods)


@pytest.mark.parametrize("model", ["", "proviso/embedding"])
async def test_another_model_at_the_same_address_is_refused(world: TeiWorld, model: str) -> None:
    server = await world.server()
    embedder = await world.embedder(server, model)
    server.model = "proviso/other"
    for asking in (embedder.embed_query("rent"), embedder.embed_documents(["rent"])):
        with pytest.raises(ModelApiRefused, match=r"serves \S*proviso/other\S* in place of \S*proviso/embedding"):
            await asking


async def test_another_revision_at_the_same_address_is_refused(world: TeiWorld) -> None:
    server = await world.server("reranker")
    reranker = await world.reranker(server)
    server.sha = "0000"
    with pytest.raises(ModelApiRefused, match="tei/proviso/reranker/0000"):
        await reranker.score("rent", [LEASE])

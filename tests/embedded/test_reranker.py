"""The reranker that is embedded: a question read together with the passages of a search."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proviso_client.v1 import tools_pb2
from proviso_service.embedded import EmbeddedReranker, Judge
from proviso_service.models import ModelPassage
from tests.support.running import running_service

INSURANCE = ModelPassage("The Supplier shall insure the goods against fire and theft until they are delivered.")
DELIVERY = ModelPassage("The Supplier shall deliver the goods to the place that the Buyer names in the order.")
DELAY = ModelPassage("If delivery is more than ten days late, the Buyer may cancel the order without paying anything.")
QUESTION = "Can we call it off if the goods come too late?"


@pytest.fixture
async def reranker(models_dir: Path) -> AsyncIterator[EmbeddedReranker]:
    judge = Judge(models_dir, threads=1)
    yield EmbeddedReranker(judge)
    await judge.close()


async def test_the_passage_that_answers_comes_before_those_that_share_its_words(reranker: EmbeddedReranker) -> None:
    scores = await reranker.score(QUESTION, [DELIVERY, INSURANCE, DELAY])
    assert scores.argmax() == 2
    assert 0 <= scores.min() <= scores.max() <= 1


async def test_of_equal_passages_the_one_that_the_search_put_first_stays_there(reranker: EmbeddedReranker) -> None:
    first, second, third = await reranker.score(QUESTION, [DELAY] * 3)
    assert first > second > third


async def test_the_order_stays_where_the_query_cannot_be_read(reranker: EmbeddedReranker) -> None:
    query = "Dürfen wir vom Vertrag zurücktreten, wenn die Ware zu spät kommt?"
    first, second, third = await reranker.score(query, [DELIVERY, INSURANCE, DELAY])
    assert first > second > third


async def test_a_passage_that_cannot_be_read_is_neither_right_nor_wrong(reranker: EmbeddedReranker) -> None:
    german = ModelPassage("Der Lieferant versichert die Ware bis zur Lieferung gegen Feuer und Diebstahl.")
    unrelated, answer, unread = await reranker.score(QUESTION, [DELIVERY, DELAY, german])
    assert answer > unread > unrelated


async def test_searches_are_reranked_where_the_settings_say_so(tmp_path: Path, models_dir: Path) -> None:
    lines = "\n\n".join(one.text for one in (DELIVERY, INSURANCE, DELAY))
    async with running_service(tmp_path, models_dir, models={"reranker": "embedded"}) as service:
        matter_id = await service.create_matter()
        await service.upload(matter_id, "supply.md", f"# Supply\n\n{lines}".encode())
        await service.wait_until_ready(matter_id)
        found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query=QUESTION))
        assert found.reranked
        assert all(one.HasField("rerank_score") for one in found.results)

"""Search over the wire: what is uploaded, deleted and kept beside a matter."""

import asyncio
from pathlib import Path

import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from tests.support.running import AGREEMENT, RunningService, running_service

QUESTION = "which law governs the monthly fees"
OTHER = "# Other\n\n" + "\n\n".join(f"## {n}. Fees\n\nMonthly fees, law {n}, governing fees." for n in range(40))


async def search(service: RunningService, matter_id: str, query: str = QUESTION) -> tools_pb2.SearchResponse:
    request = tools_pb2.SearchRequest(matter_id=matter_id, query=query, min_score=0)
    return await service.tools.Search(request)


async def test_an_upload_into_another_matter_changes_no_score_and_no_answer(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    before = await search(service, matter_id)
    await service.create_matter(agreement=OTHER)
    assert before.results
    assert await search(service, matter_id) == before


async def test_searches_during_uploads_see_whole_documents(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)

    async def uploads() -> None:
        for number in range(6):
            await service.upload(matter_id, f"{number}.md", f"{OTHER}\n\nVersion {number}.\n".encode())
        await service.wait_until_ready(matter_id)

    async def searches() -> None:
        for _ in range(10):
            answer = await search(service, matter_id, "monthly fees law")
            counts = {hits.filename: hits.passages for hits in answer.documents_matching}
            assert {passages for name, passages in counts.items() if name[0].isdigit()} <= {40}

    await asyncio.gather(uploads(), searches(), searches())
    answer = await search(service, matter_id, "monthly fees law")
    assert {hits.filename for hits in answer.documents_matching} >= {f"{number}.md" for number in range(6)}


async def test_a_document_is_found_as_soon_as_it_is_ready_and_gone_as_soon_as_it_is_deleted(
    service: RunningService,
) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    await search(service, matter_id)
    await service.upload(matter_id, "new.md", b"# Note\n\nThe zephyr clause applies.\n")
    new = {one.filename: one.document_id for one in await service.wait_until_ready(matter_id)}["new.md"]
    assert (await search(service, matter_id, "zephyr")).results[0].document_id == new
    await service.matters.DeleteDocument(matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=new))
    assert new not in {result.document_id for result in (await search(service, matter_id, "zephyr")).results}


async def test_the_answers_are_the_same_after_a_restart(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        first, second = [await service.create_matter(agreement=text) for text in (AGREEMENT, OTHER)]
        before = [await search(service, first), await search(service, second)]
    async with running_service(tmp_path / "data", models_dir) as again:
        after = [await search(again, first), await search(again, second), await search(again, first)]
    before.append(tools_pb2.SearchResponse.FromString(before[0].SerializeToString()))
    for was, now in zip(before, after, strict=True):
        assert semantic_scores(now) == pytest.approx(semantic_scores(was), abs=1e-6)
        assert now == was


def semantic_scores(answer: tools_pb2.SearchResponse) -> list[float]:
    """Takes the semantic scores out of an answer: where a matrix lies in memory moves their last digit."""
    scores = [answer.best_semantic_score, *(result.semantic_score for result in answer.results)]
    answer.ClearField("best_semantic_score")
    for result in answer.results:
        result.ClearField("semantic_score")
    return scores

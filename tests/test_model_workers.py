"""`proviso serve --workers N`: turns, search and queries as without, and processes that end with the service."""

import asyncio
import os
import signal
from pathlib import Path

from proviso_client.v1 import tools_pb2
from tests.support.processes import ended, running
from tests.support.running import AGREEMENT, final_of
from tests.support.served import LIMIT_S, ServedService, proviso, served

MODULE = "proviso_service.embedded.process"
QUESTION = "Which law governs this agreement?"


async def _asked(service: ServedService) -> tuple[object, ...]:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="insurance"))
    judged = await service.tools.ExecuteIql(
        tools_pb2.ExecuteIqlRequest(
            matter_id=matter_id, query='{IS clause obligating "Customer"} OR {IS confidentiality clause}'
        )
    )
    told = final_of(await service.ask(QUESTION, matter_id))
    passages = [(passage.chunk_text, passage.score) for passage in found.results]
    scores = [(match.score, match.text) for document in judged.document_results for match in document.matches]
    return passages, scores, told.message, [citation.quote for citation in told.citations]


async def test_turns_search_and_queries_are_those_of_one_process(tmp_path: Path, models_dir: Path) -> None:
    async with served(tmp_path / "one", models_dir) as service:
        alone = await _asked(service)
        assert running(service.process.pid, MODULE) == []
    async with served(tmp_path / "two", models_dir, flags=("--workers", "1")) as service:
        assert await _asked(service) == alone
        assert len(running(service.process.pid, MODULE)) == 1


async def test_a_killed_worker_is_replaced_while_turns_go_on(tmp_path: Path, models_dir: Path) -> None:
    async with served(tmp_path / "data", models_dir, flags=("--workers", "1")) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        [worker] = running(service.process.pid, MODULE)
        turns = [asyncio.create_task(service.ask(QUESTION, matter_id)) for _ in range(4)]
        os.kill(worker, signal.SIGKILL)
        answers = {final_of(await turn).message for turn in turns}
        assert len(answers) == 1
        assert "Oregon" in answers.pop()
        [other] = running(service.process.pid, MODULE)
        assert other != worker


async def test_workers_end_with_a_service_that_is_killed(tmp_path: Path, models_dir: Path) -> None:
    async with served(tmp_path / "data", models_dir, flags=("--workers", "2")) as service:
        await service.create_matter(agreement=AGREEMENT)
        workers = running(service.process.pid, MODULE)
        assert len(workers) == 2
        await service.kill()
        async with asyncio.timeout(LIMIT_S):
            await ended(workers)


async def test_no_workers_are_refused(tmp_path: Path, models_dir: Path) -> None:
    code, _, told = await proviso("serve", "--workers", "0", "--data-dir", tmp_path, "--models-dir", models_dir)
    assert code == 2
    assert "--workers" in told
    assert "greater than or equal to 1" in told

"""How long documents wait for ingestion, over the wire, with the processes that read files and the model."""

import asyncio
import time
from pathlib import Path

import pytest

from proviso_client.v1 import matters_pb2 as pb
from tests.support.running import RunningService, running_service

pytestmark = pytest.mark.timeout(300)

LARGE_CHUNKS = 5_000
"""The model takes a minute for so many."""
BATCHES = 15
"""Most batches of large documents that come before a small one. Each takes less than a second of CPU time."""
_BATCH_CHUNKS = 64


def _large(number: int) -> bytes:
    sentence = "The tenant of house {0} shall pay rent {1} in advance, without deduction, on the day that is agreed. "
    return "\n\n".join(f"## {n}. Rent\n\n{sentence.format(n, number) * 6}" for n in range(LARGE_CHUNKS)).encode()


async def _chunks_done(service: RunningService, matter_id: str, document_ids: list[str]) -> dict[str, int]:
    """The chunks of documents that are under way, embedded so far; fails when a document is not under way."""
    request = pb.WatchDocumentsRequest(matter_id=matter_id, document_ids=document_ids)
    done: dict[str, int] = {}
    async for state in service.matters.WatchDocuments(request):
        assert state.document.status in (pb.DOCUMENT_STATUS_PENDING, pb.DOCUMENT_STATUS_PROCESSING)
        done[state.document.document_id] = state.chunks_done
        if len(done) == len(document_ids) and all(done.values()):
            return done
    raise AssertionError("the documents were never under way together")


async def _until_ready(service: RunningService, document: pb.Document) -> None:
    request = pb.WatchDocumentsRequest(matter_id=document.matter_id, document_ids=[document.document_id])
    async for state in service.matters.WatchDocuments(request):
        last = state.document.status
    assert last == pb.DOCUMENT_STATUS_READY


async def test_a_line_is_ready_long_before_two_large_documents(tmp_path: Path, models_dir: Path) -> None:
    """It was not in 100 s, when every worker had a large document to itself, and every process that reads."""
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id, other_id = await service.create_matter("Large"), await service.create_matter("Other")
        uploads = (service.upload(matter_id, f"large {number}.md", _large(number)) for number in range(2))
        large = [document.document_id for document in await asyncio.gather(*uploads)]
        while_read = await service.upload(other_id, "early.txt", b"It was uploaded while the large ones were read.")
        await _until_ready(service, while_read)
        before = await _chunks_done(service, matter_id, large)
        lines = [await service.upload(to, "line.txt", b"A line about turbines.") for to in (matter_id, other_id)]
        await asyncio.gather(*(_until_ready(service, line) for line in lines))
        after = await _chunks_done(service, matter_id, large)
        assert sum(after.values()) - sum(before.values()) <= BATCHES * _BATCH_CHUNKS


async def test_a_page_is_ready_within_a_second_where_nothing_else_is_done(tmp_path: Path, models_dir: Path) -> None:
    """It takes 0.1 s. The best of some, because the machine may be busy; what waits for a clock would slow all down."""
    times = []
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter("Pages")
        for number in range(4):
            begun = time.perf_counter()
            page = "\n\n".join(f"## {n}. Rent\n\nThe rent of house {n} is USD {number}." for n in range(12))
            await _until_ready(service, await service.upload(matter_id, f"{number}.md", page.encode()))
            times.append(time.perf_counter() - begun)
    assert min(times) < 1

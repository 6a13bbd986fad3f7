"""Does with documents what a caller does, and measures the time: uploads them, waits until they are READY, and
searches."""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1 import tools_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub

if TYPE_CHECKING:
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub
    from proviso_client.v1.tools_pb2_grpc import ToolServiceAsyncStub

UPLOADS_AT_ONCE = 4
PIECE_BYTES = 256 * 1024
CALL_TIMEOUT_S = 60.0
INGEST_TIMEOUT_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Ingested:
    """A matter whose documents are all READY or FAILED. `elapsed_s` is counted from the first upload."""

    matter_id: str
    elapsed_s: float
    documents: tuple[pb.Document, ...]

    @property
    def chunks(self) -> int:
        return sum(document.chunk_count for document in self.documents)

    @property
    def failed(self) -> tuple[pb.Document, ...]:
        return tuple(d for d in self.documents if d.status != pb.DOCUMENT_STATUS_READY)


class DocumentLoad:
    """Makes the calls over one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._matters: MatterServiceAsyncStub = MatterServiceStub(channel)
        self._tools: ToolServiceAsyncStub = ToolServiceStub(channel)

    async def create_matter(self, name: str) -> str:
        answer = await self._matters.CreateMatter(pb.CreateMatterRequest(name=name), timeout=CALL_TIMEOUT_S)
        return answer.matter.matter_id

    async def matter_named(self, name: str) -> str:
        """The id of an existing matter."""
        known = await self._matters.ListMatters(pb.ListMattersRequest(name=name), timeout=CALL_TIMEOUT_S)
        return known.matters[0].matter_id

    async def ingest(self, name: str, files: Sequence[tuple[str, bytes]]) -> Ingested:
        """Uploads the documents into a new matter, several at a time, and waits for their ingestion."""
        matter_id = await self.create_matter(name)
        queue = iter(files)
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(UPLOADS_AT_ONCE):
                group.create_task(self._upload_all(matter_id, queue))
        request = pb.WatchDocumentsRequest(matter_id=matter_id)
        last = {
            state.document.document_id: state.document
            async for state in self._matters.WatchDocuments(request, timeout=INGEST_TIMEOUT_S)
        }
        return Ingested(matter_id, time.perf_counter() - begun, tuple(last.values()))

    async def _upload_all(self, matter_id: str, queue: Iterator[tuple[str, bytes]]) -> None:
        for name, content in queue:
            await self._matters.UploadDocument(_upload(matter_id, name, content), timeout=CALL_TIMEOUT_S)

    async def search(self, matter_id: str, query: str) -> tools_pb2.SearchResponse:
        request = tools_pb2.SearchRequest(matter_id=matter_id, query=query)
        return await self._tools.Search(request, timeout=CALL_TIMEOUT_S)

    async def search_times_s(self, matter_id: str, queries: Sequence[str], at_once: int) -> list[float]:
        """The sorted times of all searches in seconds, with `at_once` searches under way at a time."""
        queue = iter(queries)
        times: list[float] = []

        async def search_all() -> None:
            for query in queue:
                begun = time.perf_counter()
                await self.search(matter_id, query)
                times.append(time.perf_counter() - begun)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(search_all())
        return sorted(times)


class NoCorpus(Exception):
    """The folder does not hold the files that the benchmark reads."""


@dataclass(frozen=True, slots=True)
class Corpus:
    contracts: tuple[Path, ...]
    pdfs: tuple[Path, ...]
    questions: tuple[str, ...]


def read_corpus(folder: Path, max_contracts: int | None = None) -> Corpus:
    """Reads the corpus from a folder. Raises NoCorpus."""
    contracts = tuple(sorted((folder / "contracts").glob("*.txt")))
    pdfs = tuple(sorted((folder / "pdf").glob("*.pdf")))
    try:
        questions = tuple(json.loads((folder / "categories.json").read_text(encoding="utf-8")).values())
    except (OSError, ValueError) as error:
        raise NoCorpus(f"{folder} has no readable categories.json") from error
    if not contracts or not pdfs:
        raise NoCorpus(f"{folder} has no contracts/*.txt or no pdf/*.pdf")
    return Corpus(contracts[:max_contracts], pdfs[:max_contracts], questions)


def read_files(paths: Sequence[Path]) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in paths]


async def create_empty_matter(address: str) -> str:
    """Creates a matter without documents and returns its id."""
    async with grpc.aio.insecure_channel(address) as channel:
        return await DocumentLoad(channel).create_matter("Empty")


def _upload(matter_id: str, name: str, content: bytes) -> Iterator[pb.UploadDocumentRequest]:
    yield pb.UploadDocumentRequest(header=pb.UploadHeader(matter_id=matter_id, filename=name))
    for start in range(0, len(content), PIECE_BYTES):
        yield pb.UploadDocumentRequest(data=content[start : start + PIECE_BYTES])
    yield pb.UploadDocumentRequest(end=pb.UploadEnd())

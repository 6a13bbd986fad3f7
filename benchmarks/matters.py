"""The matters of a benchmark: an empty one for its turns, and a small one, so that the data folder is not a fresh
one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import grpc

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

if TYPE_CHECKING:
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub

DOCUMENTS = 5
CLAUSES = 20
CALL_TIMEOUT_S = 60.0

_CLAUSE = (
    "The Supplier shall deliver the Goods to the Customer within {days} days of each order, at its own risk and "
    "expense, and shall tell the Customer without delay of anything that may keep it from doing so."
)


async def create_empty_matter(address: str) -> str:
    """Creates a matter without documents and returns its id."""
    async with grpc.aio.insecure_channel(address) as channel:
        return await _create(MatterServiceStub(channel), "Empty")


async def create_matter_with_documents(address: str) -> None:
    """Creates a matter, uploads its documents, and returns when all of them are ingested."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub: MatterServiceAsyncStub = MatterServiceStub(channel)
        matter_id = await _create(stub, "Supply agreements")
        for number in range(1, DOCUMENTS + 1):
            await stub.UploadDocument(_upload(matter_id, number), timeout=CALL_TIMEOUT_S)
        async for _ in stub.WatchDocuments(pb.WatchDocumentsRequest(matter_id=matter_id), timeout=CALL_TIMEOUT_S):
            pass


async def _create(stub: "MatterServiceAsyncStub", name: str) -> str:
    created = await stub.CreateMatter(pb.CreateMatterRequest(name=name), timeout=CALL_TIMEOUT_S)
    return created.matter.matter_id


def _upload(matter_id: str, number: int) -> Iterator[pb.UploadDocumentRequest]:
    header = pb.UploadHeader(matter_id=matter_id, filename=f"Supply Agreement {number}.md")
    yield pb.UploadDocumentRequest(header=header)
    clauses = (f"## {i}. Delivery\n\n{_CLAUSE.format(days=number + i)}\n\n" for i in range(1, CLAUSES + 1))
    yield pb.UploadDocumentRequest(data=f"# Supply Agreement {number}\n\n{''.join(clauses)}".encode())
    yield pb.UploadDocumentRequest(end=pb.UploadEnd())

"""An uploaded file that is missing, cut short or changed is never handed out as if it were whole."""

from pathlib import Path

import grpc
import pytest
import structlog

from proviso_client.v1 import matters_pb2
from tests.support.running import AGREEMENT, RunningService

CONTENT = AGREEMENT.encode()


async def read(service: RunningService, document: matters_pb2.Document, offset: int = 0, length: int = 0) -> bytes:
    request = matters_pb2.GetDocumentContentRequest(
        matter_id=document.matter_id, document_id=document.document_id, offset=offset, length=length
    )
    return b"".join([answer.data async for answer in service.matters.GetDocumentContent(request)])


@pytest.mark.parametrize(
    ("left", "problem"),
    [(None, "missing"), (CONTENT[:-1], "cut short"), (b"", "cut short"), (b"X" + CONTENT[1:], "changed")],
)
async def test_reading_a_lost_original_says_what_is_wrong_with_it(
    service: RunningService, tmp_path: Path, left: bytes | None, problem: str
) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    (document,) = await service.wait_until_ready(matter_id)
    assert await read(service, document) == CONTENT
    (file,) = (tmp_path / "data" / "blobs").rglob(document.document_id)
    file.unlink() if left is None else file.write_bytes(left)
    with structlog.testing.capture_logs() as logged, pytest.raises(grpc.aio.AioRpcError) as refusal:
        await read(service, document)
    assert refusal.value.code() is grpc.StatusCode.DATA_LOSS
    assert f"document {document.document_id} is {problem}" in str(refusal.value.details())
    assert [(line["document_id"], line["problem"]) for line in logged if line["event"] == "original_damaged"] == [
        (document.document_id, problem)
    ]


async def test_what_is_left_of_a_shortened_original_can_be_read_by_range(
    service: RunningService, tmp_path: Path
) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    (document,) = await service.wait_until_ready(matter_id)
    (file,) = (tmp_path / "data" / "blobs").rglob(document.document_id)
    file.write_bytes(CONTENT[:20])
    assert await read(service, document, 4, 16) == CONTENT[4:20]
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await read(service, document, 4, 17)
    assert refusal.value.code() is grpc.StatusCode.DATA_LOSS

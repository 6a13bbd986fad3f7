"""Uploads that stall, and messages that hold nothing."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from proviso_client.v1.matters_pb2 import UploadDocumentRequest, UploadHeader
from proviso_service.api.errors import DeadlinePassed
from proviso_service.api.uploads import Upload
from proviso_service.errors import InvalidRequest

MATTER_ID = "25e70284-6124-4a2b-9c89-0123456789ab"


async def stalling(*messages: UploadDocumentRequest) -> AsyncIterator[UploadDocumentRequest]:
    for message in messages:
        yield message
    await asyncio.Future()


async def test_a_caller_that_sends_no_header_is_cut_off() -> None:
    with pytest.raises(DeadlinePassed):
        await Upload(stalling(), idle_s=0.01).header()


async def test_a_caller_that_stalls_in_the_middle_is_cut_off() -> None:
    header = UploadDocumentRequest(header=UploadHeader(matter_id=MATTER_ID, filename="a.md"))
    upload = Upload(stalling(header, UploadDocumentRequest(data=b"some")), idle_s=0.05)
    assert (await upload.header()).filename == "a.md"
    pieces = upload.pieces()
    assert await anext(pieces) == b"some"
    with pytest.raises(DeadlinePassed):
        await anext(pieces)


async def test_a_message_that_holds_nothing_is_refused() -> None:
    header = UploadDocumentRequest(header=UploadHeader(matter_id=MATTER_ID, filename="a.md"))
    upload = Upload(stalling(header, UploadDocumentRequest(data=b""), UploadDocumentRequest()), idle_s=5.0)
    await upload.header()
    pieces = upload.pieces()
    assert await anext(pieces) == b""
    with pytest.raises(InvalidRequest, match="must have a header, data or the end"):
        await anext(pieces)

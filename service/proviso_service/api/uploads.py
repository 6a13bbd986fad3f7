"""The messages of an upload, which come as a header, pieces, and an end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from pydantic import AfterValidator, Field

from proviso_client.v1 import matters_pb2 as pb
from proviso_service.api.errors import DeadlinePassed
from proviso_service.api.request_models import MatterIdOrDocumentation, RequestModel, parse
from proviso_service.errors import InvalidRequest
from proviso_service.matters import UploadHeader
from proviso_service.value_faults import refusal

UPLOAD_IDLE_S = 10.0
"""Longest wait for the next message of an upload."""

UPLOADS_AT_ONCE = 64

SHA256_HEX_DIGITS = 64


def _sha256(value: str) -> str:
    """An empty text, or the digest in lower case."""
    if value and (len(value) != SHA256_HEX_DIGITS or not set(value) <= set("0123456789abcdefABCDEF")):
        raise refusal("must be 64 hexadecimal digits")
    return value.lower()


class UploadHeaderModel(RequestModel):
    proto = pb.UploadHeader

    matter_id: MatterIdOrDocumentation
    filename: Annotated[str, Field(min_length=1, max_length=255)]
    sha256: Annotated[str, Field(max_length=64), AfterValidator(_sha256)]

    def to_domain(self) -> UploadHeader:
        return UploadHeader(self.matter_id, self.filename, self.sha256)


class Upload:
    """Reads the messages of one upload: first the header, then the pieces. A caller who sends nothing for `idle_s`
    seconds is cut off, so that a stalled upload does not occupy the service."""

    def __init__(self, requests: AsyncIterator[pb.UploadDocumentRequest], idle_s: float) -> None:
        self._requests = aiter(requests)
        self._idle_s = idle_s
        self._has_checksum = False

    async def header(self) -> UploadHeader:
        """Raises InvalidRequest if the first message is no valid header."""
        first = await self._next()
        if first is None or first.WhichOneof("payload") != "header":
            raise InvalidRequest.of("header", "must be the first message")
        header = parse(UploadHeaderModel, first.header, within="header").to_domain()
        self._has_checksum = header.sha256 != ""
        return header

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Raises InvalidRequest for a second header, for a message that holds nothing, for a stream that ends without
        its end message, and for one that goes on after it; DeadlinePassed for a caller who sends nothing for too
        long."""
        while (message := await self._next()) is not None:
            match message.WhichOneof("payload"):
                case "header":
                    raise InvalidRequest.of("header", "must be the first message and no other")
                case "end":
                    if await self._next() is not None:
                        raise InvalidRequest.of("end", "must be the last message")
                    return
                case "data":
                    yield message.data
                case _:
                    raise InvalidRequest.of("payload", "must have a header, data or the end")
        # Clients on Node end the stream of a call that they cancel, so its end alone does not prove that all was sent.
        if not self._has_checksum:
            raise InvalidRequest.of("end", "is missing: the upload broke off, or its end was not sent as last message")

    async def _next(self) -> pb.UploadDocumentRequest | None:
        timer = asyncio.timeout(self._idle_s)
        try:
            async with timer:
                return await anext(self._requests, None)
        except TimeoutError:
            if timer.expired():
                raise DeadlinePassed(self._idle_s) from None
            raise

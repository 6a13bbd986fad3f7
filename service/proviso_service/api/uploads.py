"""The messages of an upload: a header, then bytes, then the end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

from proviso_client.v1.matters_pb2 import UploadDocumentRequest
from proviso_service.api.errors import DeadlinePassed
from proviso_service.api.requests.base import parse
from proviso_service.api.requests.matters import UploadHeaderModel
from proviso_service.errors import InvalidRequest
from proviso_service.matters import UploadHeader


class Upload:
    """Reads an upload once, first the header, then the pieces. A caller that sends nothing for `idle_s` is cut off, so
    that stalled uploads do not hold the service's resources."""

    def __init__(self, requests: AsyncIterator[UploadDocumentRequest], idle_s: float) -> None:
        self._requests = aiter(requests)
        self._idle_s = idle_s
        self._has_checksum = False

    async def header(self) -> UploadHeader:
        """Raises InvalidRequest when the first message is no sound header."""
        first = await self._next()
        if first is None or first.WhichOneof("payload") != "header":
            raise InvalidRequest.of("header", "must be the first message")
        header = parse(UploadHeaderModel, first.header, within="header").to_domain()
        self._has_checksum = header.sha256 != ""
        return header

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Raises InvalidRequest for a second header, for a stream that ends without saying that this was all, and for
        one that goes on after; DeadlinePassed for a stalled caller."""
        while (message := await self._next()) is not None:
            match message.WhichOneof("payload"):
                case "header":
                    raise InvalidRequest.of("header", "must be the first message and no other")
                case "end":
                    if await self._next() is not None:
                        raise InvalidRequest.of("end", "must be the last message")
                    return
                case _:
                    yield message.data
        # Clients on Node end the stream of a call that they cancel: its end alone proves nothing, a checksum would.
        if not self._has_checksum:
            raise InvalidRequest.of("end", "is missing: the upload broke off, or its end was not sent as last message")

    async def _next(self) -> UploadDocumentRequest | None:
        timer = asyncio.timeout(self._idle_s)
        try:
            async with timer:
                return await anext(self._requests, None)
        except TimeoutError:
            if timer.expired():
                raise DeadlinePassed(self._idle_s) from None
            raise

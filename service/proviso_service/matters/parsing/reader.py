"""Where parsing runs."""

import asyncio
from typing import Protocol

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.model import ReadDocument
from proviso_service.matters.parsing.canonical import ReadingLimits
from proviso_service.matters.parsing.reading import read_document


class DocumentReader(Protocol):
    """Reads a file away from the event loop, within limits of time and size."""

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        """Raises UnsupportedDocument, with a sentence for a person, also when a limit is passed."""
        ...


class ThreadReader:
    """Parses in a worker thread. That is safe for parsers whose time grows with the size of the file and no faster: a
    thread whose time has run out cannot be stopped, it is only no longer waited for."""

    def __init__(self, limits: ReadingLimits, chunk_chars: int, time_limit_s: float = 60.0) -> None:
        self._limits = limits
        self._chunk_chars = chunk_chars
        self._time_limit_s = time_limit_s

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        try:
            async with asyncio.timeout(self._time_limit_s):
                return await asyncio.to_thread(read_document, media_type, content, self._limits, self._chunk_chars)
        except TimeoutError as error:
            raise UnsupportedDocument("Reading the file took too long. Split it and upload the parts.") from error

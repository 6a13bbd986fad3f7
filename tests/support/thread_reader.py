"""A DocumentReader for tests of what comes after reading."""

import asyncio

from proviso_service.reading.formats import read_document
from proviso_service.reading.model import ReadDocument, ReadingLimits


class ThreadReader:
    """Reads in a thread, without the limits of a process."""

    def __init__(self, limits: ReadingLimits = ReadingLimits()) -> None:  # noqa: B008 - it is frozen
        self._limits = limits

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        return await asyncio.to_thread(read_document, media_type, content, self._limits)

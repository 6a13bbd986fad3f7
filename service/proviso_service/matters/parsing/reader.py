"""Where parsing runs."""

import asyncio
from typing import Protocol

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.model import ParsedDocument
from proviso_service.matters.parsing.formats import parse


class DocumentReader(Protocol):
    """Parses a file away from the event loop, within limits of time and size."""

    async def read(self, media_type: str, content: bytes) -> ParsedDocument:
        """Raises UnsupportedDocument, with a sentence for a person, also when a limit is passed."""
        ...


class ThreadReader:
    """Parses in a worker thread. That is safe for parsers whose time grows with the size of the file and no faster: a
    thread whose time has run out cannot be stopped, it is only no longer waited for."""

    def __init__(self, max_text_chars: int, time_limit_s: float = 60.0) -> None:
        self._max_text_chars = max_text_chars
        self._time_limit_s = time_limit_s

    async def read(self, media_type: str, content: bytes) -> ParsedDocument:
        try:
            async with asyncio.timeout(self._time_limit_s):
                parsed = await asyncio.to_thread(parse, media_type, content)
        except TimeoutError as error:
            raise UnsupportedDocument("Reading the file took too long. Split it and upload the parts.") from error
        if len(parsed.text) > self._max_text_chars:
            raise UnsupportedDocument(
                f"The text is longer than {self._max_text_chars:,} characters. Split it and upload the parts."
            )
        if not parsed.text.strip():
            raise UnsupportedDocument("The file holds no text.")
        return parsed

"""Reads files for the service with the reading library: the service's settings become the library's limits, and the
library's failures become the service's errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from proviso_service.errors import Draining, FailureCause, NotReady, UnsupportedDocument
from proviso_service.reading import (
    DocumentReader,
    FileTooLong,
    ReadDocument,
    ReaderClosed,
    ReaderUnavailable,
    ReadingLimits,
    ReadingTooSlow,
    UnreadableFile,
    format_of,
)
from proviso_service.settings import DocumentSettings


def reading_limits(settings: DocumentSettings) -> ReadingLimits:
    """Returns the limits of reading that the settings give."""
    return ReadingLimits(
        time_limit_s=settings.read_time_limit_s,
        memory_bytes=settings.read_memory_mb * 1024 * 1024,
    )


class FileReader:
    """Reads the files of matters, and those that an agent's folder refers to. Its methods raise UnsupportedDocument,
    with a sentence for a person, for a file that is not read; those that wait also raise Draining once the reader is
    closed, and NotReady when no process can be started to read in."""

    def __init__(self, reader: DocumentReader) -> None:
        self._reader = reader

    def media_type(self, filename: str) -> str:
        """Returns the media type that the extension of the name stands for."""
        with _as_service_errors():
            return format_of(filename).media_type

    def check(self, filename: str) -> None:
        """Raises UnsupportedDocument where a file of this name would not be read."""
        self.media_type(filename)

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        """Returns the text, structure and passages of a file."""
        with _as_service_errors():
            return await self._reader.read(media_type, content)

    async def text(self, filename: str, content: bytes) -> str:
        """Returns the whole text of a file."""
        return (await self.read(self.media_type(filename), content)).parsed.text


@contextmanager
def _as_service_errors() -> Iterator[None]:
    try:
        yield
    except FileTooLong as too_long:
        raise UnsupportedDocument(too_long.message, FailureCause.TOO_LONG) from too_long
    except ReadingTooSlow as too_slow:
        raise UnsupportedDocument(too_slow.message, FailureCause.TIMED_OUT) from too_slow
    except UnreadableFile as unreadable:
        raise UnsupportedDocument(unreadable.message) from unreadable
    except ReaderClosed as closed:
        raise Draining from closed
    except ReaderUnavailable as unavailable:
        raise NotReady("Files cannot be read at the moment.") from unavailable

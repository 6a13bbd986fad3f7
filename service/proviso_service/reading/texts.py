"""The text of files that belong to no matter."""

from proviso_service.reading.formats import format_of
from proviso_service.reading.reader import DocumentReader


class FileTexts:
    """Reads what ingestion reads, as it does."""

    def __init__(self, reader: DocumentReader) -> None:
        self._reader = reader

    def check(self, filename: str) -> None:
        """Raises UnsupportedDocument for a name of which the file will not be read."""
        format_of(filename)

    async def text(self, filename: str, content: bytes) -> str:
        """Raises UnsupportedDocument, with a sentence for a person."""
        read = await self._reader.read(format_of(filename).media_type, content)
        return read.parsed.text

"""What the catalog needs of others."""

from typing import Protocol


class ReferenceReader(Protocol):
    """Reads references that are no Markdown, away from the event loop and within limits."""

    def check(self, filename: str) -> None:
        """Raises UnsupportedDocument for a name of which the file will not be read."""
        ...

    async def text(self, filename: str, content: bytes) -> str:
        """The text of a file. Raises UnsupportedDocument, with a sentence for a person."""
        ...

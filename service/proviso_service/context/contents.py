"""Contents that request contexts name by hash, kept so that old payloads can be rebuilt."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Protocol


class ContentStore(Protocol):
    """Contents of the catalog's items and the service's own instructions, as they were used. What a turn used is stored
    with its end (turns/ports.TurnOutcome)."""

    async def contents(self, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        """Those that are stored, by their SHA-256 in hexadecimal."""
        ...


def content_sha256(content: str) -> str:
    """In hexadecimal."""
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()


def utf8_bytes(text: str) -> int:
    """How many the text takes."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))

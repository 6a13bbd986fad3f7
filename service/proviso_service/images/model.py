"""Images that a message names by URL, loaded by the service itself; the port of what loads them."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Image:
    """A checked image file. `media_type`: image/png, image/jpeg, image/gif or image/webp, as its bytes say."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class NoImage:
    """`reason` says why there is none, in words that follow "could not be loaded:"; never in words of the server's."""

    reason: str


class ImageFetcher(Protocol):
    async def fetch(self, url: str, tenant: str) -> Image | NoImage:
        """The image at an https URL, for a message of the tenant's. Within a time limit of its own; raises nothing that
        concerns the URL."""
        ...

"""LateImageFetcher makes a WebImageFetcher for the first image: the HTTP client that it uses takes long to import, and
most services see no image."""

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING

from proviso_service.images.destinations import Destinations, NameLookup
from proviso_service.images.image import Image, ImageConfig, NoImage

if TYPE_CHECKING:
    from proviso_service.images.fetcher import WebImageFetcher


class LateImageFetcher:
    """An ImageFetcher."""

    def __init__(self, settings: ImageConfig) -> None:
        self._settings = settings
        self._making = asyncio.Lock()
        self._made: WebImageFetcher | None = None
        self._stack = ExitStack()

    def close(self) -> None:
        """Stops the threads that look names up and decode images, without waiting for those under way."""
        self._stack.close()

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        """The checked image at a URL, with at most `max_bytes` bytes."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return await self._made.fetch(url, tenant, max_bytes)

    def _make(self) -> "WebImageFetcher":
        from proviso_service.images.fetcher import WebImageFetcher

        names = NameLookup()
        self._stack.callback(names.close)
        fetcher = WebImageFetcher(self._settings, Destinations(names, self._settings.allowed_hosts))
        self._stack.callback(fetcher.close)
        return fetcher

"""PlainBlobs is what sealing, backups and the start of the service need of a store of bytes, wherever it keeps them."""

from contextlib import AbstractAsyncContextManager
from typing import IO, Protocol

from proviso_service.matters import BlobStore


class PlainBlobs(BlobStore, Protocol):
    """A BlobStore that keeps bytes as they are put. `str` of it names its place to operators."""

    async def open(self) -> None:
        """Makes the store ready; it must be called first. Raises Unavailable."""
        ...

    async def opened(self, tenant: str, key: str) -> IO[bytes]:
        """Opens a blob for reading as a file, which the caller closes. Raises KeyError."""
        ...

    async def holds(self, tenant: str, key: str) -> bool:
        """Whether there is a blob."""
        ...

    async def is_empty(self) -> bool:
        """Whether there is nothing of any tenant."""
        ...

    def folders_with(self, suffix: str, besides: set[str]) -> set[str]:
        """The folders of tenants, other than those that are named, which have a blob whose key ends so. Not for the
        event loop."""
        ...

    def filled(self) -> AbstractAsyncContextManager[BlobStore]:
        """While the context is open, what is put into the store that it yields fills this store, which has to be empty.
        Where the context ends in an exception, this store is empty again."""
        ...

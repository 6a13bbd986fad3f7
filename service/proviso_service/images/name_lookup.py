"""Names looked up by the operating system."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

_THREADS = 8


class NameLookup:
    """A Resolver with threads of its own: a look-up cannot be interrupted, and names that take long must not keep the
    service's other threads busy."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="name-lookup")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Raises OSError where the name has no address."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _addresses, host, port)

    def close(self) -> None:
        """Waits for nothing."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except UnicodeError as error:
        raise OSError(f"{host!r} is no host name") from error

"""WebImageFetcher fetches images from the web safely.

A URL comes from whoever wrote the message, so neither the URL nor its server is trusted. Only https URLs are fetched,
from public addresses, unless the operator lists other hosts. The connection goes to the very address that was checked.
Cookies, credentials and proxies are not used. Each redirect is checked like the first URL. Bytes, time, pixels and the
number of fetches at a time are limited."""

import asyncio
import functools
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpcore
import httpx
import structlog
from httpcore import AsyncNetworkBackend, AsyncNetworkStream

from proviso_service.concurrency import SharedPlaces
from proviso_service.images.decoding import ImageDecoder
from proviso_service.images.destinations import Address, Destination, Destinations, FetchRefused
from proviso_service.images.image import MAX_URL_CHARS, Image, ImageConfig, NoImage

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]

_HEAD_BYTES = 32 * 1024
_READ_BYTES = 4 * 1024


class HeadTooLong(Exception):
    """The server sent more than 32 KiB of headers."""


class BoundedNetwork(AsyncNetworkBackend):
    """Opens the connections of one request. Until `head_received` is called, at most 32 KiB are read from them, in
    small pieces."""

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()
        self._left: int | None = _HEAD_BYTES

    def head_received(self) -> None:
        """Lifts the limit; the reader of the body limits what follows."""
        self._left = None

    async def read(self, stream: AsyncNetworkStream, max_bytes: int, timeout_s: float | None) -> bytes:
        """Reads from one of the connections. Raises HeadTooLong."""
        if self._left is None:
            return await stream.read(max_bytes, timeout_s)
        if not self._left:
            raise HeadTooLong
        read = await stream.read(min(max_bytes, _READ_BYTES, self._left), timeout_s)
        self._left -= len(read)
        return read

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the names are httpcore's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> AsyncNetworkStream:
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(AsyncNetworkStream):
    def __init__(self, stream: AsyncNetworkStream, network: BoundedNetwork) -> None:
        self._stream = stream
        self._network = network

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return await self._network.read(self._stream, max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


_log = structlog.get_logger(__name__)

_MAX_REDIRECTS = 3
_MAX_ADDRESSES_TRIED = 3
_MAX_PIECES = 20_000
_PIECES_AT_A_TIME = 100
"""Pieces after which other tasks get to run. A server can send thousands of chunks of one byte, which would otherwise
be read without any pause."""

_BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK = 200
_HEADERS: Mapping[bytes | str, bytes | str] = {
    "Accept": "image/png, image/jpeg, image/webp, image/gif",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "proviso",
}
_STATUS_REASONS = {
    401: "its server asks for a sign-in",
    403: "its server refuses access to it",
    404: "its server does not have it",
    410: "its server does not have it any more",
}


class WebImageFetcher:
    """An ImageFetcher over HTTP/1.1. `tls` makes the TLS context at the first fetch over https: that takes some 0.1 s,
    which a service whose model takes no images need not spend."""

    def __init__(
        self,
        settings: ImageConfig,
        destinations: Destinations,
        tls: Callable[[], ssl.SSLContext] = httpx.create_ssl_context,
    ) -> None:
        self._settings = settings
        self._destinations = destinations
        self._tls = functools.cache(tls)
        self._places = SharedPlaces(settings.at_once, settings.tenant_at_once)
        self._decoder = ImageDecoder(settings)

    def close(self) -> None:
        """Stops the threads that decode images, without waiting for images that are being decoded."""
        self._decoder.close()

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        """The checked image at a URL, with at most `max_bytes` bytes. The time limit includes the wait for a place
        among the fetches, and decoding."""
        limit_s = self._settings.time_limit_s
        try:
            async with asyncio.timeout(limit_s), self._places.one(tenant):
                return await self._decoder.image(await self._follow(url), max_bytes)
        except TimeoutError:
            reason = f"it did not arrive within {limit_s:g} seconds"
        except FetchRefused as refused:
            reason = str(refused)
        except (*_BROKEN, HeadTooLong):
            reason = "its server did not answer as a web server does, or the connection broke"
        _log.info("image_not_loaded", reason=reason)
        return NoImage(reason)

    async def _follow(self, url: str | httpx.URL) -> bytes:
        """Fetches the file and follows redirects. Raises FetchRefused, HeadTooLong and httpcore's exceptions."""
        if len(str(url)) > MAX_URL_CHARS:
            raise FetchRefused(f"its address has more than {MAX_URL_CHARS:,} characters")
        for _ in range(_MAX_REDIRECTS + 1):
            found = await self._get(await self._destinations.check(url))
            if isinstance(found, bytes):
                return found
            url = found
        raise FetchRefused(f"its address leads on more than {_MAX_REDIRECTS} times")

    async def _get(self, destination: Destination) -> bytes | httpx.URL:
        """The file, or the URL that the server redirects to."""
        tried = destination.addresses[:_MAX_ADDRESSES_TRIED]
        for address in tried[:-1]:
            try:
                return await self._get_from(address, destination, len(tried))
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._get_from(tried[-1], destination, len(tried))

    async def _get_from(self, address: Address, destination: Destination, tried: int) -> bytes | httpx.URL:
        url = destination.url
        at = httpcore.URL(scheme=url.scheme, host=str(address), port=destination.port, target=url.raw_path)
        request = httpcore.Request(
            "GET",
            at,
            headers={"Host": url.netloc.decode("ascii"), **_HEADERS},
            extensions={
                # The connection goes to an address, but the certificate must be that of the name.
                "sni_hostname": url.raw_host.decode("ascii"),
                "timeout": {"connect": self._settings.time_limit_s / tried},
            },
        )
        # Each request has a connection of its own, so that no cookie or proxy is used, no redirect is followed by
        # itself, and no connection for one name serves another name at the same address.
        network = BoundedNetwork()
        tls = await asyncio.to_thread(self._tls) if url.scheme == "https" else None
        async with httpcore.AsyncHTTPConnection(at.origin, tls, network_backend=network) as connection:
            response = await connection.handle_async_request(request)
            network.head_received()
            try:
                return await self._read(response, url)
            finally:
                await response.aclose()

    async def _read(self, response: httpcore.Response, url: httpx.URL) -> bytes | httpx.URL:
        headers = httpx.Headers(response.headers)
        if response.status in _REDIRECTS and "location" in headers:
            return _next_url(url, headers["location"])
        if response.status != _OK:
            raise FetchRefused(_STATUS_REASONS.get(response.status, "its server answered with an error"))
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise FetchRefused("its server sent it compressed")
        return await self._content(response, headers.get("content-length", ""))

    async def _content(self, response: httpcore.Response, announced: str) -> bytes:
        most = self._settings.max_bytes
        if announced.isascii() and announced.isdigit() and int(announced) > most:
            raise _too_large(most)
        content = bytearray()
        pieces = 0
        async for piece in response.aiter_stream():
            content += piece
            pieces += 1
            if len(content) > most:
                raise _too_large(most)
            if pieces > _MAX_PIECES:
                raise FetchRefused("its server sent it in too many pieces")
            if not pieces % _PIECES_AT_A_TIME:
                await asyncio.sleep(0)
        return bytes(content)


def _next_url(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return url.join(location)
    except (httpx.InvalidURL, ValueError):
        raise FetchRefused("its address leads on to something that is no address") from None


def _too_large(most: int) -> FetchRefused:
    return FetchRefused(f"it is larger than {most / 2**20:.3g} MB")

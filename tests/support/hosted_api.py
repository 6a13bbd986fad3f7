"""What the stand-ins for hosted models have in common: HTTP on loopback, and faults on demand."""

import asyncio
import json
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, TypeVar

from tests.support.connections import Connections


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def encoded(self) -> bytes:
        headers = {"content-type": self.content_type, "content-length": str(len(self.body))} | self.headers
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


Fault = Callable[[Reply], Reply | None]
"""What is answered in place of a good answer; None hangs up without one."""


def says(body: bytes, status: int = 200, content_type: str = "application/json", **headers: str) -> Fault:
    return lambda _: Reply(status, body, headers, content_type)


def changed(change: Callable[[dict[str, Any]], None]) -> Fault:
    """The good answer with something changed in it."""

    def fault(reply: Reply) -> Reply:
        body = json.loads(reply.body)
        change(body)
        return replace(reply, body=json.dumps(body).encode())

    return fault


def hangs_up(_: Reply) -> None:
    """No answer, and the connection is closed."""


def cut_off(reply: Reply) -> Reply:
    """Half of the good answer, and the connection is closed."""
    headers = {"content-length": str(len(reply.body)), "connection": "close"}
    return replace(reply, body=reply.body[: len(reply.body) // 2], headers=reply.headers | headers)


class HostedApi(ABC):
    """Answers requests one by one. `refused` says what was wrong with those that were not sound; `root` stands before
    every path."""

    root = ""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.attempts = 0
        self.most_running = 0
        self._running = 0
        self._changed = asyncio.Condition()
        self._open = asyncio.Event()
        self._open.set()
        self._next: deque[Fault] = deque()
        self._always: dict[str, Fault] = {}
        self._on_word: dict[str, Fault] = {}
        self.connections = Connections(self._serve)
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.root}"

    @abstractmethod
    def answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        """The good answer, or what is wrong with the request."""

    @abstractmethod
    def last_texts(self) -> Sequence[str]:
        """The texts of the request that was asked last."""

    def then(self, *faults: Fault) -> None:
        """For the next requests, one each."""
        self._next.extend(faults)

    def always(self, path: str, fault: Fault) -> None:
        """For every request to a path below the root, such as "rerankings"."""
        self._always[f"{self.root}/{path}"] = fault

    def on_word(self, word: str, fault: Fault) -> None:
        """For every request with a text that holds the word."""
        self._on_word[word] = fault

    def shut(self) -> None:
        """Requests get no answer until `open`."""
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def until_running(self, count: int) -> None:
        """Until exactly so many requests wait for their answer."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self._running == count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the other side is gone
            while (reply := await self._exchange(reader)) is not None:
                writer.write(reply.encoded())
                await writer.drain()
                if reply.headers.get("connection") == "close":
                    return

    async def _exchange(self, reader: asyncio.StreamReader) -> Reply | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        self.attempts += 1
        await self._count(1)
        try:
            # Whoever has hung up is not answered, and no longer counts.
            await self._open_or_gone(reader)
        finally:
            await self._count(-1)
        reply = self.answer(method, path, headers, content)
        fault = self._fault(path) if reply.status == HTTPStatus.OK else None
        return fault(reply) if fault else reply

    def _fault(self, path: str) -> Fault | None:
        """Of the request that was asked last."""
        texts = self.last_texts()
        on_word = (fault for word, fault in self._on_word.items() if any(word in text for text in texts))
        return self._next.popleft() if self._next else next(on_word, self._always.get(path))

    async def _open_or_gone(self, reader: asyncio.StreamReader) -> None:
        opened = asyncio.ensure_future(self._open.wait())
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({opened, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not opened.done():
                raise ConnectionError("the other side is gone")
        finally:
            for waiting in (opened, gone):
                waiting.cancel()
            await asyncio.gather(opened, gone, return_exceptions=True)

    async def _count(self, more: int) -> None:
        async with self._changed:
            self._running += more
            self.most_running = max(self._running, self.most_running)
            self._changed.notify_all()


Api = TypeVar("Api", bound=HostedApi)


@asynccontextmanager
async def serving(api: Api, tls: ssl.SSLContext | None = None) -> AsyncIterator[Api]:
    """Serves on loopback, over TLS where that is given. Fails at the end where a request was refused, unless the test
    has taken that off `refused`."""
    server = await asyncio.start_server(api.connections.accept, "127.0.0.1", 0, ssl=tls)
    api.port = server.sockets[0].getsockname()[1]
    try:
        yield api
    finally:
        server.close()
        await api.connections.close()
        await server.wait_closed()
    assert api.refused == []

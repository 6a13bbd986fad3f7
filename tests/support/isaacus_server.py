"""A stand-in for Isaacus's API on loopback: the real wire, with every request checked, and faults on demand."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from tests.support.connections import Connections
from tests.support.isaacus_answers import answer_to
from tests.support.isaacus_wire import REQUESTS, Request

KEY = "isaacus-test-key-5f2c"


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


def problem(status: int, title: str = "", detail: str = "", **headers: str) -> Fault:
    """An RFC 7807 problem; `retry_after="2"` is the header Retry-After."""
    reply = _problem(status, title, detail, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda _: reply


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


@dataclass(frozen=True)
class Asked:
    path: str
    request: Request
    raw: dict[str, Any]
    headers: dict[str, str]


class IsaacusServer:
    """`asked` are the sound requests, in the order in which they came; `refused` says what was wrong with others."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
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
        return f"http://127.0.0.1:{self.port}/v1"

    def then(self, *faults: Fault) -> None:
        """For the next requests, one each."""
        self._next.extend(faults)

    def always(self, path: str, fault: Fault) -> None:
        """For every request to a path such as "rerankings"."""
        self._always[f"/v1/{path}"] = fault

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

    def texts_of(self, path: str) -> list[str]:
        """All that was sent there."""
        return [text for asked in self.asked if asked.path == f"/v1/{path}" for text in asked.request.texts]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the other side is gone
            while (reply := await self._exchange(reader)) is not None:
                writer.write(reply.encoded())
                await writer.drain()

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
        reply = self._answer(method, path, headers, content)
        fault = self._fault(path) if reply.status == HTTPStatus.OK else None
        return fault(reply) if fault else reply

    def _fault(self, path: str) -> Fault | None:
        """Of the request that was asked last."""
        texts = self.asked[-1].request.texts
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

    def _answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        """The good answer, or what is wrong with the request."""
        if (method, path in REQUESTS) != ("POST", True):
            return self._refusal(404, "Not found error", f"{method} {path}")
        if headers.get("authorization") != f"Bearer {KEY}":
            return self._refusal(401, "Authentication error", "The API key is not valid.")
        if headers.get("content-type") != "application/json":
            return self._refusal(400, "Bad request error", "The content type is not application/json.")
        try:
            request = REQUESTS[path].model_validate_json(content)
        except ValidationError as error:
            return self._refusal(400, "Bad request error", str(error))
        self.asked.append(Asked(path, request, json.loads(content), headers))
        return Reply(200, json.dumps(answer_to(request)).encode())

    def _refusal(self, status: int, title: str, detail: str) -> Reply:
        self.refused.append(detail)
        return _problem(status, title, detail, {})


def _problem(status: int, title: str, detail: str, headers: dict[str, str]) -> Reply:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": "/requests/1"}
    return Reply(status, json.dumps(body).encode(), headers, "application/problem+json")


@asynccontextmanager
async def isaacus_server() -> AsyncIterator[IsaacusServer]:
    """Fails at the end where a request was refused, unless the test has taken that off `refused`."""
    isaacus = IsaacusServer()
    server = await asyncio.start_server(isaacus.connections.accept, "127.0.0.1", 0)
    isaacus.port = server.sockets[0].getsockname()[1]
    try:
        yield isaacus
    finally:
        server.close()
        await isaacus.connections.close()
        await server.wait_closed()
    assert isaacus.refused == []

"""A server on loopback that answers by script: what stand-ins for providers of chat models have in common."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from tests.support.connections import Connections
from tests.support.gemini_replies import Ending, HangsUp, Refused, Reply, Streamed, encoded

Asked = TypeVar("Asked")


class ScriptedServer(Generic[Asked]):
    """`asked` are the sound requests, in the order in which they came; `refused` says what was wrong with others.
    `attempts` counts both, `headers` are of both."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.refused: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.attempts = 0
        self.port = 0
        self._script: deque[Reply] = deque()
        self.connections = Connections(self._serve)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def then(self, *replies: Reply) -> None:
        """For the next requests, one each."""
        self._script.extend(replies)

    @property
    def left(self) -> int:
        """Replies that nobody has asked for."""
        return len(self._script)

    async def all_hung_up(self) -> None:
        """Returns when nobody holds a connection any more."""
        while self.connections:  # noqa: ASYNC110 - there is nothing else to wait for
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the other side is gone
            while await self._exchange(reader, writer):
                pass

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; False when the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        self.attempts += 1
        self.headers.append(headers)
        reply = self.check(head[0], headers, content)
        if isinstance(reply, HangsUp):
            return False
        if isinstance(reply, Refused):
            await _refuse(reply, writer)
            return True
        return await _stream(reply, reader, writer)

    def check(self, request_line: str, headers: dict[str, str], content: bytes) -> Reply:
        """What `next_reply` says, or what is wrong with the request."""
        raise NotImplementedError

    def next_reply(self) -> Reply | None:
        """None when the script holds no further one."""
        return self._script.popleft() if self._script else None


async def _refuse(reply: Refused, writer: asyncio.StreamWriter) -> None:
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"content-type": "application/json; charset=UTF-8", "content-length": str(len(body))} | reply.headers
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


async def _stream(reply: Streamed, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Server-sent events in a chunked body; False when the connection ends with it."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    await writer.drain()
    if reply.held is not None:
        await reply.held.wait()
    for piece in map(encoded, reply.chunks):
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()
    if reply.ending is Ending.STALLS:
        await reader.read(1)  # returns when the other side hangs up
        return False
    if reply.ending is Ending.CUT:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


Server = TypeVar("Server", bound=ScriptedServer[Any])


@asynccontextmanager
async def serving(scripted: Server) -> AsyncIterator[Server]:
    """Fails at the end where a request was refused, unless the test has taken that off `refused`."""
    server = await asyncio.start_server(scripted.connections.accept, "127.0.0.1", 0)
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield scripted
    finally:
        server.close()
        await scripted.connections.close()
        await server.wait_closed()
    assert scripted.refused == [], scripted.refused

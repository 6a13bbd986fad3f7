"""The part of the service that keeps documents, as a process of its own that is there to be killed.

The whole service takes several times as long to start. Here a process that has imported everything is forked for each
start, so that only what is opened takes time."""

import asyncio
import multiprocessing
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from proviso_service.matters.model import Document, UploadHeader
from tests.support.audit import check_sound
from tests.support.matters_world import TENANT, MattersWorld, matters_world, pieces
from tests.support.processes import children_of, ended
from tests.support.word_embedder import WordEmbedder

LIMIT_S = 60.0
PROGRESS = 0
"""The number of answers that nobody asked for: a document has come a step further."""


class Killed(Exception):
    """The process died before it answered."""


class DoomedService:
    """Takes orders, which are carried out at the same time, until it is killed."""

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, folder), daemon=True)
        self._process.start()
        theirs.close()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._orders = PROGRESS
        self._steps_to_live = -1
        self._children: set[int] = set()

    async def ready(self) -> None:
        """Reads answers from now on; returns when the process has opened everything."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._read)
        await self.order("hello")

    async def order(self, name: str, **arguments: Any) -> Any:
        """The answer of a method of Orders. Raises Killed, and AssertionError when the order could not be carried
        out."""
        self._orders += 1
        answer = self._answers[self._orders] = asyncio.get_running_loop().create_future()
        self._connection.send((self._orders, name, arguments))
        async with asyncio.timeout(LIMIT_S):
            return await answer

    def kill_after(self, steps: int) -> None:
        """Kills the process when documents have come so many more steps further."""
        self._steps_to_live = steps

    async def kill(self) -> None:
        """As `kill -9`; returns when the process and those it has started are gone."""
        self._kill()
        await asyncio.to_thread(self._process.join, LIMIT_S)
        async with asyncio.timeout(LIMIT_S):
            await ended(self._children)

    def _kill(self) -> None:
        if self._connection.closed:
            return
        self._children = children_of(self._process.pid or 0)
        self._process.kill()
        asyncio.get_running_loop().remove_reader(self._connection.fileno())
        self._connection.close()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Killed())
                answer.exception()  # not everybody waits for the answer
        self._answers = {}

    def _read(self) -> None:
        try:
            number, failure, answer = self._connection.recv()
        except (EOFError, ConnectionError):
            raise AssertionError("the process has ended of itself") from None
        if number == PROGRESS:
            self._steps_to_live -= 1
            if self._steps_to_live == 0:
                self._kill()
        elif failure:
            self._answers.pop(number).set_exception(AssertionError(failure))
        else:
            self._answers.pop(number).set_result(answer)


class Orders:
    """What can be asked of the process."""

    def __init__(self, world: MattersWorld, connection: Connection) -> None:
        self._world = world
        self._connection = connection

    async def hello(self) -> None: ...

    async def create(self) -> str:
        return (await self._world.matter()).matter_id

    async def upload(self, matter_id: str, filename: str, content: bytes) -> str:
        result = await self._world.matters.upload(TENANT, UploadHeader(matter_id, filename), pieces(content, 64 * 1024))
        return result.document.document_id

    async def watch(self, matter_id: str) -> None:
        """Tells each step of the matter's documents; returns when all are final."""
        async for _ in self._world.matters.watch(TENANT, matter_id, []):
            self._connection.send((PROGRESS, "", None))

    async def delete_document(self, matter_id: str, document_id: str) -> None:
        await self._world.matters.delete_document(TENANT, matter_id, document_id)

    async def delete_matter(self, matter_id: str) -> None:
        await self._world.matters.delete(TENANT, matter_id)

    async def settle(self) -> Sequence[Document]:
        """Waits until nothing is under way, checks all that is kept, and returns the documents."""
        await self._world.at_rest()
        return (await check_sound(self._world)).documents


def _serve(connection: Connection, folder: Path) -> None:
    # Small slices, so that deletions of matters are cut between two of them.
    with patch("proviso_service.backends.sql.matters.SLICE_DOCUMENTS", 2):
        asyncio.run(_carry_out_orders(connection, folder))


async def _carry_out_orders(connection: Connection, folder: Path) -> None:
    async with matters_world(folder, WordEmbedder()) as world, world.running(), asyncio.TaskGroup() as running:
        orders = Orders(world, connection)
        async for number, name, arguments in _received(connection):
            running.create_task(_carry_out(orders, connection, number, name, arguments))


async def _received(connection: Connection) -> AsyncIterator[tuple[int, str, dict[str, Any]]]:
    while True:
        try:
            yield await asyncio.to_thread(connection.recv)
        except EOFError:
            return


async def _carry_out(orders: Orders, connection: Connection, number: int, name: str, arguments: dict[str, Any]) -> None:
    try:
        connection.send((number, "", await getattr(orders, name)(**arguments)))
    except Exception:
        connection.send((number, traceback.format_exc(), None))


@asynccontextmanager
async def doomed_service(folder: Path) -> AsyncIterator[DoomedService]:
    """A process that is killed at the end of the block at the latest."""
    service = DoomedService(folder)
    try:
        await service.ready()
        yield service
    finally:
        await service.kill()

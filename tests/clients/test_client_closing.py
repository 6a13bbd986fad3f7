"""A client that is closed: who uses it, or has used it until then, is told so, with either client."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest

from proviso_client import AsyncClient
from proviso_client.errors import Cancelled
from proviso_client.steps import Token
from tests.support.client_kinds import Connect, events_until
from tests.support.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

Use = Callable[[AsyncClient], Awaitable[object]]


@pytest.fixture
def question() -> str:
    """One that no other test asks."""
    return f"What about {uuid4()}?"


async def test_who_reads_a_turn_is_told(connect: Connect, staged: Stage, question: str) -> None:
    staged.held(question)
    client = connect(staged.target)
    turn = client.chat(question, matter_id=staged.matter_id)
    await events_until(turn, Token)
    reading = asyncio.ensure_future(turn.result())
    await client.close()
    with pytest.raises(Cancelled, match="was closed"):
        await reading


async def test_who_waits_for_an_answer_is_told(connect: Connect, staged: Stage, question: str) -> None:
    model, _ = staged.held(question)
    client = connect(staged.target)
    waiting = asyncio.create_task(_invoked(client, question, staged.matter_id))
    await model.held.wait()
    await client.close()
    with pytest.raises(Cancelled):
        await waiting


async def _invoked(client: AsyncClient, question: str, matter_id: str) -> object:
    return await client.invoke(question, matter_id=matter_id)


async def _listed(client: AsyncClient) -> object:
    return [matter async for matter in client.matters.list()]


async def _watched(client: AsyncClient) -> object:
    return [state async for state in client.documents.watch("m")]


USES: dict[str, Use] = {
    "turn": lambda client: client.chat("Hello").result(),
    "call": lambda client: client.get_turn("t"),
    "pages": _listed,
    "stream": _watched,
    "upload": lambda client: client.documents.upload("m", b"text", filename="a.txt"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_nothing_can_be_asked_for_afterwards(connect: Connect, staged: Stage, use: Use) -> None:
    client = connect(staged.target)
    other = client.for_user("bob")
    await client.close()
    for closed in (client, other):
        with pytest.raises(Cancelled, match="was closed"):
            await use(closed)

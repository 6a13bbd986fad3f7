"""Turns over the store that the service runs with, on both databases."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.turns import ChatMessage, ExitReason, MessageRole, Token, TurnOutcome, TurnRequest, TurnState
from tests.support.migrated import state_in
from tests.support.postgres_server import PostgresServer
from tests.turns.scripted import (
    ANN,
    ANSWER,
    BEN,
    TURN_START,
    Gated,
    Program,
    ScriptedExecution,
    collect,
    completed,
    emits,
    final_of,
    running,
)

REQUEST = TurnRequest(message="What is the notice period?", session_id="lease", request_id="r-1")

MORNING = datetime(2024, 5, 1, 8, tzinfo=UTC)
LEASE_S = 0.6


@pytest.fixture(params=["sqlite", "postgres"])
def state_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield state_in(tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.state() as url:
        yield url


@pytest.fixture
async def database(state_url: str) -> AsyncIterator[Database]:
    database = Database(state_url)
    yield database
    await database.close()


async def test_a_turn_s_end_and_its_session_s_messages_are_stored_together(database: Database) -> None:
    messages = (ChatMessage(MessageRole.USER, REQUEST.message), ChatMessage(MessageRole.ASSISTANT, ANSWER))

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        execution.emit(TURN_START)
        return TurnOutcome(completed().final_state, messages)

    async with running(Program(script), SqlTurnStore(database)) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        final = final_of(await collect(turns, turn_id))
        record = await turns.get(ANN, turn_id)
        assert (record.state, record.last_sequence, record.final_state) == (TurnState.ENDED, 2, final)
        stored = await SqlSessionStore(database).history(ANN, "lease", 1_000)
        assert [(m.role, m.content) for m in stored] == [(m.role, m.content) for m in messages]


async def test_sessions_and_request_ids_hold_over_the_store(database: Database) -> None:
    program = Gated()
    async with running(program, SqlTurnStore(database)) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        assert await turns.start(ANN, REQUEST) == turn_id
        with pytest.raises(SessionBusy) as busy:
            await turns.start(ANN, TurnRequest(message="?", session_id="lease"))
        assert busy.value.turn_id == turn_id
        with pytest.raises(RequestIdReused):
            await turns.start(ANN, TurnRequest(message="?", request_id="r-1"))
        with pytest.raises(TurnUnknown):
            await turns.get(BEN, turn_id)
        assert turns.running == 1
        program.gate.set()
        assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.COMPLETED


async def test_turns_of_a_process_that_died_go_on_when_it_comes_back(database: Database) -> None:
    store = SqlTurnStore(database)
    await store.begin(ANN, "left-running", REQUEST, "", "replica-1", 3_600)
    async with running(emits(TURN_START, Token("t1", "Hm")), store) as turns:
        final = await turns.wait(ANN, "left-running")
        assert final.exit_reason is ExitReason.COMPLETED
        record = await turns.get(ANN, "left-running")
        assert (record.take_overs, record.final_state) == (1, final)
        await turns.wait(ANN, await turns.start(ANN, TurnRequest(message="?", session_id="lease")))


class RenewalsSeen(SqlTurnStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.renewed = asyncio.Event()

    async def renew(self, owner: str, turn_ids: list[str], lease_s: float) -> Sequence[str]:
        lost = await super().renew(owner, turn_ids, lease_s)
        self.renewed.set()
        return lost


async def test_a_renewed_lease_outlasts_its_first_term(state_url: str) -> None:
    elapsed = timedelta()
    database = Database(state_url, now=lambda: MORNING + elapsed)
    store = RenewalsSeen(database)
    async with running(Gated(), store, lease_s=LEASE_S) as turns:
        turn_id = await turns.start(ANN, REQUEST)
        for _ in range(2):
            elapsed += timedelta(seconds=LEASE_S * 0.9)
            store.renewed.clear()
            await store.renewed.wait()
        assert await store.take_over("replica-2", LEASE_S, 10, 0) == []
        assert (await turns.get(ANN, turn_id)).state is TurnState.RUNNING
    await database.close()


async def test_many_turns_at_once_are_all_stored(database: Database) -> None:
    async with running(emits(TURN_START), SqlTurnStore(database)) as turns:
        turn_ids = await asyncio.gather(*(turns.start(ANN, TurnRequest(message=str(n))) for n in range(40)))
        await asyncio.gather(*(turns.wait(ANN, turn_id) for turn_id in turn_ids))
        records = await asyncio.gather(*(turns.get(ANN, turn_id) for turn_id in turn_ids))
        assert {record.state for record in records} == {TurnState.ENDED}

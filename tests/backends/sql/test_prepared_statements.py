from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count

import pytest
from sqlalchemy import Connection, bindparam, select

from proviso_service.backends.sql.conversation_tables import turns as turns_table
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.messages import history_within
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.identity import Caller
from proviso_service.turns import ChatMessage, MessageRole, TurnRequest, TurnState
from tests.support.counting import calls_of, sqlite_steps
from tests.support.stored import an_outcome

ANNA = Caller("acme", "anna")
NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
VALUES = {
    "tenant": "acme",
    "user_id": "anna",
    "session_id": "",
    "request_id": "",
    "payload_sha256": "",
    "owner": "",
    "state": TurnState.RUNNING,
    "lease_expire_time": NOW,
    "last_sequence": 0,
    "create_time": NOW,
    "language": "de",
}
ADD = insert(turns_table)
ADD_PREPARED = Prepared(ADD, ["turn_id", *VALUES])
FIND = select(turns_table).where(turns_table.c.turn_id == bindparam("this_turn"))


async def test_a_prepared_statement_writes_and_reads_what_sqlalchemy_does(database: Database) -> None:
    def work(transaction: Connection) -> None:
        transaction.execute(ADD, VALUES | {"turn_id": "plain"})
        assert ADD_PREPARED.run(transaction, VALUES | {"turn_id": "prepared"}) == 1
        for turn_id in ("plain", "prepared"):
            row = Prepared(FIND).one(transaction, {"this_turn": turn_id})
            assert row == tuple(transaction.execute(FIND, {"this_turn": turn_id}).one())
            assert (row.create_time, row.state) == (NOW, TurnState.RUNNING)
        assert Prepared(FIND).one(transaction, {"this_turn": "unknown"}) is None

    await database.write(work)


@pytest.mark.on_sqlite
async def test_a_prepared_statement_makes_a_third_of_the_calls_of_sqlalchemy_at_most(database: Database) -> None:
    def work(transaction: Connection) -> None:
        names = map("turn-{}".format, count())

        def plain() -> None:
            transaction.execute(ADD, VALUES | {"turn_id": next(names)})

        def prepared() -> None:
            ADD_PREPARED.run(transaction, VALUES | {"turn_id": next(names)})

        plain()  # compiles it
        assert calls_of(prepared) * 3 <= calls_of(plain)

    await database.write(work)


@pytest.mark.on_sqlite
async def test_the_history_of_10_000_messages_costs_what_that_of_its_newest_ones_does(
    turns: SqlTurnStore, database: Database
) -> None:
    exchange = (ChatMessage(MessageRole.USER, "q" * 40), ChatMessage(MessageRole.ASSISTANT, "a" * 60))
    for session_id, exchanges in (("short", 10), ("long", 5_000)):
        await turns.begin(ANNA, session_id, TurnRequest("?", session_id=session_id), "hash", "me", 60)
        outcome = replace(an_outcome(), new_messages=exchange * exchanges)
        await turns.finish(ANNA, session_id, session_id, 1, outcome, "me")

    def steps(transaction: Connection) -> dict[str, int]:
        return {
            session_id: sqlite_steps(transaction, partial(history_within, transaction, ANNA, session_id, 900))
            for session_id in ("short", "long")
        }

    counted = await database.read(steps)
    assert counted["long"] <= 1.2 * counted["short"]

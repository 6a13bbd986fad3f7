"""The table of the audit is only ever appended to, in the transaction of what it tells."""

import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from proviso_service.access import AuditFilter, verify
from proviso_service.backends.sql.audit import SERVICE, SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import audit_events
from proviso_service.errors import MatterNotFound
from proviso_service.identity import Act, Caller, current_act
from proviso_service.matters.model import Matter
from proviso_service.paging import PageRequest

EVERYTHING = AuditFilter()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET user_id = 'mallory'",
        "DELETE FROM audit_events",
        "INSERT INTO audit_events SELECT * FROM audit_events",
        {
            "sqlite": "INSERT OR REPLACE INTO audit_events SELECT * FROM audit_events",
            "postgres": "TRUNCATE audit_events",
        },
    ],
)
async def test_the_database_refuses_to_change_events(
    database: Database, matter: Matter, engine: str, statement: str | dict[str, str]
) -> None:
    written = statement if isinstance(statement, str) else statement[engine]
    with pytest.raises(DBAPIError, match="only ever appended"):
        await database.write(lambda transaction: transaction.execute(text(written)))
    assert await SqlAuditStore(database).walk(lambda events: verify(events).events) == 1


async def test_an_act_that_is_rolled_back_leaves_no_event(
    database: Database, matters: SqlMatterStore, matter: Matter
) -> None:
    with pytest.raises(MatterNotFound):
        await matters.delete_matter("acme", "none")

    def fails(transaction: Connection) -> None:
        SqlMatterStore.delete_matter.__wrapped__(matters, transaction, "acme", matter.matter_id)  # type: ignore[attr-defined]
        assert transaction.execute(select(func.count()).select_from(audit_events)).scalar_one() == 2
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(fails)
    page = await SqlAuditStore(database).list("acme", EVERYTHING, PageRequest())
    assert [event.action for event in page.items] == ["create"]


async def test_the_act_of_the_task_is_recorded_and_without_one_the_service(
    database: Database, matters: SqlMatterStore, matter: Matter
) -> None:
    token = current_act.set(Act(Caller("acme", "ann", key="pvk_1"), "MatterService/DeleteMatter", "peer", "r1"))
    try:
        await matters.delete_matter("acme", matter.matter_id)
    finally:
        current_act.reset(token)
    await matters.delete_documents("acme", matter.matter_id)
    page = await SqlAuditStore(database).list("acme", EVERYTHING, PageRequest())
    cleared, deleted, created = page.items
    assert (deleted.user_id, deleted.key, deleted.method, deleted.peer, deleted.request_id) == (
        *("ann", "pvk_1", "MatterService/DeleteMatter", "peer", "r1"),
    )
    assert [(event.user_id, event.method, event.action) for event in (cleared, created)] == [
        *((SERVICE, "", "clear"), (SERVICE, "", "create")),
    ]
    assert {event.matter_id for event in page.items} == {matter.matter_id}


async def test_each_tenant_has_a_chain_of_its_own(database: Database, matters: SqlMatterStore) -> None:
    for tenant in ("acme", "other", "acme"):
        await matters.create_matter(tenant, "M")
    audit = SqlAuditStore(database)
    assert [event.sequence for event in (await audit.list("acme", EVERYTHING, PageRequest())).items] == [2, 1]
    assert [event.sequence for event in (await audit.list("other", EVERYTHING, PageRequest())).items] == [1]
    found = await audit.walk(verify)
    assert (found.events, set(found.heads), found.fault) == (3, {"acme", "other"}, "")

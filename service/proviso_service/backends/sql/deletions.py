"""SqlDeletionStore knows what was deleted, and removes what sessions and turns know of deleted matters.

`begin_deletion` runs in the transaction of the store that deletes something."""

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    update,
)

from proviso_service.access import Done
from proviso_service.backends.sql.audit import SERVICE, record_own
from proviso_service.backends.sql.conversation_tables import OPEN_IN_SESSION, messages, sessions, turn_matters, turns
from proviso_service.backends.sql.database import Store, across_tenants, reading, writing
from proviso_service.backends.sql.dialects import insert, json_is
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.tables import INCOMPLETE, deletions, leftovers, matters
from proviso_service.erasure import Deletion, DeletionKind
from proviso_service.errors import DeletionNotFound
from proviso_service.identity import current_act
from proviso_service.paging import Page, PageRequest
from proviso_service.turns import TurnState

SLICE_TURNS = 100
"""The turns that one transaction removes at most."""


class SqlDeletionStore(Store):
    """A DeletionStore in a Database."""

    @reading
    def get(self, transaction: Connection, tenant: str, deletion_id: str, user_id: str | None = None) -> Deletion:
        this = deletions.c.tenant == tenant, deletions.c.deletion_id == deletion_id
        row = transaction.execute(select(deletions).where(*this)).one_or_none()
        if row is None or user_id not in (None, row.user_id):
            raise DeletionNotFound(deletion_id)
        return _deletion_of(row)

    @reading
    def list(
        self,
        transaction: Connection,
        tenant: str,
        page: PageRequest,
        matter_id: str = "",
        user_id: str | None = None,
    ) -> Page[Deletion]:
        scope = ("deletions", tenant, matter_id, "" if user_id is None else f"of {user_id}")
        values = {"this_tenant": tenant, "this_matter": matter_id, "this_user": user_id}
        return _LISTS[matter_id != "", user_id is not None].page(transaction, values, scope, page).map(_deletion_of)

    @reading
    @across_tenants
    def unfinished(self, transaction: Connection) -> Sequence[Deletion]:
        query = select(deletions).where(INCOMPLETE).order_by(deletions.c.request_time)
        return [_deletion_of(row) for row in transaction.execute(query)]

    @reading
    def open_turns(self, transaction: Connection, tenant: str, matter_id: str) -> Sequence[str]:
        query = (
            select(turns.c.turn_id)
            .join(turn_matters, _of_turn(turns))
            .where(*_in_matter(turn_matters, tenant, matter_id), turns.c.state != TurnState.ENDED)
        )
        return transaction.execute(query).scalars().all()

    @writing
    def purge_turns(self, transaction: Connection, tenant: str, deletion: Deletion) -> Sequence[str]:
        is_open = exists().where(_of_turn(turns), turns.c.state != TurnState.ENDED)
        query = select(turn_matters.c.turn_id).where(*_in_matter(turn_matters, tenant, deletion.matter_id), ~is_open)
        turn_ids = transaction.execute(query.limit(SLICE_TURNS)).scalars().all()
        if turn_ids:
            keys = _sessions_with(transaction, tenant, turn_ids)
            removed = transaction.execute(_rows_of(messages, tenant, turn_ids)).rowcount
            _count(transaction, deletion, turns=len(turn_ids), messages=removed)
            for table in (turns, turn_matters):
                transaction.execute(_rows_of(table, tenant, turn_ids))
            _forget_in_sessions(transaction, tenant, keys)
        about = json_is(transaction, sessions.c.matter_context, "matter_id", deletion.matter_id)
        this = sessions.c.tenant == tenant, about
        transaction.execute(update(sessions).where(*this).values(matter_context=None))
        return turn_ids

    @reading
    @across_tenants
    def deleted_turns(self, transaction: Connection, turn_ids: Sequence[str]) -> Sequence[str]:
        there = set(transaction.execute(select(turns.c.turn_id).where(turns.c.turn_id.in_(turn_ids))).scalars())
        return [turn_id for turn_id in turn_ids if turn_id not in there]

    @reading
    def is_cleared(self, transaction: Connection, tenant: str, deletion: Deletion) -> bool:
        match deletion.kind:
            case DeletionKind.MATTER:
                left = (matters, leftovers, turn_matters)
                conditions = [_in_matter(table, tenant, deletion.matter_id) for table in left]
            case DeletionKind.DOCUMENT:
                this = leftovers.c.tenant == tenant, leftovers.c.document_id == deletion.resource_id
                conditions = [this]
            case _:
                conditions = []
        return not any(transaction.execute(select(exists().where(*some))).scalar_one() for some in conditions)

    @writing
    def complete(self, transaction: Connection, tenant: str, deletion_id: str) -> None:
        this = deletions.c.tenant == tenant, deletions.c.deletion_id == deletion_id, INCOMPLETE
        now = self._database.now()
        statement = update(deletions).where(*this).values(complete_time=now).returning(deletions.c.matter_id)
        row = transaction.execute(statement).one_or_none()
        if row is not None:
            record_own(transaction, now, tenant, Done("erase", "deletion", deletion_id, row.matter_id))


def begin_deletion(
    transaction: Connection,
    now: datetime,
    tenant: str,
    kind: DeletionKind,
    matter_id: str,
    resource_id: str,
    **counts: int,
) -> str:
    """Notes that something is deleted in this transaction, by the current act. Returns the id of the deletion."""
    act = current_act.get(None)
    row = {
        "tenant": tenant,
        "deletion_id": str(uuid4()),
        "kind": kind,
        "user_id": act.caller.user if act else SERVICE,
        "matter_id": matter_id,
        "resource_id": resource_id,
        "request_time": now,
    }
    transaction.execute(insert(deletions).values(**row, **counts))
    return str(row["deletion_id"])


def count_documents(transaction: Connection, tenant: str, matter_id: str, documents: int, size_bytes: int) -> None:
    """Adds removed documents to the deletion of their matter."""
    this = deletions.c.tenant == tenant, deletions.c.matter_id == matter_id, INCOMPLETE
    of_matter = update(deletions).where(*this, deletions.c.kind == DeletionKind.MATTER)
    transaction.execute(of_matter.values(_added(documents=documents, size_bytes=size_bytes)))


def _forget_in_sessions(transaction: Connection, tenant: str, keys: Sequence[str]) -> None:
    """Deletes the sessions that have no message left, and what persons wrote about the others. The messages of a
    session know what those before them did, so the rest of them are the first ones of it."""
    last = (
        select(func.coalesce(func.max(messages.c.position) + 1, 0))
        .where(messages.c.tenant == sessions.c.tenant, messages.c.session_key == sessions.c.session_key)
        .scalar_subquery()
    )
    these = sessions.c.tenant == tenant, sessions.c.session_key.in_(keys)
    transaction.execute(update(sessions).where(*these).values(message_count=last, title="", notes=""))
    is_open = exists().where(
        turns.c.tenant == sessions.c.tenant,
        turns.c.user_id == sessions.c.user_id,
        turns.c.session_id == sessions.c.session_id,
        OPEN_IN_SESSION,
    )
    transaction.execute(delete(sessions).where(*these, sessions.c.message_count == 0, ~is_open))


def _sessions_with(transaction: Connection, tenant: str, turn_ids: Sequence[str]) -> Sequence[str]:
    these = messages.c.tenant == tenant, messages.c.turn_id.in_(turn_ids)
    return transaction.execute(select(messages.c.session_key).where(*these).distinct()).scalars().all()


def _rows_of(table: Table, tenant: str, turn_ids: Sequence[str]) -> Delete:
    return delete(table).where(table.c.tenant == tenant, table.c.turn_id.in_(turn_ids))


def _of_turn(table: Table) -> ColumnElement[bool]:
    return and_(table.c.tenant == turn_matters.c.tenant, table.c.turn_id == turn_matters.c.turn_id)


def _in_matter(table: Table, tenant: str, matter_id: str) -> tuple[ColumnElement[bool], ...]:
    return table.c.tenant == tenant, table.c.matter_id == matter_id


def _count(transaction: Connection, deletion: Deletion, **counts: int) -> None:
    this = deletions.c.tenant == deletion.tenant, deletions.c.deletion_id == deletion.deletion_id
    transaction.execute(update(deletions).where(*this).values(_added(**counts)))


def _added(**counts: int) -> dict[str, ColumnElement[int]]:
    return {name: deletions.c[name] + count for name, count in counts.items()}


def _deletion_of(row: Row[Any]) -> Deletion:
    return Deletion(**{column.name: getattr(row, column.name) for column in deletions.c})


def _list_of(*, in_matter: bool, of_user: bool) -> RowsByTime:
    query = select(deletions).where(deletions.c.tenant == bindparam("this_tenant"))
    if in_matter:
        query = query.where(deletions.c.matter_id == bindparam("this_matter"))
    if of_user:
        query = query.where(deletions.c.user_id == bindparam("this_user"))
    return RowsByTime(query, deletions.c.request_time, deletions.c.deletion_id, newest_first=True)


# Built once, because building a statement takes longer than running it.
_LISTS = {
    (in_matter, of_user): _list_of(in_matter=in_matter, of_user=of_user)
    for in_matter, of_user in product((False, True), repeat=2)
}

"""SqlAuditStore keeps the audit; `record` appends to it in the transaction of an act."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, bindparam, select

from proviso_service.access import (
    BEFORE_ALL,
    AuditEvent,
    AuditFilter,
    Done,
    hash_of,
    time_in,
)
from proviso_service.backends.sql.database import Store, across_tenants, growing, reading
from proviso_service.backends.sql.dialects import insert, lock_tenant
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import audit_events
from proviso_service.identity import Act, Caller, current_act
from proviso_service.paging import Page, PageRequest, foreign_token, page_token

T = TypeVar("T")

SERVICE = "service"
"""The user of what the service does by itself. It has no method, unlike a call of a user of that name."""

_ROWS_AT_ONCE = 1_000

_COLUMNS = audit_events.c
_NAMES = tuple(column.name for column in _COLUMNS)
_LAST = Prepared(
    select(_COLUMNS.sequence, _COLUMNS.hash)
    .where(_COLUMNS.tenant == bindparam("this_tenant"))
    .order_by(_COLUMNS.sequence.desc())
    .limit(1)
)
_APPEND = Prepared(insert(audit_events))


def record(transaction: Connection, now: datetime, tenant: str, done: Done) -> None:
    """Appends to the audit of the tenant what the current act does in this transaction; without one it is the
    service's own work."""
    act = current_act.get(None)
    if act is None:
        record_own(transaction, now, tenant, done)
    else:
        _append(transaction, now, tenant, act, done)


def record_own(transaction: Connection, now: datetime, tenant: str, done: Done) -> None:
    """Appends what the service does by itself, also where it has a call wait for it."""
    _append(transaction, now, tenant, Act(Caller(tenant, SERVICE)), done)


def _append(transaction: Connection, now: datetime, tenant: str, act: Act, done: Done) -> None:
    lock_tenant(transaction, tenant)
    last = _LAST.one(transaction, {"this_tenant": tenant})
    sequence, previous = (last.sequence + 1, last.hash) if last else (1, BEFORE_ALL)
    values = (
        tenant,
        sequence,
        time_in(now),
        act.caller.user,
        act.caller.key,
        act.method,
        done.action,
        done.resource,
        done.resource_id,
        done.matter_id,
        done.outcome.value,
        act.peer,
        act.request_id,
        previous,
    )
    _APPEND.run(transaction, dict(zip(_NAMES, (*values, hash_of(*values)), strict=True)))


class SqlAuditStore(Store):
    """An AuditStore in a Database, and what `proviso audit` reads."""

    @growing
    @across_tenants
    def append(self, transaction: Connection, act: Act, done: Done) -> None:
        _append(transaction, self._database.now(), act.caller.tenant, act, done)

    @reading
    def list(self, transaction: Connection, tenant: str, wanted: AuditFilter, page: PageRequest) -> Page[AuditEvent]:
        conditions = [
            _COLUMNS.tenant == tenant,
            *(column == value for column, value in _equal(wanted) if value),
            *([_COLUMNS.time >= time_in(wanted.start)] if wanted.start else []),
            *([_COLUMNS.time < time_in(wanted.end)] if wanted.end else []),
        ]
        scope = ("audit", tenant, repr(wanted))
        if after := page.after(scope, 1):
            if not after[0].isdecimal() or len(after[0]) > 18:
                raise foreign_token()
            conditions.append(_COLUMNS.sequence < int(after[0]))
        query = select(audit_events).where(*conditions).order_by(_COLUMNS.sequence.desc()).limit(page.size + 1)
        found = [_event_of(row) for row in transaction.execute(query)]
        shown = found[: page.size]
        token = page_token(scope, str(shown[-1].sequence)) if len(found) > page.size else ""
        return Page(shown, token, len(shown))

    @reading
    @across_tenants
    def walk(self, transaction: Connection, work: Callable[[Iterator[AuditEvent]], T]) -> T:
        """Gives `work` all events, by tenant and sequence, and returns its result."""
        query = select(audit_events).order_by(_COLUMNS.tenant, _COLUMNS.sequence)
        rows = transaction.execution_options(yield_per=_ROWS_AT_ONCE).execute(query)
        return work(map(_event_of, rows))


def _equal(wanted: AuditFilter) -> tuple[tuple[Any, str], ...]:
    return (
        (_COLUMNS.matter_id, wanted.matter_id),
        (_COLUMNS.user_id, wanted.user_id),
        (_COLUMNS.method, wanted.method),
    )


def _event_of(row: Row[Any]) -> AuditEvent:
    return AuditEvent(**row._mapping)

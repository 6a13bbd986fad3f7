"""SqlExpiryStore finds what is older than a tenant keeps it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Table, delete, exists, select, union

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.conversation_tables import OPEN_IN_SESSION, messages, sessions, turn_matters, turns
from proviso_service.backends.sql.database import Store, across_tenants, reading, writing
from proviso_service.backends.sql.deletions import begin_deletion
from proviso_service.backends.sql.holds import IS_HELD, KNOWS_HELD
from proviso_service.backends.sql.tables import documents, matters
from proviso_service.backends.sql.turn_matters import forget_matters_of
from proviso_service.erasure import DeletionKind
from proviso_service.matters import DOCUMENTATION
from proviso_service.turns import TurnState


class SqlExpiryStore(Store):
    """An ExpiryStore in a Database."""

    @reading
    @across_tenants
    def tenants(self, transaction: Connection) -> Sequence[str]:
        found = union(*(select(table.c.tenant) for table in (matters, sessions, turns)))
        return transaction.execute(found).scalars().all()

    @reading
    def old_sessions(
        self, transaction: Connection, tenant: str, before: datetime, limit: int
    ) -> Sequence[tuple[str, str]]:
        of_session = (
            turns.c.tenant == sessions.c.tenant,
            turns.c.user_id == sessions.c.user_id,
            turns.c.session_id == sessions.c.session_id,
        )
        in_session = messages.c.tenant == sessions.c.tenant, messages.c.session_key == sessions.c.session_key
        query = select(sessions.c.user_id, sessions.c.session_id).where(
            sessions.c.tenant == tenant,
            sessions.c.update_time < before,
            ~exists().where(*of_session, OPEN_IN_SESSION),
            ~exists().where(*of_session, *_is_of(turns), KNOWS_HELD),
            ~exists().where(*in_session, *_is_of(messages), KNOWS_HELD),
        )
        return [(user, session_id) for user, session_id in transaction.execute(query.limit(limit))]

    @reading
    def old_documents(
        self, transaction: Connection, tenant: str, before: datetime, limit: int
    ) -> Sequence[tuple[str, str]]:
        query = (
            select(documents.c.matter_id, documents.c.document_id)
            .join_from(documents, matters)
            .where(documents.c.tenant == tenant, documents.c.upload_time < before, ~matters.c.deleted, ~IS_HELD)
            .where(documents.c.matter_id != DOCUMENTATION)
        )
        return [(matter_id, document_id) for matter_id, document_id in transaction.execute(query.limit(limit))]

    @writing
    def delete_old_turns(self, transaction: Connection, tenant: str, before: datetime, limit: int) -> Sequence[str]:
        old = turns.c.tenant == tenant, turns.c.state == TurnState.ENDED, turns.c.end_time < before
        query = select(turns.c.turn_id).where(*old, ~exists().where(*_is_of(turns), KNOWS_HELD)).limit(limit)
        turn_ids = transaction.execute(query).scalars().all()
        if turn_ids:
            transaction.execute(delete(turns).where(turns.c.tenant == tenant, turns.c.turn_id.in_(turn_ids)))
            forget_matters_of(transaction, tenant, turn_ids)
            now = self._database.now()
            deletion_id = begin_deletion(transaction, now, tenant, DeletionKind.TURNS, "", "", turns=len(turn_ids))
            record(transaction, now, tenant, Done("delete", "deletion", deletion_id))
        return turn_ids


def _is_of(table: Table) -> tuple[ColumnElement[bool], ...]:
    """The condition that a row of `turn_matters` is about the turn of a row of this table."""
    return turn_matters.c.tenant == table.c.tenant, turn_matters.c.turn_id == table.c.turn_id

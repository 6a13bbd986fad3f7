"""Rows that say what may be left of documents which have no row."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, and_, delete, exists, select, tuple_, update

from proviso_service.backends.sql.database import Store, insert, reading, writing
from proviso_service.backends.sql.tables import leftovers, matters
from proviso_service.matters.ports import Leftover

_BATCH_ROWS = 500


class LeftoverRows(Store):
    """Leftovers of the MatterStore port."""

    @writing
    def begin_upload(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
        note_leftovers(transaction, tenant, matter_id, [document_id], uploading=True)

    @writing
    def give_up_uploads(self, transaction: Connection) -> None:
        transaction.execute(update(leftovers).where(leftovers.c.uploading).values(uploading=False))

    @reading
    def leftovers(self, transaction: Connection, limit: int, after: Leftover | None = None) -> Sequence[Leftover]:
        matter_exists = exists().where(
            and_(
                matters.c.tenant == leftovers.c.tenant,
                matters.c.matter_id == leftovers.c.matter_id,
                ~matters.c.deleted,
            )
        )
        query = (
            select(leftovers.c.tenant, leftovers.c.matter_id, leftovers.c.document_id, ~matter_exists)
            .where(~leftovers.c.uploading)
            .order_by(leftovers.c.tenant, leftovers.c.document_id)
            .limit(limit)
        )
        if after is not None:
            key = tuple_(leftovers.c.tenant, leftovers.c.document_id)
            query = query.where(key > tuple_(after.tenant, after.document_id))
        return [
            Leftover(tenant, matter_id, document_id, bool(gone))
            for tenant, matter_id, document_id, gone in transaction.execute(query)
        ]

    @writing
    def forget_leftovers(self, transaction: Connection, tenant: str, document_ids: Sequence[str]) -> None:
        forget_leftovers(transaction, tenant, document_ids)


def note_leftovers(
    transaction: Connection, tenant: str, matter_id: str, document_ids: Iterable[str], *, uploading: bool = False
) -> None:
    rows = [
        {"tenant": tenant, "matter_id": matter_id, "document_id": document_id, "uploading": uploading}
        for document_id in document_ids
    ]
    transaction.execute(insert(leftovers), rows)


def forget_leftovers(transaction: Connection, tenant: str, document_ids: Sequence[str]) -> None:
    for start in range(0, len(document_ids), _BATCH_ROWS):
        some = document_ids[start : start + _BATCH_ROWS]
        statement = delete(leftovers).where(leftovers.c.tenant == tenant, leftovers.c.document_id.in_(some))
        transaction.execute(statement)

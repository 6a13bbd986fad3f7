"""Which deletions a legal hold forbids. All functions run inside the transaction of the deletion."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, exists, select

from proviso_service.backends.sql.conversation_tables import turn_matters
from proviso_service.backends.sql.tables import matters

IDS_PER_QUERY = 500

IS_HELD: ColumnElement[bool] = matters.c.hold_time.is_not(None)
KNOWS_HELD = exists().where(
    matters.c.tenant == turn_matters.c.tenant, matters.c.matter_id == turn_matters.c.matter_id, IS_HELD
)
"""The condition that a row of `turn_matters` names a matter under a hold."""


def is_held(transaction: Connection, tenant: str, matter_id: str) -> bool:
    """Whether there is a hold on the matter."""
    query = select(matters.c.matter_id).where(matters.c.tenant == tenant, matters.c.matter_id == matter_id, IS_HELD)
    return transaction.execute(query).first() is not None


def shares_turns_with_held(transaction: Connection, tenant: str, matter_id: str) -> bool:
    """Whether a turn that may know something of the matter may know something of one under a hold, too."""
    of_matter = turn_matters.alias()
    turn_ids = select(of_matter.c.turn_id).where(of_matter.c.tenant == tenant, of_matter.c.matter_id == matter_id)
    query = select(turn_matters.c.turn_id).where(turn_matters.c.tenant == tenant, turn_matters.c.turn_id.in_(turn_ids))
    return transaction.execute(query.where(KNOWS_HELD).limit(1)).first() is not None


def any_knows_held(transaction: Connection, tenant: str, turn_ids: Collection[str]) -> bool:
    """Whether one of the turns may know something of a matter under a hold."""
    ids = list(turn_ids)
    for start in range(0, len(ids), IDS_PER_QUERY):
        some = turn_matters.c.turn_id.in_(ids[start : start + IDS_PER_QUERY])
        query = select(turn_matters.c.turn_id).where(turn_matters.c.tenant == tenant, some, KNOWS_HELD).limit(1)
        if transaction.execute(query).first() is not None:
            return True
    return False

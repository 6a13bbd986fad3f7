"""Which matters a turn may know something of, so that it is deleted with each of them.

All functions run inside a transaction of the caller's."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Boolean, Connection, String, and_, bindparam, delete, exists, or_, select

from proviso_service.backends.sql.conversation_tables import messages, sessions, turn_matters, turns
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import matter_members, matters
from proviso_service.context.marker import parse_marker
from proviso_service.identity import Caller, Role
from proviso_service.matters import is_uuid
from proviso_service.turns import MessageRole, TurnRequest

TURNS_PER_DELETE = 500

_COLUMNS = ["tenant", "turn_id", "matter_id"]
_THIS_TURN = bindparam("this_tenant", type_=String), bindparam("this_turn", type_=String)

_NAMED = Prepared(
    insert(turn_matters)
    .from_select(
        _COLUMNS,
        select(*_THIS_TURN, matters.c.matter_id).where(
            matters.c.tenant == bindparam("this_tenant"),
            matters.c.matter_id == bindparam("this_matter"),
            ~matters.c.deleted,
            or_(
                bindparam("is_admin", type_=Boolean),
                exists().where(
                    matter_members.c.tenant == matters.c.tenant,
                    matter_members.c.matter_id == matters.c.matter_id,
                    matter_members.c.user_id == bindparam("this_user"),
                ),
            ),
        ),
    )
    .on_conflict_do_nothing()
)

_LAST_TURN = (
    select(messages.c.turn_id)
    .join_from(messages, sessions)
    .where(
        sessions.c.tenant == bindparam("this_tenant"),
        sessions.c.user_id == bindparam("this_user"),
        sessions.c.session_id == bindparam("this_session"),
    )
    .order_by(messages.c.position.desc())
    .limit(1)
    .scalar_subquery()
)
_OF_LAST_TURN = Prepared(
    insert(turn_matters)
    .from_select(
        _COLUMNS,
        select(*_THIS_TURN, turn_matters.c.matter_id).where(
            turn_matters.c.tenant == bindparam("this_tenant"), turn_matters.c.turn_id == _LAST_TURN
        ),
    )
    .on_conflict_do_nothing()
)


def note_matters(transaction: Connection, caller: Caller, turn_id: str, request: TurnRequest, matter_id: str) -> None:
    """Notes the matters that a new turn may know: those that its request and the history with it name, if the caller
    may see them, and those of the last turn in its session, which has those of all turns before."""
    marked = (parse_marker(message.content).context for message in request.history if message.role is MessageRole.USER)
    ids = (matter_id, *(context.matter_id for context in marked if context))
    named = {one.lower() for one in ids if is_uuid(one)}
    values = {
        "this_tenant": caller.tenant,
        "this_user": caller.user,
        "this_session": request.session_id,
        "this_turn": turn_id,
        "is_admin": Role.ADMIN in caller.roles,
    }
    for one in named if caller.matters is None else named & caller.matters:
        _NAMED.run(transaction, values | {"this_matter": one})
    if request.session_id:
        _OF_LAST_TURN.run(transaction, values)


def turns_named_in(transaction: Connection, tenant: str, session_key: str) -> Sequence[str]:
    """The ids of the turns that a session has messages of."""
    here = messages.c.tenant == tenant, messages.c.session_key == session_key, messages.c.turn_id != ""
    return transaction.execute(select(messages.c.turn_id).where(*here).distinct()).scalars().all()


def forget_matters_of(transaction: Connection, tenant: str, turn_ids: Iterable[str]) -> None:
    """Forgets which matters these turns know, unless they or messages of theirs are still there."""
    ids = list(turn_ids)
    unused = [
        ~exists().where(and_(table.c.tenant == turn_matters.c.tenant, table.c.turn_id == turn_matters.c.turn_id))
        for table in (turns, messages)
    ]
    for start in range(0, len(ids), TURNS_PER_DELETE):
        some = turn_matters.c.turn_id.in_(ids[start : start + TURNS_PER_DELETE])
        transaction.execute(delete(turn_matters).where(turn_matters.c.tenant == tenant, some, *unused))

"""Writing to sessions inside a transaction; shared by the stores of sessions and of turns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Row, select, update

from proviso_service.backends.sql.database import insert
from proviso_service.backends.sql.tables import messages, sessions
from proviso_service.context.model import ApprovedTool, NewSession
from proviso_service.errors import SessionNotFound
from proviso_service.identity import Caller
from proviso_service.turns.ports import TurnOutcome
from proviso_service.turns.sessions import ChatMessage


def ensure_session(transaction: Connection, caller: Caller, session_id: str, now: datetime, new: NewSession) -> bool:
    """Makes the session when it is unknown; whether it was."""
    statement = insert(sessions).values(
        tenant=caller.tenant,
        session_key=uuid4().hex,
        user_id=caller.user,
        session_id=session_id,
        items=new.items,
        pending_servers=new.pending_servers,
        matter_context=None,
        message_count=0,
        create_time=now,
        update_time=now,
    )
    unique = ["tenant", "user_id", "session_id"]
    result = transaction.execute(statement.on_conflict_do_nothing(unique).returning(sessions.c.session_key))
    return result.one_or_none() is not None


def session_key(transaction: Connection, caller: Caller, session_id: str) -> str:
    """Raises SessionNotFound."""
    query = select(sessions.c.session_key).where(*this_session(caller, session_id))
    key: str | None = transaction.execute(query).scalar_one_or_none()
    if key is None:
        raise SessionNotFound(session_id)
    return key


def keep_outcome(
    transaction: Connection, caller: Caller, session_id: str, turn_id: str, outcome: TurnOutcome, now: datetime
) -> None:
    """Appends a turn's messages to its session and updates its matter context. An unknown session is made for them,
    not for nothing."""
    if outcome.new_messages or outcome.update_matter_context:
        ensure_session(transaction, caller, session_id, now, outcome.new_session)
    changes: dict[str, Any] = {
        "update_time": now,
        "message_count": sessions.c.message_count + len(outcome.new_messages),
    }
    if outcome.update_matter_context:
        changes["matter_context"] = outcome.matter_context
    statement = (
        update(sessions)
        .where(*this_session(caller, session_id))
        .values(changes)
        .returning(sessions.c.session_key, sessions.c.message_count)
    )
    session = transaction.execute(statement).one_or_none()
    if session is not None:
        first = session.message_count - len(outcome.new_messages)
        _append(transaction, caller, session.session_key, turn_id, first, outcome.new_messages, now)


def approve_tool(transaction: Connection, caller: Caller, session_id: str, tool: ApprovedTool) -> None:
    """The tool needs no further approval in the session, where there is one. It takes the place of what was approved
    under its name before."""
    this = this_session(caller, session_id)
    approved = transaction.execute(select(sessions.c.approved_tools).where(*this)).scalar_one_or_none()
    if approved is not None and tool not in approved:
        others = [known for known in approved if known.ref != tool.ref]
        transaction.execute(update(sessions).where(*this).values(approved_tools=(*others, tool)))


def this_session(caller: Caller, session_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        sessions.c.tenant == caller.tenant,
        sessions.c.user_id == caller.user,
        sessions.c.session_id == session_id,
    )


def _append(
    transaction: Connection,
    caller: Caller,
    key: str,
    turn_id: str,
    first: int,
    new: Sequence[ChatMessage],
    now: datetime,
) -> None:
    rows = [
        {
            "tenant": caller.tenant,
            "session_key": key,
            "position": position,
            "message_id": message.message_id or str(uuid4()),
            "turn_id": message.turn_id or turn_id,
            "role": message.role,
            "create_time": message.create_time or now,
            "character_count": len(message.content),
            "content": message.content,
            "request_context": message.request_context,
            "turn": message.turn,
        }
        for position, message in enumerate(new, start=first)
    ]
    if rows:
        transaction.execute(insert(messages), rows)


def message_of(row: Row[Any]) -> ChatMessage:
    return ChatMessage(
        role=row.role,
        content=row.content,
        request_context=row.request_context,
        turn_id=row.turn_id,
        message_id=row.message_id,
        create_time=row.create_time,
        turn=row.turn,
    )

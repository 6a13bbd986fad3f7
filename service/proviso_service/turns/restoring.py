"""Reads what is stored of a turn that was taken over."""

from contextlib import suppress
from dataclasses import dataclass

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Unavailable
from proviso_service.turns.outcomes import unreadable_outcome
from proviso_service.turns.replicas import Replicas
from proviso_service.turns.store import TurnRecord, TurnState, TurnStore, store_timeout
from proviso_service.turns.suspension import SuspendedTurn, SuspensionUnreadable

MAX_TAKE_OVERS = 2
"""How many processes may end while they are at work on the same turn until it ends, too."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A turn as another process has left it. `waits`: for a person. So many sequences are `lost`: after those of the
    stored events, its readers may have had events that are not stored. Up to the sequence `shown`, other processes may
    have read it. `is_over`: its processes have ended too often while they were at work on it."""

    suspended: SuspendedTurn
    waits: bool = False
    lost: int = 0
    shown: int = 0
    is_over: bool = False


async def restore(
    store: TurnStore, record: TurnRecord, owner: str, limit_s: float, replicas: Replicas | None
) -> Restored | None:
    """What is stored of a turn that `owner` has taken over; None where it cannot be read, which ends the turn."""
    turn_id, waits = record.turn_id, record.state is TurnState.AWAITING_APPROVAL
    try:
        suspended = await with_timeout(limit_s, store.suspended(record.caller, turn_id), late=store_timeout)
    except SuspensionUnreadable as error:
        outcome = unreadable_outcome(turn_id, error, record.language, waits=waits)
        ended = store.finish(record.caller, turn_id, record.session_id, record.last_sequence + 1, outcome, owner)
        await with_timeout(limit_s, ended, late=store_timeout)
        return None
    shown = 0
    if replicas is not None:
        with suppress(Unavailable):  # the stored sequence is far enough, whatever they have read
            shown = await replicas.last_sequence(turn_id)
    last = suspended.events[-1].sequence if suspended.events else 0
    lost = max(record.last_sequence, shown) - last
    return Restored(suspended, waits, lost, shown, is_over=record.take_overs > MAX_TAKE_OVERS)

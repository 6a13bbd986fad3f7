"""A turn as its readers know it."""

import asyncio
from dataclasses import dataclass, field

from proviso_service.identity import Caller
from proviso_service.turns.attendance import Attendance
from proviso_service.turns.log import TurnLog
from proviso_service.turns.records import Decision


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Time limits in seconds: of the program, of its clean-up after an interruption, of a call of the store; how long
    the lease on a new turn holds; and how long a turn waits for a person's decisions."""

    program_s: float
    unwind_s: float
    store_s: float
    lease_s: float
    approval_s: float


@dataclass(frozen=True, slots=True)
class Turn:
    """What readers need of a turn; outlives its runner. `decisions` are those that persons made on its calls. `ended`
    is set once the log holds the final state, or is cut because the turn goes on elsewhere."""

    turn_id: str
    caller: Caller
    log: TurnLog
    attendance: Attendance
    decisions: dict[str, Decision] = field(default_factory=dict)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

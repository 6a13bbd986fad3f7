"""The audit of a tenant: who did what, on which matter, with what outcome, and from where; never any contents.

Its events form a chain: each has a hash over all of itself and the hash of the event before it. Whoever changes,
removes or reorders events has to change every hash after them, up to the last one, the head, which auditors keep
elsewhere.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import structlog

from proviso_service.identity import Act
from proviso_service.paging import Page, PageRequest

BEFORE_ALL = ""
"""What the first event of a tenant has in place of the hash before it."""

MAX_PENDING = 1_000
"""Events that may wait to be stored; the call that makes one more waits for some of them."""

MAX_REFUSED = 20
MAX_REFUSED_IN_ALL = 100
"""Refused calls that are recorded in a minute, for one tenant and for all: a caller without rights cannot fill the
disk."""

# Made once: each event has a hash, and making an encoder takes longer than the hash.
_JSON = json.JSONEncoder(separators=(",", ":"), default=repr)

_log = structlog.get_logger(__name__)


class Outcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, by a verb of the service's own (`delete`), and to what: the kind of a resource and its id."""

    action: str
    resource: str = ""
    resource_id: str = ""
    matter_id: str = ""
    outcome: Outcome = Outcome.DONE


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event, as it is stored. `sequence` counts the events of a tenant from 1. `time` is in UTC, in the form of ISO
    8601 with microseconds. A refused call that showed no credentials belongs to the tenant with an empty name."""

    tenant: str
    sequence: int
    time: str
    user_id: str
    key: str
    method: str
    action: str
    resource: str
    resource_id: str
    matter_id: str
    outcome: str
    peer: str
    request_id: str
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events to list; what is empty or None does not matter. `start` is included and `end` is not."""

    matter_id: str = ""
    user_id: str = ""
    method: str = ""
    start: datetime | None = None
    end: datetime | None = None


class AuditStore(Protocol):
    async def append(self, act: Act, done: Done) -> None: ...

    async def list(self, tenant: str, wanted: AuditFilter, page: PageRequest) -> Page[AuditEvent]:
        """The newest first; the page does not count them. Raises InvalidRequest for a foreign page token."""
        ...


def hash_of(*values: str | int) -> str:
    """The hash of an event: SHA-256, in hexadecimal, of the JSON array of its values in their order, without spaces and
    in ASCII. The last of them is the hash of the event before it."""
    return hashlib.sha256(_JSON.encode(values).encode()).hexdigest()


def time_in(moment: datetime) -> str:
    """The moment, which is in UTC, as events have it."""
    return moment.isoformat(timespec="microseconds")


@dataclass(slots=True)
class Verification:
    """What a walk along the chains has found: the number of events, the hash of the last one of each tenant, and what
    is wrong, empty for nothing."""

    events: int = 0
    heads: dict[str, str] = field(default_factory=dict)
    fault: str = ""


def verify(events: Iterable[AuditEvent], known_heads: Iterable[str] = ()) -> Verification:
    """Walks along the chains of all tenants, which come ordered by tenant and sequence, up to the first fault. Each of
    `known_heads`, which were heads at some time, has to be the hash of an event still."""
    found, missing = Verification(), set(known_heads)
    for event in events:
        if fault := _fault(event, found):
            found.fault = f"event {event.sequence} of tenant {event.tenant!r} {fault}"
            return found
        found.events += 1
        found.heads[event.tenant] = event.hash
        missing.discard(event.hash)
    if missing:
        found.fault = f"no event has the hash {min(missing)}: events were removed at the end, or all were written anew"
    return found


def _fault(event: AuditEvent, before: Verification) -> str:
    *values, stored = astuple(event)
    if hash_of(*values) != stored:
        return "was changed"
    if event.previous_hash != before.heads.get(event.tenant, BEFORE_ALL):
        return "does not follow the event before it: events were removed or put into another order"
    return ""


class AuditTrail:
    """Records what changes nothing in the database: reads, refused calls, and acts on what lies in memory.

    They are stored in the background, so that no call waits for the disk: a process that is killed may lose those of
    its last moments. Each of those that cannot be stored is told by a line of the log, with all that it would say."""

    def __init__(self, store: AuditStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._pending: set[asyncio.Task[None]] = set()
        self._refused: Counter[str] = Counter()
        self._minute = 0

    async def note(self, act: Act, done: Done) -> None:
        """Records the act, if what is done has a name."""
        if not done.action:
            return
        if len(self._pending) >= MAX_PENDING:
            await asyncio.wait(self._pending, return_when=asyncio.FIRST_COMPLETED)
        self._begin(act, done)

    def refused(self, act: Act, asked: Done) -> None:
        """Records a call that is refused, unless there were too many in this minute: the log has them all."""
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute = minute
            self._refused.clear()
        tenant = act.caller.tenant
        if self._refused[tenant] >= MAX_REFUSED or self._refused.total() >= MAX_REFUSED_IN_ALL:
            return
        self._refused[tenant] += 1
        self._begin(act, replace(asked, action="call", outcome=Outcome.REFUSED))

    async def close(self) -> None:
        """Returns once all events are stored."""
        if self._pending:
            await asyncio.wait(self._pending)

    def _begin(self, act: Act, done: Done) -> None:
        task = asyncio.create_task(self._append(act, done))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _append(self, act: Act, done: Done) -> None:
        try:
            await self._store.append(act, done)
        except Exception as error:  # nobody waits for this task
            caller = act.caller
            who = {"tenant": caller.tenant, "user_id": caller.user, "key": caller.key, "peer": act.peer}
            _log.error(
                "audit_event_not_stored",
                reason=str(error),
                method=act.method,
                request_id=act.request_id,
                **who,
                **asdict(done),
            )

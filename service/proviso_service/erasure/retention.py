"""Retention deletes what is older than a tenant keeps it."""

import asyncio
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Protocol

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proviso_service.errors import ProvisoError

PERIOD_S = 24 * 3600.0
SLICE = 100
"""What is asked for, and deleted, at a time."""

Days = Annotated[int, Field(ge=0, le=36_500)]

_log = structlog.get_logger(__name__)


class UnreadableRetention(Exception):
    """The file of retention cannot be used; the message is for the operator."""


class Times(BaseModel):
    """For how many days something is kept after its last change; 0 for ever. `turn_days` is about what is kept of a
    turn beside its messages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    conversation_days: Days = 0
    turn_days: Days = 0
    document_days: Days = 0


class RetentionRules(BaseModel):
    """The times of all tenants, and of those that have times of their own: what these leave out is as for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: Times = Times()
    tenants: Mapping[str, Times] = {}

    def of(self, tenant: str) -> Times:
        own = self.tenants.get(tenant, Times()).model_dump(exclude_unset=True)
        return self.default.model_copy(update=own)


class ExpiryStore(Protocol):
    """What is older than a moment. Nothing that a legal hold keeps is among it."""

    async def tenants(self) -> Sequence[str]: ...

    async def old_sessions(self, tenant: str, before: datetime, limit: int) -> Sequence[tuple[str, str]]:
        """Returns users and ids of sessions in which nothing has happened since, and nothing runs."""
        ...

    async def old_documents(self, tenant: str, before: datetime, limit: int) -> Sequence[tuple[str, str]]:
        """Returns ids of matters and of documents that were uploaded before; none of the documentation."""
        ...

    async def delete_old_turns(self, tenant: str, before: datetime, limit: int) -> Sequence[str]:
        """Deletes turns that ended before, but not their messages, and returns their ids."""
        ...


Delete = Callable[[str, str, str], Awaitable[object]]
"""Deletes what a tenant has: by user and session, or by matter and document."""


class Retention:
    """Carries out the rules in the TOML file `file`, if there is one, in a task between `open` and `close`: at once,
    and every day. The file is read each time; while it is damaged, nothing is deleted.

    `deleted` is told the turns that were deleted."""

    def __init__(
        self,
        file: Path,
        store: ExpiryStore,
        delete_session: Delete,
        delete_document: Delete,
        deleted: Callable[[Sequence[str]], None],
        now: Callable[[], datetime],
    ) -> None:
        self._file = file
        self._store = store
        self._delete_session = delete_session
        self._delete_document = delete_document
        self._deleted = deleted
        self._now = now
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Starts the task. Raises UnreadableRetention."""
        _rules_in(self._file)
        self._task = asyncio.create_task(self._work(), name="retention")

    async def close(self) -> None:
        """Ends the task where it is."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def run(self) -> None:
        """Deletes once what is old. Raises UnreadableRetention, and ProvisoError when the storage fails."""
        rules = _rules_in(self._file)
        if rules is None:
            return
        for tenant in await self._store.tenants():
            times = rules.of(tenant)
            if before := self._before(times.conversation_days):
                await self._each(self._store.old_sessions, tenant, before, self._delete_session)
            if before := self._before(times.document_days):
                await self._each(self._store.old_documents, tenant, before, self._delete_document)
            if before := self._before(times.turn_days):
                while turn_ids := await self._store.delete_old_turns(tenant, before, SLICE):
                    self._deleted(turn_ids)

    async def _work(self) -> None:
        while True:
            try:
                await self.run()
            except (UnreadableRetention, ProvisoError) as failure:
                _log.error("retention_failed", reason=str(failure))
            await asyncio.sleep(PERIOD_S)

    def _before(self, days: int) -> datetime | None:
        return self._now() - timedelta(days=days) if days else None

    async def _each(
        self,
        old: Callable[[str, datetime, int], Awaitable[Sequence[tuple[str, str]]]],
        tenant: str,
        before: datetime,
        delete: Delete,
    ) -> None:
        """Deletes what is old, up to a slice of which nothing can be deleted now: the next run tries again."""
        deleted = 1
        while deleted and (found := await old(tenant, before, SLICE)):
            deleted = 0
            for one in found:
                try:
                    await delete(tenant, *one)
                    deleted += 1
                except ProvisoError as refusal:
                    _log.warning("retention_waits", reason=refusal.message)
            self._deleted(())


def _rules_in(file: Path) -> RetentionRules | None:
    """The rules in a file; None where there is none. Raises UnreadableRetention."""
    try:
        return RetentionRules.model_validate(tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UnreadableRetention(f"The file {file} is wrong at {where}: {first['msg']}") from error
    except (OSError, ValueError) as error:
        raise UnreadableRetention(f"The file {file} cannot be read: {error}") from error

"""Commands that work on the state in a data folder, also while the service runs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from proviso_service.access import Done
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.schema import is_current
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.cli.output import CommandError, UsageProblem
from proviso_service.errors import ProvisoError
from proviso_service.identity import Act, Caller, current_act
from proviso_service.settings import Settings
from proviso_service.wiring_storage import state_of

T = TypeVar("T")

OPERATOR = "operator at the command line"
"""The user, for the audit, of what a command does."""


def has_state(settings: Settings) -> bool:
    """Whether there is a state. One in PostgreSQL is there, or says itself why it is not. Raises UnusableState."""
    file = state_of(settings)
    return file is None or file.is_file()


async def record(database: Database, command: str, action: str) -> None:
    """Has the audit tell what a command did to the state as a whole, which no tenant's own part of it does. A state of
    an older version has no room for it, and is left as it is. Raises ProvisoError."""
    if await database.read(is_current):
        await SqlAuditStore(database).append(Act(Caller("", OPERATOR), command), Done(action))


def on_state(settings: Settings, command: str, work: Callable[[Database], Awaitable[T]]) -> T:
    """Runs `work`; `command` is what the audit calls it. Raises UsageProblem for a state that cannot be used, and
    CommandError."""

    async def run() -> T:
        current_act.set(Act(Caller("", OPERATOR), command))
        database = Database(settings.resolved_state_url)
        try:
            await database.migrate()
            return await work(database)
        finally:
            await database.close()

    try:
        return asyncio.run(run())
    except (UnknownSchema, UnusableState) as error:
        raise UsageProblem(str(error)) from error
    except ProvisoError as error:
        raise CommandError(error.message) from error

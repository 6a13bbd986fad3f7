"""`proviso reindex` and `proviso reembed`: what documents are searched by is made anew, by the running server; the
words also in this process, when none runs."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from proviso_service.backends.folder_lock import DataFolderError, FolderInUse, FolderLock, StateLock
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.connection import connect, is_listening
from proviso_service.cli.output import CommandError, UsageProblem, console, print_json
from proviso_service.cli.server_options import Server
from proviso_service.cli.state import has_state, record
from proviso_service.errors import ProvisoError
from proviso_service.matters import ResidentIndexes
from proviso_service.settings import Settings, TelemetrySettings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring_models import BackEndUnavailable, search_indexes, vector_model
from proviso_service.wiring_storage import state_of


@dataclass(frozen=True, slots=True)
class Reindexed:
    """How many passages are packed anew, and how many there are."""

    vectors_done: int
    vectors_total: int


def rebuild(server: Server, data_dir: Path | None, *, as_json: bool) -> None:
    """Builds the search index anew and shows how far it is. Raises CommandError."""

    async def states() -> AsyncIterator[Reindexed]:
        there = await is_listening(server)
        async for state in _rebuild_there(server) if there else _rebuild_here(data_dir):
            yield state

    _follow(states(), "The search index is built anew", as_json=as_json)


def reembed(server: Server, *, forget_others: bool, as_json: bool) -> None:
    """Has the server embed what its embedder has not, and shows how far it is. Raises CommandError."""
    states = _rebuild_there(server, embed=True, forget_others=forget_others)
    _follow(states, "All is embedded by the model in use", as_json=as_json)


def _follow(states: AsyncIterator[Reindexed], result: str, *, as_json: bool) -> None:
    begun = time.monotonic()
    with _showing_progress(as_json=as_json) as show:
        last = asyncio.run(_last(states, show))
    seconds = time.monotonic() - begun
    if as_json:
        print_json({"rebuilt": last.vectors_total, "seconds": round(seconds, 1)})
    else:
        console().print(f"{result}: {last.vectors_total:,} passages in {seconds:.1f} s")


async def _last(states: AsyncIterator[Reindexed], show: Callable[[Reindexed], None]) -> Reindexed:
    last = Reindexed(0, 0)
    async for last in states:
        show(last)
    return last


async def _rebuild_there(
    server: Server, *, embed: bool = False, forget_others: bool = False
) -> AsyncIterator[Reindexed]:
    """Lets the running server do the work."""
    async with connect(server) as connection:
        async for state in connection.client.rebuild_index(embed=embed, forget_others=forget_others):
            yield Reindexed(state.vectors_done, state.vectors_total)


async def _rebuild_here(data_dir: Path | None) -> AsyncIterator[Reindexed]:
    """Builds the index in this process, while no server uses the data folder."""
    settings = load_settings({("data_dir",): data_dir})
    configure_logging(TelemetrySettings(log_level="error"))
    async with AsyncExitStack() as stack:
        try:
            if not has_state(settings):
                raise CommandError(f"There is no server to ask, and nothing to index in {settings.data_dir}")
            database, indexes = await _open(settings, stack)
            async for progress in indexes.rebuild():
                yield Reindexed(progress.done, progress.total)
            await record(database, "proviso reindex", "rebuild")
        except FolderInUse as error:
            raise CommandError(f"{error}, or name the server by --address") from error
        except (BackEndUnavailable, DataFolderError, UnknownSchema, UnusableState) as error:
            raise UsageProblem(str(error)) from error
        except ProvisoError as error:
            raise CommandError(error.message) from error


async def _open(settings: Settings, stack: AsyncExitStack) -> tuple[Database, ResidentIndexes]:
    stack.enter_context(FolderLock(settings.data_dir))
    if state := state_of(settings):
        stack.enter_context(StateLock(state))
    database = Database(settings.resolved_state_url)
    stack.push_async_callback(database.close)
    await database.open(shared=False)
    indexes = search_indexes(settings, SqlMatterStore(database), await vector_model(settings))
    stack.push_async_callback(indexes.close)
    return database, indexes


@contextmanager
def _showing_progress(*, as_json: bool) -> Iterator[Callable[[Reindexed], None]]:
    """Yields a function to be called with the progress: a bar on stderr, or JSON lines on stdout."""
    if as_json:
        yield lambda reindexed: print_json(asdict(reindexed))
        return
    columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console(stderr=True))
    task = bar.add_task("index", total=None)

    def show(reindexed: Reindexed) -> None:
        bar.start()  # not before there is progress: a command that fails at once says so in one line
        bar.update(task, completed=reindexed.vectors_done, total=reindexed.vectors_total or None)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()

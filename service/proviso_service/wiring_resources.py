"""Opens what every process of the service is built on, one that serves as well as one that only ingests documents."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass

from proviso_service.backends.folder_lock import DataFolderError
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.backends.storage import StorageKeeper
from proviso_service.backends.storage_health import StorageHealth
from proviso_service.config import ServiceConfig
from proviso_service.embedded import ModelNotPrepared
from proviso_service.errors import NotReady, TooBusy, Unavailable, UnusableKeys
from proviso_service.matters import BlobStore, Matters, ResidentIndexes, reading_limits
from proviso_service.reading import ProcessReader
from proviso_service.settings import Settings
from proviso_service.wiring_models import BackEndUnavailable, Models, search_indexes
from proviso_service.wiring_shared import Shared, open_shared
from proviso_service.wiring_storage import blob_store, is_shared, state_of


class StartupError(Exception):
    """The process cannot start. The message is one line that says why, and what an operator can do about it."""


_MENDABLE = (
    BackEndUnavailable,
    DataFolderError,
    ModelNotPrepared,
    NotReady,
    TooBusy,
    Unavailable,
    UnknownSchema,
    UnusableState,
)


@contextmanager
def failures_told(*mendable: type[Exception]) -> Iterator[None]:
    """Turns failures of the start that an operator can mend into StartupError: those of the resources, and `mendable`
    ones. The message of each says how."""
    try:
        yield
    except UnusableKeys as error:
        raise StartupError(error.details) from error
    except Exception as error:
        if not isinstance(error, (*_MENDABLE, *mendable)):
            raise
        raise StartupError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Resources:
    """What the parts of the service are built on; it is opened before them and closed after them."""

    database: Database
    store: SqlMatterStore
    models: Models
    indexes: ResidentIndexes
    blobs: BlobStore
    reader: ProcessReader
    keeper: StorageKeeper
    shared: Shared

    def matters(self, settings: Settings) -> Matters:
        """The matters in these stores, whose documents this process ingests, too."""
        return Matters(
            self.store,
            self.indexes,
            self.blobs,
            self.models.embedder,
            settings.documents,
            self.reader,
            self.models.reading_classifier,
            self.shared.notices,
            self.shared.owner,
            self.models.languages,
        )


async def open_resources(
    settings: Settings, config: ServiceConfig, stack: AsyncExitStack, models: Models, *, searches: bool = True
) -> Resources:
    """Opens the storage, in the data folder, whose lock this process holds, or where it is shared. A process that never
    `searches` keeps no indexes."""
    if not (settings.documents.ingest_workers or is_shared(settings)):
        raise StartupError(
            "PROVISO_DOCUMENTS__INGEST_WORKERS is 0, and there can be no worker: it takes a state in PostgreSQL, Redis "
            "and an S3 store"
        )
    state = state_of(settings)
    health = StorageHealth.beside(state) if state else StorageHealth()
    database = Database(settings.resolved_state_url, health=health)
    stack.push_async_callback(database.close)
    blobs = await asyncio.to_thread(blob_store, settings, health)
    await database.open(shared=is_shared(settings))
    await blobs.open()
    reader = ProcessReader(reading_limits(settings.documents), settings.documents.ingest_workers + 1)
    stack.push_async_callback(reader.close)
    store = SqlMatterStore(database)
    shared = await open_shared(settings, config.turns, stack)
    indexes = search_indexes(settings, store, models.embedder, shared.notices, keeps=searches)
    stack.push_async_callback(indexes.close)
    keeper = StorageKeeper(state, database, store, blobs, health)
    return Resources(database, store, models, indexes, blobs, reader, keeper, shared)

"""The vector index built anew in this process, while no server uses the data folder."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy.engine import make_url

from proviso_service.backends.folder_lock import DataFolderError, FolderInUse, FolderLock
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.backends.vectors.chroma import VectorLayout
from proviso_service.backends.vectors.shelf import ChromaShelf
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.problems import CommandError, UsageProblem
from proviso_service.cli.reindex_report import Reindexed
from proviso_service.errors import ProvisoError
from proviso_service.matters.kept_index import KeptIndex
from proviso_service.settings import Settings, TelemetrySettings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring_models import vector_model


async def rebuild_here(data_dir: Path | None) -> AsyncIterator[Reindexed]:
    """Raises CommandError."""
    settings = load_settings({("data_dir",): data_dir})
    if not _has_state(settings):
        raise CommandError(f"There is no server to ask, and nothing to index in {settings.data_dir}")
    configure_logging(TelemetrySettings(log_level="error"))
    async with AsyncExitStack() as stack:
        try:
            index = await _open(settings, stack)
            async for progress in index.rebuild():
                yield Reindexed(progress.done, progress.total)
        except FolderInUse as error:
            raise CommandError(f"{error}, or name the server by --address") from error
        except (DataFolderError, UnknownSchema) as error:
            raise UsageProblem(str(error)) from error
        except ProvisoError as error:
            raise CommandError(error.message) from error


def _has_state(settings: Settings) -> bool:
    return Path(make_url(settings.resolved_state_url).database or "").is_file()


async def _open(settings: Settings, stack: AsyncExitStack) -> KeptIndex:
    stack.enter_context(FolderLock(settings.data_dir))
    database = Database(settings.resolved_state_url)
    stack.push_async_callback(database.close)
    await database.migrate()
    model = vector_model(settings)
    layout = VectorLayout(settings.storage.vector_collections, model.dimensions, model.model_id)
    shelf = ChromaShelf(settings.data_dir / "vectors", layout)
    index = KeptIndex(SqlMatterStore(database), shelf, model.model_id, model.dimensions)
    index.open()
    stack.push_async_callback(index.close)
    return index

"""Puts a worker together: a process that ingests the documents which replicas of the service take in."""

from contextlib import AsyncExitStack
from typing import Self

from proviso_service.backends.storage import locked
from proviso_service.config import ServiceConfig
from proviso_service.settings import Settings
from proviso_service.wiring_models import ModelLoader, back_ends
from proviso_service.wiring_resources import StartupError, failures_told, open_resources
from proviso_service.wiring_storage import is_shared, state_of


class Worker:
    """The running worker. `start` makes it, and `stop` ends it. It listens on no port."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    @classmethod
    async def start(cls, settings: Settings, workers: int = 0, config: ServiceConfig | None = None) -> Self:
        """Starts the worker and returns once it looks for documents. The embedded models run in so many processes, or
        here.

        Raises StartupError; then nothing is left running, and nothing was changed except the schema of the database."""
        with failures_told():
            config = config or ServiceConfig.of(settings)
            if not is_shared(settings):
                raise StartupError(
                    "A worker takes a state that it shares with the service: PROVISO_STORAGE__STATE_URL in PostgreSQL, "
                    "PROVISO_STORAGE__REDIS_URL, and PROVISO_STORAGE__BLOB_URL in an S3 store"
                )
            if not settings.documents.ingest_workers:
                raise StartupError("A worker ingests: PROVISO_DOCUMENTS__INGEST_WORKERS has to be 1 or more")
            async with AsyncExitStack() as stack:
                stack.enter_context(locked(settings.data_dir, state_of(settings), settings.own_blobs_folder))
                chosen = back_ends(settings)
                loader = ModelLoader(
                    settings, chosen, config.isaacus, stack, workers=workers, servers=config.model_server
                )
                models = await loader.models(None, None)
                resources = await open_resources(settings, config, stack, models, searches=False)
                matters = resources.matters(settings)
                await matters.open()
                stack.push_async_callback(matters.close)
                await stack.enter_async_context(resources.keeper.keeping(_unheard))
                if settings.telemetry.otlp_endpoint:
                    from proviso_service.telemetry.metrics import sending
                    from proviso_service.wiring_metrics import metrics_of_worker

                    metrics = metrics_of_worker(matters, resources)
                    await stack.enter_async_context(sending(settings.telemetry, metrics))
                return cls(stack.pop_all())

    async def stop(self) -> None:
        """Stops the worker where it is; other processes go on with its documents."""
        await self._stack.aclose()


async def _unheard(is_sound: bool) -> None:
    """Nobody asks a worker for its health; the log tells of the storage's faults."""
    del is_sound

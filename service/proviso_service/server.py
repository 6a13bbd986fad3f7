"""The life of a process that serves, or works: signals, logging, garbage collection. `wiring` puts together what it
serves, and `wiring_worker` what ingests documents. Each is imported by whoever is that."""

import asyncio
import gc
import signal

import structlog

from proviso_service.context.catalog.catalog import reload_when
from proviso_service.settings import Settings
from proviso_service.telemetry.logging import configure_logging

_log = structlog.get_logger(__name__)


async def serve(settings: Settings, workers: int = 0) -> None:
    """Runs the service until SIGTERM or SIGINT; reads the agent's folder again on SIGHUP. The embedded models run in
    so many workers, or here. Raises StartupError.

    For a process of its own: it sets up logging, signal handlers and the garbage collector, which may be off before."""
    from proviso_service.wiring import App

    configure_logging(settings.telemetry)
    stopping = _stop_asked_for()
    hung_up = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hung_up.set)
    app = await App.start(settings, workers=workers)
    reloading = asyncio.create_task(reload_when(hung_up, app.catalog))
    spare_collector()
    _log.info("serving", address=f"{settings.server.host}:{app.port}", llm=settings.llm)
    await stopping.wait()
    reloading.cancel()
    await app.stop()
    _log.info("stopped")


async def work(settings: Settings, workers: int = 0) -> None:
    """Ingests documents until SIGTERM or SIGINT. The embedded models run in so many workers, or here. Raises
    StartupError. For a process of its own, as `serve`."""
    from proviso_service.wiring_worker import Worker

    configure_logging(settings.telemetry)
    stopping = _stop_asked_for()
    worker = await Worker.start(settings, workers)
    spare_collector()
    _log.info("working", documents_at_once=settings.documents.ingest_workers)
    await stopping.wait()
    await worker.stop()
    _log.info("stopped")


def _stop_asked_for() -> asyncio.Event:
    """An event that is set by SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


def spare_collector() -> None:
    """Lets the garbage collector look at less, and less often. What the start has made lives as long as the process.
    What a turn makes is nearly all gone with it. Looked at every 700 objects, as is usual, much of it is still in use,
    and looking takes a fifteenth of a short turn's time.

    The little that the start has left over stays with it. To look for that would take a sixth as long as the start, and
    the first callers would wait."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()

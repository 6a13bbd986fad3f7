"""The life of the server's process: signals, logging, garbage collection. `wiring` puts together what it serves."""

import asyncio
import gc
import signal

import structlog

from proviso_service.context.catalog.catalog import reload_when
from proviso_service.settings import Settings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring import App

_log = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Runs the service until SIGTERM or SIGINT; reads the agent's folder again on SIGHUP. Raises StartupError.

    For a process of its own: it sets up logging, signal handlers and the garbage collector, which may be off before."""
    configure_logging(settings.telemetry)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    hung_up = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)
    app = await App.start(settings)
    reloading = asyncio.create_task(reload_when(hung_up, app.catalog))
    # What the start has made lives as long as the process: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    gc.enable()
    _log.info("serving", address=f"{settings.server.host}:{app.port}", llm=settings.llm)
    await stopping.wait()
    reloading.cancel()
    await app.stop()
    _log.info("stopped")

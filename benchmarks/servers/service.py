"""The whole service, wired as in production, but with the benchmark's chat models.

`python -m benchmarks.servers.service DATA_DIR MODELS_DIR [SETTINGS]`; SETTINGS are others of the service's, as JSON,
and `workers` the number of processes of the embedded models."""

# ruff: noqa: E402  as `serve` does, before anything is imported
from proviso_service.cli.lean_imports import leave_out_unused

leave_out_unused()

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.chat_model import BenchmarkChatModel
from benchmarks.load import WORKLOADS
from benchmarks.servers.lifetime import serve_until_closed
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.server import spare_collector
from proviso_service.settings import Settings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring import App


async def _run(data_dir: Path, models_dir: Path, others: dict[str, Any]) -> None:
    workers = others.pop("workers", 0)
    server = {"port": 0, "drain_s": 1.0} | others.pop("server", {})
    settings = Settings.model_validate({"data_dir": data_dir, "models_dir": models_dir, "server": server, **others})
    configure_logging(settings.telemetry)
    models = (NamedChatModel(name, BenchmarkChatModel.of(workload)) for name, workload in WORKLOADS.items())
    app = await App.start(settings, ChatModels(*models), workers=workers)
    spare_collector()
    try:
        await serve_until_closed(app.port)
    finally:
        await app.stop()


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1]), Path(sys.argv[2]), json.loads((sys.argv[3:] or ["{}"])[0])))

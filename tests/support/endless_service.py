"""A service of its own process whose model never answers: `python -m tests.support.endless_service DATA MODELS`.

Prints its port when it is SERVING, and the id of each matter that is deleted, of which all is still to be cleared; runs
until it is killed or told to stop."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.settings import Settings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring import App
from tests.support.scripted_model import ScriptedChatModel, Step


@contextmanager
def deletions_announced() -> Iterator[None]:
    delete_matter = SqlMatterStore.delete_matter

    async def announced(store: SqlMatterStore, tenant: str, matter_id: str) -> None:
        await delete_matter(store, tenant, matter_id)
        print(matter_id, flush=True)

    with patch.object(SqlMatterStore, "delete_matter", announced):
        yield


async def main(data_dir: Path, models_dir: Path) -> None:
    endless = ScriptedChatModel(script=[Step(hold=asyncio.Event())] * 100)
    settings = Settings.model_validate(
        {"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0, "drain_s": 0.5}}
    )
    configure_logging(settings.telemetry)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    app = await App.start(settings, ChatModels(NamedChatModel("endless", endless)))
    print(app.port, flush=True)
    await stopping.wait()
    await app.stop()


if __name__ == "__main__":
    with deletions_announced():
        asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

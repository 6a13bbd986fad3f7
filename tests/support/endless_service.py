"""A service of its own process whose model never answers: `python -m tests.support.endless_service DATA MODELS`.

Prints its port when it is SERVING, and runs until it is killed or told to stop."""

import asyncio
import signal
import sys
from pathlib import Path

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.app import App
from proviso_service.settings import Settings
from tests.support.scripted_model import ScriptedChatModel, Step


async def main(data_dir: Path, models_dir: Path) -> None:
    endless = ScriptedChatModel(script=[Step(hold=asyncio.Event())] * 100)
    settings = Settings.model_validate(
        {"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0, "drain_s": 0.5}}
    )
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    app = await App.start(settings, ChatModels(NamedChatModel("endless", endless)))
    print(app.port, flush=True)
    await stopping.wait()
    await app.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

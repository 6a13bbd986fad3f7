"""A service of its own process whose model calls a tool that needs an approval, and then answers for ever:
`python -m tests.support.asking_service DATA MODELS`.

Prints its port when it is SERVING; runs until it is killed."""

import asyncio
import sys
from pathlib import Path

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.settings import Settings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.wiring import App
from tests.support.marked_tools import needing_approval
from tests.support.scripted_model import Call, ScriptedChatModel, Step, calls

TOOL = "list_matter_documents"


async def main(data_dir: Path, models_dir: Path) -> None:
    model = ScriptedChatModel(script=[calls(Call(TOOL)), Step(hold=asyncio.Event())])
    settings = Settings.model_validate({"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0}})
    configure_logging(settings.telemetry)
    app = await App.start(settings, ChatModels(NamedChatModel("scripted", model)))
    print(app.port, flush=True)
    await asyncio.Future()


if __name__ == "__main__":
    with needing_approval(TOOL):
        asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

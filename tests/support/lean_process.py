"""`python -m tests.support.lean_process DATA_DIR MODELS_DIR` starts the service as `proviso serve` does, asks it
something, and prints as JSON which modules were loaded when it was SERVING and after the answer."""

import asyncio
import json
import sys
from pathlib import Path

from proviso_service.cli.lean_imports import leave_out_unused


def loaded() -> list[str]:
    """The modules that were loaded from files. Stand-ins, and what cannot be imported, have none."""
    return sorted(name for name, module in sys.modules.items() if getattr(module, "__file__", None))


async def main(data_dir: Path, models_dir: Path) -> None:
    leave_out_unused()
    import grpc

    from proviso_client.v1 import chat_pb2
    from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
    from proviso_service.settings import Settings
    from proviso_service.wiring import App

    settings = Settings.model_validate({"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0}})
    app = await App.start(settings)
    serving = loaded()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{app.port}") as channel:
        request = chat_pb2.ChatRequest(message="Which agreements are there?", user_id="u")
        events = [event async for event in ChatServiceStub(channel).Chat(request)]
    await app.stop()
    reason = events[-1].final_state.exit_reason
    print(json.dumps({"serving": serving, "answered": loaded(), "exit_reason": reason}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

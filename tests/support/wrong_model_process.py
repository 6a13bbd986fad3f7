"""A process of models that answers nothing: it ends with its first call, or hangs when that says so.

`python -m tests.support.wrong_model_process MODELS_DIR THREADS`, as proviso_service.embedded.process."""

import asyncio
import os
import signal

from proviso_service.embedded.process.messages import receive


async def main() -> None:
    calls = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(calls), os.fdopen(os.dup(0), "rb")
    )
    if (await receive(calls)).fields["text"] == "hang":
        signal.pause()


if __name__ == "__main__":
    asyncio.run(main())

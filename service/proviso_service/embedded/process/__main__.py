"""`python -m proviso_service.embedded.process MODELS_DIR THREADS` serves calls of the models from its standard input to
its standard output, until the input ends: with the service, however that ends."""

import asyncio
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path

from proviso_service.embedded.classifier.model import EmbeddedClassifier
from proviso_service.embedded.extractor.model import EmbeddedExtractor
from proviso_service.embedded.judge import Judge
from proviso_service.embedded.minilm import Encoders, MiniLmEmbedder
from proviso_service.embedded.process.calls import ProcessModels, answer
from proviso_service.embedded.process.messages import Message, receive, send
from proviso_service.embedded.reranker import EmbeddedReranker
from proviso_service.models import ModelBusy

_MAX_BUFFERED_BYTES = 8 * 1024 * 1024


async def serve(models: ProcessModels, calls: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
    """Serves calls, many at a time: each model has a queue of its own, and the service bounds their number. Raises
    asyncio.IncompleteReadError when the service has ended."""
    writing = asyncio.Lock()
    under_way: set[asyncio.Task[None]] = set()
    while True:
        call = await receive(calls)
        task = asyncio.create_task(_serve_one(call, models, answers, writing))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


async def _serve_one(
    call: Message, models: ProcessModels, answers: asyncio.StreamWriter, writing: asyncio.Lock
) -> None:
    try:
        answered = await answer(call, models)
    except ModelBusy as busy:
        answered = Message({"busy": busy.message, "retry_after_s": busy.retry_after_s})
    except Exception as error:  # the service tells the caller; the process goes on
        traceback.print_tb(error.__traceback__)  # what it says may be what people wrote
        answered = Message({"failed": type(error).__name__})
    async with writing:
        await send(answers, Message({"id": call.fields["id"], **answered.fields}, answered.arrays))


async def main(models_dir: Path, threads: int, requests: int, answers: int) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(_MAX_BUFFERED_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(requests, "rb"))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(answers, "wb"))
    embedder = MiniLmEmbedder(Encoders.prepared(models_dir, threads))
    judge = Judge(models_dir, threads)
    classifier, extractor = EmbeddedClassifier.load(embedder, judge), EmbeddedExtractor.load(judge)
    models = ProcessModels(embedder, classifier, extractor, EmbeddedReranker(judge))
    await serve(models, reader, asyncio.StreamWriter(transport, protocol, None, loop))


def run() -> None:
    """Moves the standard descriptors away first, so that they belong to the service alone and what a library prints
    goes nowhere."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    with suppress(asyncio.IncompleteReadError, OSError):
        asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), requests, answers))
    os._exit(0)  # threads of the models may still be at work for a service that is gone


if __name__ == "__main__":
    run()

"""Processes that share a state embed a large document together, in batches that each of them may claim."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import numpy as np
import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.matters.model import Document
from proviso_service.matters.stores import ClaimLost, EmbeddingBatch, WorkQueue
from proviso_service.models import Embedder, Vectors
from proviso_service.notices import About, Notices, What

BATCH_TEXTS = 256
FEWEST_TEXTS = 2 * BATCH_TEXTS
"""What has fewer is embedded by its own process, in seconds."""

TEXTS_AT_ONCE = 64
"""Texts that the model is given at a time."""

STEP_TIME_LIMIT_S = 300.0
"""The time limit of so many texts in the model; they usually take a second."""

LEASE_S = 60.0
"""A batch that is not finished in this time is another process's, too; usual ones take seconds."""

_LOOK_S, _POLL_S = 10.0, 0.5

_log = structlog.get_logger(__name__)


class SharedEmbedding:
    """Embeds texts here and in whatever other processes have nothing else to do."""

    def __init__(self, queue: WorkQueue, embedder: Embedder, owner: str, notices: Notices) -> None:
        self._queue = queue
        self._embedder = embedder
        self._owner = owner
        self._notices = notices
        self._offered = asyncio.Event()

    async def embed(
        self,
        document: Document,
        texts: Sequence[str],
        give_way: Callable[[], Awaitable[None]],
        report: Callable[[int], None],
    ) -> Vectors:
        """Returns the vectors of texts of a document, shape (len(texts), dimensions), and reports how many there are.
        Between two pieces of its work this process gives way to its other documents. Raises DocumentNotFound, and
        ClaimLost when the document has come to its end otherwise."""
        batches = [texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS)]
        await self._queue.share_batches(document, batches)
        self._notices.tell(About.TEXTS)
        while left := await self._queue.unfinished_batches(document):
            report((len(batches) - left) * BATCH_TEXTS)
            if batch := await self._queue.claim_batch(self._owner, LEASE_S, document):
                await self._work(batch, give_way)
            else:  # others are at work on the last ones
                await asyncio.sleep(_POLL_S)
        found = await self._queue.finished_batches(document)
        if len(found) < len(batches):
            raise ClaimLost(document.document_id)
        vectors = np.frombuffer(b"".join(found), dtype="<f4")
        return vectors.reshape(len(texts), self._embedder.dimensions)

    async def help(self, is_idle: Callable[[], bool]) -> None:
        """Embeds batches of other processes' documents whenever this one `is_idle`, for ever."""
        self._notices.hear(About.TEXTS, self._heard, self._look)
        while True:
            with suppress(TimeoutError):
                await with_timeout(_LOOK_S, self._offered.wait())
            self._offered.clear()
            try:
                while is_idle() and (batch := await self._queue.claim_batch(self._owner, LEASE_S)):
                    await self._work(batch, _at_once)
            except Exception as failure:
                _log.warning("embedding_not_shared", failure=repr(failure))

    async def _heard(self, what: What) -> None:
        del what
        await self._look()

    async def _look(self) -> None:
        self._offered.set()

    async def _work(self, batch: EmbeddingBatch, give_way: Callable[[], Awaitable[None]]) -> None:
        vectors: Vectors | None = None
        try:
            parts = []
            for start in range(0, len(batch.texts), TEXTS_AT_ONCE):
                await give_way()
                embedding = self._embedder.embed_documents(batch.texts[start : start + TEXTS_AT_ONCE])
                parts.append(await with_timeout(STEP_TIME_LIMIT_S, embedding))
            vectors = np.concatenate(parts)
        finally:
            await self._queue.finish_batch(batch, vectors)


async def _at_once() -> None:
    """There is nothing to give way to."""

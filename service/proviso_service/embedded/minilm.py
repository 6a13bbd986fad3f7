"""The embedded sentence encoder MiniLM, and the embedder that runs it with ONNX Runtime in a thread of its own."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.embedding_queue import EmbeddingJob, EmbeddingQueue
from proviso_service.embedded.prepared import (
    DIMENSIONS,
    MAX_TOKENS,
    MODEL_FILE,
    MODEL_ID,
    TOKENIZER_FILE,
    ModelNotPrepared,
    find_prepared,
)
from proviso_service.models import Vectors

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

_RUN_TOKENS = 512
"""The tokens of one run, padding included. A query waits for the run in progress, which takes some 40 ms at this size.
Larger runs take more time a text, because their intermediate values do not fit into the processor's cache, and more
memory, which the runtime keeps."""

_MAX_CHARS = 16_384
"""How much of a text the tokenizer reads. An ordinary text fills the model's tokens with a tenth of it."""

THREADS = 2
"""Threads of the model, where nothing else is said."""

BATCH_TEXTS = 16
"""Most texts of one run of the model."""

QUEUE_TEXTS = 4_096
"""Most texts that may wait for the model."""

_JOBS_IN_LINE = 2
"""How many slices of its texts one call keeps in line: one is served while the next waits, and calls take turns."""


class Encoding:
    """A prepared model with its tokenizer, run in the calling thread; several threads may use it."""

    def __init__(self, session: "onnxruntime.InferenceSession", tokenizer: "Tokenizer") -> None:
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, models_dir: Path, file: str, threads: int = THREADS) -> Self:
        """Loads a model that was prepared in `models_dir`, to be run by `threads` threads. Raises ModelNotPrepared."""
        from tokenizers import Tokenizer  # it and the runtime are imported where a model is loaded: that takes long

        folder = find_prepared(models_dir)
        try:
            session = _session(folder / file, threads)
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:  # neither library says more precisely what it may raise
            raise ModelNotPrepared(folder, "is damaged: it cannot be loaded") from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return cls(session, tokenizer)

    def tokens(self, text: str) -> list[int]:
        """Returns at most MAX_TOKENS ids of tokens. Lone surrogates, which no tokenizer takes, are read as question
        marks."""
        readable = text[:_MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(readable).ids
        return ids

    def run(self, batch: Sequence[list[int]]) -> Vectors:
        """Returns what the model makes of each text of the batch: its only output."""
        width = max(len(ids) for ids in batch)
        input_ids = np.zeros((len(batch), width), dtype=np.int64)
        mask: NDArray[np.int64] = np.zeros_like(input_ids)
        for row, ids in enumerate(batch):
            input_ids[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        found: Vectors = self._session.run(None, {"input_ids": input_ids, "attention_mask": mask})[0]
        return found


class MiniLmEncoder:
    """Turns texts into unit vectors in the calling thread."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    @classmethod
    def load(cls, models_dir: Path, threads: int = THREADS) -> Self:
        """Loads the encoder that was prepared in `models_dir`, to be run by `threads` threads. Raises
        ModelNotPrepared."""
        return cls(Encoding.load(models_dir, MODEL_FILE, threads))

    def tokens(self, text: str) -> list[int]:
        """Returns at most MAX_TOKENS ids of tokens."""
        return self._encoding.tokens(text)

    def encode(self, batch: Sequence[list[int]]) -> Vectors:
        """Returns the vectors of the batch, of shape (len(batch), DIMENSIONS)."""
        return self._encoding.run(batch)


class MiniLmEmbedder:
    """Implements Embedder. Concurrent callers share runs of the model, and queries go before documents that wait."""

    def __init__(
        self,
        load: Callable[[], MiniLmEncoder],
        *,
        batch_texts: int = BATCH_TEXTS,
        queue_texts: int = QUEUE_TEXTS,
    ) -> None:
        """Starts the model's thread, which `close` ends; it loads the encoder with the first texts. The model takes at
        most `batch_texts` texts at a time, and at most `queue_texts` queries and as many texts of documents wait for
        it."""
        self._load = load
        self._batch_texts = batch_texts
        self._slice_texts = min(batch_texts, queue_texts)
        self._queue = EmbeddingQueue(queue_texts)
        self._thread = threading.Thread(target=self._work, name="minilm", daemon=True)
        self._thread.start()

    @classmethod
    def load(cls, models_dir: Path) -> Self:
        """Loads the model with the usual sizes. It takes about 0.3 s, so it should run in a thread. Raises
        ModelNotPrepared."""
        encoder = MiniLmEncoder.load(models_dir)
        return cls(lambda: encoder)

    @property
    def model_id(self) -> str:
        return MODEL_ID

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Returns vectors of shape (len(texts), dimensions), in order. Any number of texts may be given; they wait
        until the line has room for them. Raises ModelClosed."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        under_way: deque[tuple[list[int], EmbeddingJob]] = deque()
        try:
            for start in range(0, len(texts), self._slice_texts):
                if len(under_way) == _JOBS_IN_LINE:
                    await _settle(under_way.popleft(), vectors)
                indices = by_length[start : start + self._slice_texts]
                job = await self._queue.put_documents([texts[index] for index in indices])
                under_way.append((indices, job))
            while under_way:
                await _settle(under_way.popleft(), vectors)
        finally:
            for _, job in under_way:
                job.result.cancel()
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector of shape (dimensions,). Raises ModelBusy when too many queries wait, and ModelClosed."""
        job = self._queue.put_query(text)
        vector: Vectors = (await _result(job))[0]
        return vector

    async def close(self) -> None:
        """Makes what waits fail with ModelClosed, finishes the run in progress and ends the thread."""
        self._queue.close()
        await asyncio.to_thread(self._thread.join)

    @cached_property
    def _encoder(self) -> MiniLmEncoder:
        return self._load()

    def _work(self) -> None:
        while jobs := self._queue.take(self._batch_texts):
            self._serve(jobs, between_runs=self._serve_waiting_queries)

    def _serve_waiting_queries(self) -> None:
        if queries := self._queue.take_queries(self._batch_texts):
            self._serve(queries, between_runs=_go_on)

    def _serve(self, jobs: Sequence[EmbeddingJob], *, between_runs: Callable[[], None]) -> None:
        try:
            vectors = self._vectors([text for job in jobs for text in job.texts], between_runs)
        except Exception as error:  # the callers get it; the thread goes on
            for job in jobs:
                job.result.set_exception(error)
            return
        start = 0
        for job in jobs:
            job.result.set_result(vectors[start : start + len(job.texts)])
            start += len(job.texts)

    def _vectors(self, texts: Sequence[str], between_runs: Callable[[], None]) -> Vectors:
        tokens = [self._encoder.tokens(text) for text in texts]
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for indices in runs_of_similar_length([len(ids) for ids in tokens]):
            between_runs()
            vectors[indices] = self._encoder.encode([tokens[index] for index in indices])
        return vectors


def _session(model: Path, threads: int) -> "onnxruntime.InferenceSession":
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between runs would take processor time that the rest of the service needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def runs_of_similar_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yields indices of `lengths`, shortest first, in runs whose tokens, padded to the longest text, stay within a
    bound."""
    run: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if run and lengths[index] * (len(run) + 1) > _RUN_TOKENS:
            yield run
            run = []
        run.append(index)
    if run:
        yield run


async def _settle(part: tuple[list[int], EmbeddingJob], vectors: Vectors) -> None:
    indices, job = part
    vectors[indices] = await _result(job)


async def _result(job: EmbeddingJob) -> Vectors:
    """Waits for the result of a job; cancelling the wait cancels the job."""
    return await asyncio.wrap_future(job.result)


def _go_on() -> None:
    """Does nothing: while queries are served, nothing else is served between runs."""

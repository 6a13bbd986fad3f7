"""The embedded sentence encoders, MiniLM for English and another for other languages, whose vectors are of one space;
and the embedder that runs them with ONNX Runtime in a thread of its own."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.embedding_queue import EmbeddingJob, EmbeddingQueue
from proviso_service.embedded.prepared import (
    DIMENSIONS,
    ENGLISH_FOLDER,
    LANGUAGES_FOLDER,
    MAX_TOKENS,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    ModelNotPrepared,
    encoder_id,
    find_prepared,
    has_languages,
)
from proviso_service.language import is_english
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
    def load(cls, models_dir: Path, file: str, threads: int = THREADS, of: ModelFolder = ENGLISH_FOLDER) -> Self:
        """Loads a model that was prepared in `models_dir`, to be run by `threads` threads. Raises ModelNotPrepared."""
        from tokenizers import Tokenizer  # it and the runtime are imported where a model is loaded: that takes long

        folder = find_prepared(models_dir, of)
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
    def load(cls, models_dir: Path, threads: int = THREADS, of: ModelFolder = ENGLISH_FOLDER) -> Self:
        """Loads the encoder that was prepared in `models_dir`, to be run by `threads` threads. Raises
        ModelNotPrepared."""
        return cls(Encoding.load(models_dir, MODEL_FILE, threads, of))

    def tokens(self, text: str) -> list[int]:
        """Returns at most MAX_TOKENS ids of tokens."""
        return self._encoding.tokens(text)

    def encode(self, batch: Sequence[list[int]]) -> Vectors:
        """Returns the vectors of the batch, of shape (len(batch), DIMENSIONS)."""
        return self._encoding.run(batch)


Load = Callable[[], MiniLmEncoder]
Run = tuple[Callable[[], Vectors], list[int]]
"""A run of a model, and the indices of the texts that it reads."""


class Encoders:
    """The encoder of English, and the one of other languages where it is prepared. Each is loaded with the first text
    that it is to read. The vectors of both are of one space: a question finds texts of any language."""

    def __init__(self, english: Load, others: Load | None = None) -> None:
        self._loads = (english, others) if others else (english,)
        self._loaded: dict[bool, MiniLmEncoder] = {}

    @classmethod
    def prepared(cls, models_dir: Path, threads: int, english: MiniLmEncoder | None = None) -> Self:
        """Those that were prepared in `models_dir`; an encoder that is given is used in place of that of English."""
        others = (
            partial(MiniLmEncoder.load, models_dir, threads, LANGUAGES_FOLDER) if has_languages(models_dir) else None
        )
        return cls((lambda: english) if english else partial(MiniLmEncoder.load, models_dir, threads), others)

    @property
    def model_id(self) -> str:
        return encoder_id(with_languages=len(self._loads) > 1)

    def runs(self, texts: Sequence[str], max_tokens: int = MAX_TOKENS) -> Iterator[Run]:
        """Yields the runs that the texts take, of each of which so many tokens are read. Raises ModelNotPrepared."""
        has_others = len(self._loads) > 1
        apart = [has_others and not is_english(text) for text in texts]
        for is_other in sorted(set(apart)):
            encoder = self._encoder(is_other)
            own = [index for index, one in enumerate(apart) if one is is_other]
            tokens = [encoder.tokens(texts[index])[:max_tokens] for index in own]
            for run in runs_of_similar_length([len(ids) for ids in tokens]):
                yield partial(encoder.encode, [tokens[place] for place in run]), [own[place] for place in run]

    def _encoder(self, is_other: bool) -> MiniLmEncoder:
        if is_other not in self._loaded:
            self._loaded[is_other] = self._loads[is_other]()
        return self._loaded[is_other]


class MiniLmEmbedder:
    """Implements Embedder. Concurrent callers share runs of the model, and queries go before documents that wait."""

    def __init__(
        self,
        encoders: Encoders,
        *,
        batch_texts: int = BATCH_TEXTS,
        queue_texts: int = QUEUE_TEXTS,
    ) -> None:
        """Starts the models' thread, which `close` ends; it loads an encoder with the first texts. It takes at
        most `batch_texts` texts at a time, and at most `queue_texts` queries and as many texts of documents wait for
        it."""
        self._encoders = encoders
        self._batch_texts = batch_texts
        self._slice_texts = min(batch_texts, queue_texts)
        self._queue = EmbeddingQueue(queue_texts)
        self._thread = threading.Thread(target=self._work, name="minilm", daemon=True)
        self._thread.start()

    @classmethod
    def load(cls, models_dir: Path) -> Self:
        """Loads the model with the usual sizes. It takes about 0.3 s, so it should run in a thread. Raises
        ModelNotPrepared."""
        return cls(Encoders.prepared(models_dir, THREADS, MiniLmEncoder.load(models_dir)))

    @property
    def model_id(self) -> str:
        return self._encoders.model_id

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
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for run, indices in self._encoders.runs(texts):
            between_runs()
            vectors[indices] = run()
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

"""The judge: it reads what is asked or stated together with a text and tells whether the text decides it. A text that
answers a question does. Beside that it tells how near texts are in meaning, by the encoder."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import IntEnum
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.minilm import Encoders, Encoding, runs_of_similar_length
from proviso_service.embedded.prepared import DIMENSIONS, JUDGE_FILE, JUDGE_ID
from proviso_service.language import is_english
from proviso_service.models import ModelBusy, ModelClosed

A = TypeVar("A")
T = TypeVar("T")

Logits = NDArray[np.float32]
Margins = NDArray[np.float64]

_MAX_WAITING = 64
_RETRY_AFTER_S = 1.0

_MAX_KNOWN = 8_192
"""So many vectors are kept, in some 14 MB: who asks one question about a document often asks another."""

MAX_QUERY_TOKENS = 64
MAX_TEXT_TOKENS = 176


class Verdict(IntEnum):
    """What a text says of a question or statement; the order of the judge's outputs."""

    NEITHER = 0
    SUPPORTS = 1
    CONTRADICTS = 2


class Judge:
    """Judges pairs of a question or statement and a text. The model is loaded with the first pair, which takes about
    0.3 s; it runs in a thread of its own, which `close` ends."""

    def __init__(self, models_dir: Path, threads: int) -> None:
        self._models_dir = models_dir
        self._threads = threads
        self._encoders = Encoders.prepared(models_dir, threads)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge")
        self._known: OrderedDict[bytes, Logits] = OrderedDict()
        self._waiting = 0
        self._is_closed = False

    @property
    def model_id(self) -> str:
        """What it judges depends on both models."""
        return f"{JUDGE_ID} {self._encoders.model_id}"

    async def margins(self, pairs: Sequence[tuple[str, str]]) -> Margins:
        """Returns by how much each text rather decides what is asked or stated than not, as `margins_of` has it, in
        order. Raises as `verdicts`."""
        return margins_of(await self.verdicts(pairs))

    async def verdicts(self, pairs: Sequence[tuple[str, str]]) -> Logits:
        """Returns the logits of the verdicts on pairs, of shape (len(pairs), 3). Callers take turns. Raises
        ModelNotPrepared, ModelClosed, and ModelBusy when too many wait."""
        with self._admitted():
            joined = await self._in_thread(self._joined, pairs)
            found = np.empty((len(pairs), len(Verdict)), dtype=np.float32)
            for indices in runs_of_similar_length([len(ids) for ids in joined]):
                found[indices] = await self._in_thread(self._run, [joined[index] for index in indices])
            return found

    async def nearness(self, question: str, texts: Sequence[str]) -> Margins:
        """Returns how near each text is in meaning to a question: the cosine of their vectors, of which the last ones
        are kept. Raises as `verdicts`."""
        with self._admitted():
            asked = dict.fromkeys((question, *texts))
            vectors = {text: self._known[key] for text in asked if (key := _key(text)) in self._known}
            unknown = [text for text in asked if text not in vectors]
            for run, indices in await self._in_thread(self._runs, unknown):
                found = await self._in_thread(_run, run)
                vectors |= {unknown[index]: vector.copy() for index, vector in zip(indices, found, strict=True)}
            self._keep(vectors)
            of_texts = np.array([vectors[text] for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)
            nearness: Margins = (of_texts @ vectors[question]).astype(np.float64)
            return nearness

    def vectors(self, texts: Sequence[str]) -> Logits:
        """Returns the encoder's vectors of texts, of shape (len(texts), DIMENSIONS), from the calling thread. Raises
        ModelNotPrepared."""
        found = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for run, indices in self._runs(texts):
            found[indices] = run()
        return found

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Logits:
        """Returns the logits of the verdicts on pairs, of shape (len(pairs), 3), from the calling thread. Raises
        ModelNotPrepared."""
        joined = self._joined(pairs)
        found = np.empty((len(pairs), len(Verdict)), dtype=np.float32)
        for indices in runs_of_similar_length([len(ids) for ids in joined]):
            found[indices] = self._run([joined[index] for index in indices])
        return found

    async def close(self) -> None:
        """Makes what waits or is under way fail with ModelClosed, finishes the run in progress and ends the thread."""
        self._is_closed = True
        await asyncio.to_thread(self._thread.shutdown)

    def _keep(self, vectors: Mapping[str, Logits]) -> None:
        """Keeps vectors as those that were used last, without the texts."""
        for text, vector in vectors.items():
            self._known[_key(text)] = vector
            self._known.move_to_end(_key(text))
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    @cached_property
    def _encoding(self) -> Encoding:
        return Encoding.load(self._models_dir, JUDGE_FILE, self._threads)

    def _joined(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        tokens = self._encoding.tokens
        return [joined_tokens(tokens(query), tokens(text)) for query, text in pairs]

    def _run(self, batch: Sequence[list[int]]) -> Logits:
        return self._encoding.run(batch)

    def _runs(self, texts: Sequence[str]) -> list[tuple[Callable[[], Logits], list[int]]]:
        return list(self._encoders.runs(texts, MAX_TEXT_TOKENS))

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Counts one more caller while the context is open. Raises ModelBusy when too many wait."""
        if self._waiting >= _MAX_WAITING:
            raise ModelBusy("Too many texts are waiting to be judged", _RETRY_AFTER_S)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _in_thread(self, work: Callable[[A], T], argument: A) -> T:
        def unless_closed() -> T:
            self._check_open()
            return work(argument)

        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, unless_closed)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ModelClosed("The judge is closed")


def readable_pairs(query: str, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Tells which texts the judge can read together with a query: it reads English."""
    is_asked_in_english = is_english(query)
    return np.array([is_asked_in_english and is_english(text) for text in texts], dtype=np.bool_)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _run(run: Callable[[], Logits]) -> Logits:
    return run()


def joined_tokens(query: list[int], text: list[int]) -> list[int]:
    """Returns the tokens of a query and a text as the judge reads them, one after the other."""
    return [*_cut(query, MAX_QUERY_TOKENS), *_cut(text, MAX_TEXT_TOKENS)[1:]]


def margins_of(logits: Logits) -> Margins:
    """Returns by how much each text rather decides what is asked or stated than not: the logit of the probability that
    it supports or contradicts it."""
    decides = np.logaddexp(logits[:, Verdict.SUPPORTS], logits[:, Verdict.CONTRADICTS])
    return (decides - logits[:, Verdict.NEITHER]).astype(np.float64)


def supports_of(logits: Logits) -> Margins:
    """Returns by how much each text rather supports what is stated than not: the logit of the probability that it does.
    So small a model tells that far less surely than whether the text is to the point."""
    denies = np.logaddexp(logits[:, Verdict.NEITHER], logits[:, Verdict.CONTRADICTS])
    return (logits[:, Verdict.SUPPORTS] - denies).astype(np.float64)


def below_title(titles: Sequence[str], sentence: str) -> str:
    """Returns a sentence as the judge reads it: below the innermost title, where there is one that it does not begin
    with."""
    title = titles[-1] if titles else ""
    return f"{title}: {sentence}" if title and not sentence.lower().startswith(title.lower()) else sentence


def _cut(ids: list[int], limit: int) -> list[int]:
    """Returns at most so many tokens, the last of which ends the text."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]

"""The embedded answer extractor: it finds answers by their words and by the grammar of drafting, and has the judge read
the likeliest."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from importlib import resources
from typing import Self

import numpy as np

from proviso_service.embedded import classifier
from proviso_service.embedded.classifier.fitted import Head, from_bytes
from proviso_service.embedded.classifier.model import shared_source
from proviso_service.embedded.extractor.answers import AnswerFinder, AnswerHead, Candidate, relative
from proviso_service.embedded.extractor.features import NAMES
from proviso_service.embedded.judge import Judge, readable_pairs
from proviso_service.models import AnswerSpan, ModelBusy, ModelClosed, ModelPassage

_HEAD = "fitted.json"
_WORDS = "fitted.npz"
_SOURCES = (".py", ".toml", ".npz", ".json")
"""The files on which answers depend: code and data, also those of the classifier, whose features are used here."""

_BLOCK_PASSAGES = 64
_NEAR = 96
"""So many of the likeliest pieces are compared with the question in meaning, or one for each passage where that is
more."""

_JUDGED = 32
_JUDGED_SHARE = 2
"""So many of the likeliest of these are judged, or one for so many passages where that is more."""

_RETRY_AFTER_S = 1.0
_MAX_WAITING = 64

_DIGITS = 6
_CONSTANTS = ("bias", "slope", "shift", "support", "nearness")


class EmbeddedExtractor:
    """Implements AnswerExtractor. It works in one thread of its own, which `close` ends, and which makes the finder
    with the first question."""

    def __init__(self, load: Callable[[], AnswerFinder], judge: Judge | None, model_id: str) -> None:
        self._load = load
        self._judge = judge
        self._model_id = model_id
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="extractor")
        self._waiting = 0
        self._is_closed = False

    @classmethod
    def load(cls, judge: Judge | None) -> Self:
        """Reads the package's files. Without a judge answers are found by their words alone. The model's id follows
        from code and data, and from the judge's."""
        own, words = _contents(__package__), _contents(classifier.__name__)
        judged = judge.model_id.encode() if judge else b""
        digest = sha256(b"\0".join([*own.values(), *words.values(), shared_source(), judged])).hexdigest()
        load = partial(_finder, words[_WORDS], own[_HEAD])
        return cls(load, judge, f"proviso-extractor-{digest[:16]}")

    @property
    def model_id(self) -> str:
        return self._model_id

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        self._check_open()
        if self._waiting >= _MAX_WAITING:
            raise ModelBusy("Too many questions are waiting for the extractor", _RETRY_AFTER_S)
        self._waiting += 1
        try:
            return await self._extract(question, list(passages))
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Makes what waits or is under way fail with ModelClosed, finishes the block of passages in progress and ends
        the thread."""
        self._is_closed = True
        await asyncio.to_thread(self._thread.shutdown)

    async def _extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        loop = asyncio.get_running_loop()
        candidates: list[Candidate] = []
        for first in range(0, len(passages), _BLOCK_PASSAGES):
            block = passages[first : first + _BLOCK_PASSAGES]
            self._check_open()
            work = partial(self._candidates, question, block, first)
            candidates.extend(await loop.run_in_executor(self._thread, work))
        candidates.sort(key=lambda one: -one.logit)
        self._check_open()
        likely = await self._read(question, candidates[: max(_NEAR, len(passages))], len(passages))
        return await loop.run_in_executor(self._thread, self._answers, question, likely, len(passages))

    async def _read(self, question: str, candidates: Sequence[Candidate], passages: int) -> Sequence[Candidate]:
        """Has the models read the likeliest candidates; without them, their words alone count."""
        judged = max(_JUDGED, passages // _JUDGED_SHARE)
        if not (self._judge and candidates):
            return candidates[:judged]
        head = self._finder.head
        near = relative(await self._judge.nearness(question, [one.read for one in candidates])) * head.nearness
        likely = sorted(map(_plus, candidates, near), key=lambda one: -one.logit)[:judged]
        support = np.zeros(len(likely))
        texts = [one.read for one in likely]
        read = np.flatnonzero(await asyncio.to_thread(readable_pairs, question, texts))
        support[read] = await self._judge.margins([(question, texts[index]) for index in read]) * head.support
        return list(map(_plus, likely, support))

    @cached_property
    def _finder(self) -> AnswerFinder:
        return self._load()

    def _candidates(self, question: str, passages: Sequence[ModelPassage], first: int) -> Sequence[Candidate]:
        self._check_open()
        return self._finder.candidates(question, passages, first)

    def _answers(self, question: str, candidates: Sequence[Candidate], count: int) -> Sequence[Sequence[AnswerSpan]]:
        self._check_open()
        return self._finder.answers(question, candidates, count)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ModelClosed("The extractor is closed")


def _plus(candidate: Candidate, evidence: float) -> Candidate:
    return replace(candidate, logit=candidate.logit + float(evidence))


def _finder(words: bytes, head: bytes) -> AnswerFinder:
    """Makes the finder, which takes about 0.05 s."""
    return AnswerFinder(from_bytes(words).words, head_from_json(head))


def _contents(package: str) -> dict[str, bytes]:
    """Returns the contents of the package's files by name, in the order of the names."""
    files = sorted((entry for entry in resources.files(package).iterdir() if entry.is_file()), key=lambda one: one.name)
    return {file.name: file.read_bytes() for file in files if file.name.endswith(_SOURCES)}


def head_from_json(content: bytes) -> AnswerHead:
    """Reads the fitted weights. Raises ValueError when they are not those of the features."""
    data: Mapping[str, object] = json.loads(content)
    weights = data["weights"]
    if not isinstance(weights, dict) or tuple(weights) != NAMES:
        raise ValueError("the fitted weights are not those of the features")
    bias, slope, shift, support, nearness = (float(str(data[name])) for name in _CONSTANTS)
    return AnswerHead(Head(np.array(list(weights.values()), dtype=np.float64), bias, slope, shift), support, nearness)


def head_to_json(head: AnswerHead) -> bytes:
    words = head.words
    weights = {name: _rounded(weight) for name, weight in zip(NAMES, words.weights, strict=True)}
    values = (words.bias, words.slope, words.shift, head.support, head.nearness)
    constants = dict(zip(_CONSTANTS, map(_rounded, values), strict=True))
    return json.dumps({"weights": weights, **constants}, indent=1).encode() + b"\n"


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")

"""A classifier that knows words: deterministic, and every call is on record."""

import asyncio
import re
from collections.abc import Sequence

import numpy as np

from proviso_service.models import ModelPassage, Scores

_WORD = re.compile(r"[a-z]+")
_STEM_CHARS = 6
_GRAMMAR = frozenset(("a", "and", "by", "clause", "for", "is", "of", "or", "party", "that", "the", "this", "to"))


def stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM_CHARS] for word in _WORD.findall(text.lower()) if word not in _GRAMMAR)


class WordClassifier:
    """A score is the share of the statement's words that the passage or the headings above it hold."""

    def __init__(self, model_id: str = "word-classifier") -> None:
        self._model_id = model_id
        self._open = asyncio.Event()
        self._open.set()
        self.calls: list[tuple[str, str]] = []
        self.sizes: list[int] = []
        self.failures: dict[str, Exception] = {}
        self.entered = asyncio.Event()
        self.left = asyncio.Event()
        self.running = 0
        self.most_running = 0

    @property
    def model_id(self) -> str:
        return self._model_id

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        self.sizes.append(len(passages))
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        self.entered.set()
        try:
            await self._open.wait()
            await asyncio.sleep(0)
            return np.array([self._score(statement, passage) for passage in passages], dtype=np.float32)
        finally:
            self.running -= 1
            self.left.set()

    def shut(self) -> None:
        """Calls wait until `open`."""
        self._open.clear()
        self.entered.clear()

    def open(self) -> None:
        self._open.set()

    async def until_running(self, calls: int) -> None:
        """Until that many calls are under way."""
        async with asyncio.timeout(10):
            while self.running < calls:
                self.entered.clear()
                await self.entered.wait()

    async def until_idle(self) -> None:
        """Until no call is under way."""
        async with asyncio.timeout(10):
            while self.running:
                self.left.clear()
                await self.left.wait()

    def fail_on(self, word: str, error: Exception) -> None:
        """Every passage that holds the word makes the call fail."""
        self.failures[word] = error

    def _score(self, statement: str, passage: ModelPassage) -> float:
        for word, error in self.failures.items():
            if word in passage.text:
                raise error
        self.calls.append((statement, passage.text))
        wanted = stems(statement)
        return len(wanted & stems(" ".join((passage.text, *passage.section_path)))) / max(1, len(wanted))

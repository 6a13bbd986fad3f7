"""An answer extractor that knows words: deterministic, and every call is on record."""

import asyncio
import re
from collections.abc import Sequence

from proviso_service.models import AnswerSpan, ModelPassage
from tests.support.word_classifier import stems

_SENTENCE = re.compile(r"[^\s.#](?:[^.#\n]|\n(?!\s))*\.")
_ASKING = stems("what who when where which how much many long are does do")


class WordExtractor:
    """The answer in a passage is its sentence with most of the question's words; the score is their share."""

    model_id = "word-extractor"

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self.entered = asyncio.Event()
        self.calls: list[tuple[str, list[str]]] = []
        self.running = 0
        self.most_running = 0
        self.failure: Exception | None = None

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        self.calls.append((question, [passage.text for passage in passages]))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.entered.set()
        try:
            await self._open.wait()
            if self.failure:
                raise self.failure
            return [_spans(question, passage.text) for passage in passages]
        finally:
            self.running -= 1

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


def _spans(question: str, text: str) -> list[AnswerSpan]:
    wanted = stems(question) - _ASKING
    found = [
        AnswerSpan(match.start(), match.end(), len(wanted & stems(match[0])) / max(1, len(wanted)))
        for match in _SENTENCE.finditer(text)
    ]
    best = max(found, key=lambda span: span.score, default=None)
    return [best] if best and best.score else []

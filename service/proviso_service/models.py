"""The ports of the models that are not chat models; chat models are LangChain's BaseChatModel. A port says what a
model does; the embedded models and those of Isaacus implement it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from proviso_service.errors import NotReady, TooBusy

Vectors = NDArray[np.float32]

Scores = NDArray[np.float32]
"""Shape (count,), each in [0, 1]."""


class ModelBusy(TooBusy):
    """As many calls wait for a model as are allowed to; the call may be made again after `retry_after_s`."""


class ModelClosed(NotReady):
    """A model was closed before it answered: the service is stopping."""


class Embedder(Protocol):
    """Turns texts into unit vectors. An implementation never blocks the event loop, and it bounds the number of calls
    that wait."""

    @property
    def model_id(self) -> str:
        """Identifies the model with its settings. Vectors with different ids cannot be compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Returns vectors of shape (len(texts), dimensions), float32, with L2-normalised rows, in order. Raises
        ModelClosed, and ModelBusy when the queue is full."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector of shape (dimensions,), float32, L2-normalised. Queries are served before documents that
        wait."""
        ...


@dataclass(frozen=True, slots=True)
class ModelPassage:
    """A passage of a document as models judge it: its text and the titles of the headings above it, outermost first.
    `vector` is what the embedder makes of the text, of shape (dimensions,), where it is at hand."""

    text: str
    section_path: tuple[str, ...] = ()
    vector: Vectors | None = field(default=None, compare=False, repr=False)

    @property
    def sha256(self) -> str:
        """The hash of the text and of the section path, in hexadecimal. Equal passages have equal scores."""
        digest = hashlib.sha256()
        for part in (self.text, *self.section_path):
            encoded = part.encode(errors="surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        return digest.hexdigest()


class Classifier(Protocol):
    """Tells how surely passages satisfy a statement in words. An implementation never blocks the event loop, and it
    bounds the number of calls that wait."""

    @property
    def model_id(self) -> str:
        """Identifies the model with its settings. It changes whenever a score could change."""
        ...

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        """Returns a score in [0, 1] for each passage, float32, of shape (len(passages),), in order; above 0.5 the
        passage satisfies the statement. A score depends on the statement and the passage alone, never on other
        passages, and is the same every time. Raises ModelClosed, and ModelBusy when the queue is full."""
        ...


class Reranker(Protocol):
    """Tells how relevant passages are to a query. An implementation never blocks the event loop, and it bounds the
    number of calls that wait."""

    @property
    def model_id(self) -> str: ...

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        """Shape (len(passages),), float32, in [0, 1], in order. Raises ModelClosed, ModelBusy when the
        queue is full, and ModelApiError."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer in a passage's text, from `start` to `end` in code points, end exclusive. `score`, in [0, 1], is how
    surely it answers the question."""

    start: int
    end: int
    score: float


class AnswerExtractor(Protocol):
    """Finds the spans of passages that answer a question. An implementation never blocks the event loop, and it bounds
    the number of calls that wait."""

    @property
    def model_id(self) -> str: ...

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        """For each passage, in order, its answers, best first, without overlap; none where it has none. Scores are
        comparable between passages. Raises ModelClosed, ModelBusy when the queue is full, and ModelApiError."""
        ...

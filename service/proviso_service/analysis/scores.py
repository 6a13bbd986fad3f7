"""Where the scores of statements on documents are kept: the store that outlives the process, and the cache of those
used last."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from proviso_service.matters import Document
from proviso_service.models import ModelPassage, PassageWords, ReadPassages, Scores
from proviso_service.reading import Chunk

ScoresByStatement = Mapping[str, Scores]
"""Scores by statement: one for each chunk of a document, in their order; NaN for chunks that are not scored yet."""


class ScoreStore(Protocol):
    """The chunks of READY documents as a classifier reads them, and the scores that it gave. Scores live as long as
    their document."""

    async def passages(
        self, tenant: str, document_ids: Sequence[str], embedding_model_id: str, first: int, limit: int
    ) -> Mapping[str, Sequence[ModelPassage]]:
        """Returns, by document, at most `limit` of its chunks from ordinal `first` on, in order; with their vectors
        where these are of the embedding model given."""
        ...

    async def read_passages(
        self,
        tenant: str,
        document_ids: Sequence[str],
        words_id: str,
        embedding_model_id: str,
        first: int,
        limit: int,
    ) -> Mapping[str, ReadPassages]:
        """Returns, by document, what `words_id` names of at most `limit` of its chunks from ordinal `first` on; only
        documents of which that is kept. There are no vectors where these are of another embedding model."""
        ...

    async def keep_words(self, tenant: str, document_id: str, words_id: str, words: PassageWords) -> None:
        """Keeps what was read in a document, in place of what was there; nothing where it was deleted meanwhile."""
        ...

    async def matched_chunks(self, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, Chunk]:
        """Returns the chunks that exist by their id, without their clause numbers."""
        ...

    async def known_scores(
        self, tenant: str, model_id: str, document_ids: Sequence[str], statements: Sequence[str]
    ) -> Mapping[str, ScoresByStatement]:
        """Returns the stored scores by document."""
        ...

    async def shared_scores(
        self, tenant: str, model_id: str, document: Document, statements: Sequence[str]
    ) -> ScoresByStatement:
        """Returns what other documents of the tenant know about equal passages, for example an earlier version of the
        document; empty when there is nothing."""
        ...

    async def scored_documents(
        self, tenant: str, model_id: str, statements: Sequence[str], limit: int
    ) -> Sequence[str]:
        """Returns the ids of at most `limit` documents with scores of any of the statements."""
        ...

    async def save_scores(
        self, tenant: str, model_id: str, scores: Mapping[str, ScoresByStatement], max_statements: int
    ) -> Sequence[str]:
        """Replaces what is stored of these documents and statements. Of a document's other statements the latest stay,
        `max_statements` in all. Returns the ids of the documents that were saved, without those that were deleted
        meanwhile."""
        ...

    async def count_scores(self, tenant: str, matter_id: str, model_id: str, statements: Sequence[str]) -> int:
        """Returns the number of scores that are stored of a matter's READY documents."""
        ...


ENTRY_SCORES = 100
"""What an entry takes beside its scores, expressed as a number of scores."""


class ScoreKey(NamedTuple):
    """The key of a document's scores for one statement."""

    tenant: str
    model_id: str
    document_id: str
    statement: str


class ScoreCache:
    """The scores of whole documents that were used last. It takes about four bytes for each of `max_scores`."""

    def __init__(self, max_scores: int) -> None:
        self._max_scores = max_scores
        self._scores = 0
        self._entries: OrderedDict[ScoreKey, Scores] = OrderedDict()

    def get(self, key: ScoreKey) -> Scores | None:
        """Returns the scores, which are then the last used; None where there are none."""
        scores = self._entries.get(key)
        if scores is not None:
            self._entries.move_to_end(key)
        return scores

    def put(self, key: ScoreKey, scores: Scores) -> None:
        """Keeps the array itself, which nobody may change from now on."""
        scores.flags.writeable = False
        self._drop(self._entries.pop(key, None))
        self._entries[key] = scores
        self._scores += _size(scores)
        while self._scores > self._max_scores:
            self._drop(self._entries.popitem(last=False)[1])

    def _drop(self, scores: Scores | None) -> None:
        if scores is not None:
            self._scores -= _size(scores)


def _size(scores: Scores) -> int:
    return len(scores) + ENTRY_SCORES

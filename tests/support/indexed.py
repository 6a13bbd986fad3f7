"""Indexes of matters made of passages, without a database."""

from collections.abc import Sequence

import numpy as np

from proviso_service.matters.packing import PackedDocument, PackedWords
from proviso_service.matters.search_index import IndexAnswer, IndexQuery, MatterIndex, Rows
from proviso_service.models import Vectors
from proviso_service.reading import Chunk, significant_words, telling_words
from tests.support.stored import DIMENSIONS, a_text, vectors_of

NOWHERE: Vectors = np.zeros(DIMENSIONS, dtype=np.float32)


def packed(document_id: str, *passages: str) -> PackedDocument:
    return packed_chunks(document_id, a_text(*passages)[1])


def packed_chunks(document_id: str, chunks: Sequence[Chunk]) -> PackedDocument:
    words = PackedWords.of(chunks).packed()
    return PackedDocument(document_id, f"{document_id}.txt", len(chunks), words, vectors_of(chunks))


def index_of(*documents: PackedDocument, version: int = 1) -> MatterIndex:
    return MatterIndex.build(version, documents, DIMENSIONS)


def answer_to(
    index: MatterIndex,
    query: str = "",
    *,
    vector: Vectors = NOWHERE,
    clauses: Sequence[Sequence[str]] = (),
    limit: int = 50,
    inside: Rows | None = None,
) -> IndexAnswer:
    words = significant_words(query)
    return index.search(IndexQuery(vector, words, telling_words(words), clauses, limit, limit, inside))


def worded(answer: IndexAnswer) -> list[str]:
    """The passages that words have brought up, best first."""
    ranked = [(one.lexical.rank, one.chunk_id) for one in answer.found if one.lexical]
    return [chunk_id for _, chunk_id in sorted(ranked)]

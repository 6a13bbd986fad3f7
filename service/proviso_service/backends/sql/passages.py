"""Reads the chunks of documents in the forms that a classifier and the answer to a query need."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import repeat

from sqlalchemy import Connection, Text, func, select, type_coerce

from proviso_service.backends.sql.chunks import VECTOR_BYTES, chunks_by_id, embedded_by, unpacked_vectors
from proviso_service.backends.sql.database import Store, growing, reading
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import chunks, document_vectors, documents, passage_words
from proviso_service.matters import DocumentStatus
from proviso_service.models import ModelPassage, PassageWords, ReadPassages
from proviso_service.reading import Chunk

_MATCHED = Prepared(
    chunks_by_id(
        chunks.c.chunk_id,
        chunks.c.ordinal,
        chunks.c.start_offset,
        chunks.c.end_offset,
        chunks.c.text,
        chunks.c.page,
        type_coerce(chunks.c.section_path, Text),  # decoded by json: it is faster, and one answer reads thousands
    )
)


def _paths() -> Callable[[str], tuple[str, ...]]:
    """Decodes section paths; most equal that of the chunk before."""
    return cache(lambda section_path: tuple(json.loads(section_path)))


class PassageRows(Store):
    """The methods of ScoreStore for passages."""

    @reading
    def passages(
        self,
        transaction: Connection,
        tenant: str,
        document_ids: Sequence[str],
        embedding_model_id: str,
        first: int,
        limit: int,
    ) -> Mapping[str, Sequence[ModelPassage]]:
        path = type_coerce(chunks.c.section_path, Text)
        query = (
            select(chunks.c.document_id, chunks.c.text, path)
            .join_from(chunks, documents)
            .where(
                chunks.c.tenant == tenant,
                chunks.c.document_id.in_(document_ids),
                chunks.c.ordinal.between(first, first + limit - 1),
                documents.c.status == DocumentStatus.READY,
            )
            .order_by(chunks.c.document_id, chunks.c.ordinal)
        )
        part = func.substr(document_vectors.c.vectors, first * VECTOR_BYTES + 1, limit * VECTOR_BYTES)
        packed = (
            select(documents.c.document_id, part)
            .select_from(documents.join(document_vectors, embedded_by(embedding_model_id)))
            .where(documents.c.tenant == tenant, documents.c.document_id.in_(document_ids))
        )
        rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for document_id, body, packed_path in transaction.execute(query):
            rows[document_id].append((body, packed_path))
        vectors = {
            document_id: unpacked_vectors(vectors, len(rows[document_id]))
            for document_id, vectors in transaction.execute(packed)
            if document_id in rows
        }
        path_of = _paths()
        return {
            document_id: [
                ModelPassage(body, path_of(packed_path), vector)
                for (body, packed_path), vector in zip(found, vectors.get(document_id, repeat(None)), strict=False)
            ]
            for document_id, found in rows.items()
        }

    @reading
    def read_passages(
        self,
        transaction: Connection,
        tenant: str,
        document_ids: Sequence[str],
        words_id: str,
        embedding_model_id: str,
        first: int,
        limit: int,
    ) -> Mapping[str, ReadPassages]:
        vectors = func.substr(document_vectors.c.vectors, first * VECTOR_BYTES + 1, limit * VECTOR_BYTES)
        query = (
            select(documents.c.document_id, passage_words.c.words, vectors)
            .select_from(documents.join(passage_words).outerjoin(document_vectors, embedded_by(embedding_model_id)))
            .where(
                documents.c.tenant == tenant,
                documents.c.document_id.in_(document_ids),
                documents.c.status == DocumentStatus.READY,
                passage_words.c.words_id == words_id,
            )
        )
        found: dict[str, ReadPassages] = {}
        for document_id, packed, part in transaction.execute(query):
            words = PassageWords.unpacked(packed).part(first, first + limit)
            found[document_id] = ReadPassages(words, unpacked_vectors(part or b"", len(words) if part else 0))
        return found

    @growing
    def keep_words(
        self, transaction: Connection, tenant: str, document_id: str, words_id: str, words: PassageWords
    ) -> None:
        row = {"tenant": tenant, "document_id": document_id, "words_id": words_id, "words": words.packed()}
        here = (documents.c.tenant == tenant, documents.c.document_id == document_id)
        ready = select(documents.c.document_id).where(*here, documents.c.status == DocumentStatus.READY)
        if transaction.execute(ready).one_or_none():
            kept = insert(passage_words).values(row)
            key = ["tenant", "document_id"]
            changed = {"words_id": kept.excluded.words_id, "words": kept.excluded.words}
            transaction.execute(kept.on_conflict_do_update(index_elements=key, set_=changed))

    @reading
    def matched_chunks(self, transaction: Connection, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, Chunk]:
        path_of = _paths()
        return {
            chunk_id: Chunk(ordinal, first, end, text, page, path_of(section_path))
            for chunk_id, ordinal, first, end, text, page, section_path in _MATCHED.rows(
                transaction, {"of_tenant": tenant, "ids": json.dumps(chunk_ids)}
            )
        }

"""A document becoming READY, and the reading of its text."""

import asyncio
from collections.abc import Sequence

from sqlalchemy import Connection, select

from proviso_service.backends.sql.contents import SEGMENT_CHARS, Contents, contents_of, write_contents
from proviso_service.backends.sql.database import Store, reading, writing
from proviso_service.backends.sql.documents import bump_index_version, change_document, lock_document
from proviso_service.backends.sql.tables import documents, outlines, segments
from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.models import Vectors
from proviso_service.reading.model import Chunk, Heading, PageSpan, ParsedDocument


class IngestedRows(Store):
    """Contents of documents of the MatterStore port."""

    async def commit_ready(
        self,
        document: Document,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        model_id: str,
        vectors: Vectors,
    ) -> Document:
        # Ahead of the transaction: other writers do not wait for it.
        contents = await asyncio.to_thread(contents_of, document, parsed, chunks, model_id, vectors)
        measures = {
            "character_count": len(parsed.text),
            "chunk_count": len(chunks),
            "page_count": len(parsed.pages),
        }
        return await self._commit_contents(document, contents, measures)

    @writing
    def _commit_contents(
        self, transaction: Connection, document: Document, contents: Contents, measures: dict[str, int]
    ) -> Document:
        lock_document(transaction, document)
        write_contents(transaction, document, contents)
        bump_index_version(transaction, document.tenant, document.matter_id)
        return change_document(transaction, document, status=DocumentStatus.READY, failure_reason="", **measures)

    @reading
    def text(self, transaction: Connection, tenant: str, document_id: str, start: int, end: int | None = None) -> str:
        """From `start` (at least 0) to `end`, or to the text's end; less where the text is shorter."""
        first = start // SEGMENT_CHARS
        query = select(segments.c.text).where(
            segments.c.tenant == tenant, segments.c.document_id == document_id, segments.c.ordinal >= first
        )
        if end is not None:
            query = query.where(segments.c.ordinal * SEGMENT_CHARS < end)
        ready = select(documents.c.document_id).where(
            documents.c.tenant == tenant,
            documents.c.document_id == document_id,
            documents.c.status == DocumentStatus.READY,
        )
        if transaction.execute(ready).one_or_none() is None:
            raise DocumentNotFound(document_id)
        pieces = transaction.execute(query.order_by(segments.c.ordinal)).scalars().all()
        offset = first * SEGMENT_CHARS
        return "".join(pieces)[start - offset : None if end is None else max(end - offset, 0)]

    @reading
    def structure(
        self, transaction: Connection, tenant: str, document_id: str
    ) -> tuple[Sequence[Heading], Sequence[PageSpan]]:
        """Of a READY document. Raises DocumentNotFound."""
        query = (
            select(outlines.c.headings, outlines.c.pages)
            .join_from(outlines, documents)
            .where(
                outlines.c.tenant == tenant,
                outlines.c.document_id == document_id,
                documents.c.status == DocumentStatus.READY,
            )
        )
        row = transaction.execute(query).one_or_none()
        if row is None:
            raise DocumentNotFound(document_id)
        return row.headings, row.pages

"""Rows of documents, from upload through ingestion to deletion, and of leftovers of uploads and deletions."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal,
    select,
    tuple_,
    update,
)

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.column_types import UtcDateTime
from proviso_service.backends.sql.contents import (
    SEGMENT_CHARS,
    Contents,
    contents_of,
    expanded,
    forget_contents,
    write_contents,
)
from proviso_service.backends.sql.database import Store, across_tenants, growing, looking_up, reading, writing
from proviso_service.backends.sql.deletions import begin_deletion
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.holds import is_held
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.tables import (
    claims,
    documents,
    embedding_batches,
    leftovers,
    matters,
    page_words,
    segments,
)
from proviso_service.erasure import DeletionKind
from proviso_service.errors import DocumentNotFound, MatterNotFound, UnderLegalHold
from proviso_service.language import written_in
from proviso_service.matters import ClaimLost, Document, DocumentStatus, Leftover
from proviso_service.models import PassageWords, Vectors
from proviso_service.paging import Page, PageRequest
from proviso_service.reading import Chunk, PageWords, ParsedDocument

_Text = str | BindParameter[str]

_BATCH_ROWS = 500
NO_FAILURE = MappingProxyType({"failure_reason": "", "failure_cause": None})
DOCUMENT_COLUMNS = [column for column in documents.c if column.name != "filename_folded"]
_NAMES = [column.name for column in DOCUMENT_COLUMNS]


class DocumentRows(Store):
    """The methods of MatterStore for documents and their status."""

    @reading
    def stored(self, transaction: Connection, tenant: str) -> tuple[int, int]:
        """How many documents a tenant keeps, and their bytes."""
        size = func.coalesce(func.sum(documents.c.size_bytes), 0)
        query = select(func.count(), size).where(documents.c.tenant == tenant)
        count, total = transaction.execute(query).one()
        return count, total

    @writing
    def add_document(self, transaction: Connection, document: Document) -> tuple[Document, bool]:
        _require_matter(transaction, document.tenant, document.matter_id)
        named = _by_filename(document.tenant, document.matter_id, document.filename)
        values = _values(document) | {
            "status": DocumentStatus.PENDING,
            "replaces_document_id": _id_of(transaction.execute(named).first()),
        }
        new = insert(documents).values(values).on_conflict_do_nothing(index_elements=["tenant", "matter_id", "sha256"])
        row = transaction.execute(new.returning(*DOCUMENT_COLUMNS)).one_or_none()
        if row is not None:
            forget_leftovers(transaction, document.tenant, [document.document_id])
            record(transaction, self._database.now(), document.tenant, _done("upload", document))
            return document_of(row), True
        same = _documents_of(document.tenant, document.matter_id).where(documents.c.sha256 == document.sha256)
        known = document_of(transaction.execute(same).one())
        if known.status is DocumentStatus.FAILED:
            known = _try_again(transaction, known, document.filename, document.media_type)
            record(transaction, self._database.now(), document.tenant, _done("upload", known))
        return known, False

    @looking_up
    def get_document(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> Document:
        values = _place(tenant, matter_id) | {"this_document": document_id}
        row = transaction.execute(_ONE_DOCUMENT, values).one_or_none()
        if row is None:
            raise DocumentNotFound(document_id)
        return document_of(row)

    @reading
    def find_by_filename(self, transaction: Connection, tenant: str, matter_id: str, filename: str) -> Document:
        row = transaction.execute(_by_filename(tenant, matter_id, filename)).first()
        if row is None:
            raise DocumentNotFound(filename)
        return document_of(row)

    @reading
    def list_documents(self, transaction: Connection, tenant: str, matter_id: str, page: PageRequest) -> Page[Document]:
        scope = ("documents", tenant, matter_id)
        return _DOCUMENTS.page(transaction, _place(tenant, matter_id), scope, page).map(document_of)

    @reading
    def all_documents(self, transaction: Connection, tenant: str, matter_id: str) -> Sequence[Document]:
        return [document_of(row) for row in transaction.execute(_ALL_DOCUMENTS, _place(tenant, matter_id))]

    @reading
    def documents_in_others(
        self, transaction: Connection, tenant: str, matter_id: str, languages: Collection[str]
    ) -> Sequence[Document]:
        query = _documents_of(tenant, matter_id).where(documents.c.language.not_in(["", *languages]))
        return [document_of(row) for row in transaction.execute(query.order_by(documents.c.upload_time))]

    @reading
    @across_tenants
    def documents_after(self, transaction: Connection, last: Document | None, limit: int) -> Sequence[Document]:
        query = select(*DOCUMENT_COLUMNS).order_by(documents.c.tenant, documents.c.document_id).limit(limit)
        if last is not None:
            query = query.where(tuple_(documents.c.tenant, documents.c.document_id) > (last.tenant, last.document_id))
        return [document_of(row) for row in transaction.execute(query)]

    @writing
    def delete_document(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> str:
        this = (
            documents.c.tenant == tenant,
            documents.c.matter_id == matter_id,
            documents.c.document_id == document_id,
        )
        found = transaction.execute(select(documents.c.status, documents.c.size_bytes).where(*this)).one_or_none()
        if found is None:
            raise DocumentNotFound(document_id)
        if is_held(transaction, tenant, matter_id):
            raise UnderLegalHold(f"documents/{document_id}")
        forget_contents(transaction, tenant, document_id)
        transaction.execute(delete(documents).where(*this))
        note_leftovers(transaction, tenant, matter_id, [document_id])
        if found.status is DocumentStatus.READY:
            bump_index_version(transaction, tenant, matter_id)
        now = self._database.now()
        record(transaction, now, tenant, Done("delete", "document", document_id, matter_id))
        counts = {"documents": 1, "size_bytes": found.size_bytes}
        return begin_deletion(transaction, now, tenant, DeletionKind.DOCUMENT, matter_id, document_id, **counts)


class IngestedRows(Store):
    """The methods of MatterStore for the contents that ingestion makes of documents."""

    async def commit_ready(
        self,
        document: Document,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        model_id: str,
        vectors: Vectors,
        words_id: str = "",
        words: PassageWords | None = None,
    ) -> Document:
        # Built before the transaction, so that other writers do not wait for it.
        contents = await asyncio.to_thread(contents_of, document, parsed, chunks, model_id, vectors, words_id, words)
        measures: dict[str, int | str] = {
            "character_count": len(parsed.text),
            "chunk_count": len(chunks),
            "page_count": len(parsed.pages),
            "language": written_in(parsed.text),
        }
        return await self._commit_contents(document, contents, measures)

    @growing
    def _commit_contents(
        self, transaction: Connection, document: Document, contents: Contents, measures: dict[str, int | str]
    ) -> Document:
        if lock_document(transaction, document).status.is_final:
            raise ClaimLost(document.document_id)
        end_claim(transaction, document)
        write_contents(transaction, document, contents)
        bump_index_version(transaction, document.tenant, document.matter_id)
        return change_document(transaction, document, status=DocumentStatus.READY, **NO_FAILURE, **measures)

    @reading
    def text(self, transaction: Connection, tenant: str, document_id: str, start: int, end: int | None = None) -> str:
        """The text of a READY document from the offset `start` (at least 0) to `end` or to its own end. Raises
        DocumentNotFound."""
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
    def page_words(
        self, transaction: Connection, tenant: str, document_id: str, number: int
    ) -> tuple[PageWords | None, int]:
        of_document = (page_words.c.tenant == tenant, page_words.c.document_id == document_id)
        columns = (page_words.c.number, page_words.c.width, page_words.c.height, page_words.c.words)
        row = transaction.execute(select(*columns).where(*of_document, page_words.c.number == number)).one_or_none()
        last = transaction.execute(select(func.max(page_words.c.number)).where(*of_document)).scalar()
        return row and PageWords(row.number, row.width, row.height, expanded(row.words)), last or 0


class LeftoverRows(Store):
    """The methods of MatterStore for leftovers of uploads and deletions."""

    @growing
    def begin_upload(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
        note_leftovers(transaction, tenant, matter_id, [document_id], uploading=True)

    @reading
    @across_tenants
    def uploads(self, transaction: Connection) -> Sequence[tuple[str, str]]:
        query = select(leftovers.c.tenant, leftovers.c.document_id).where(leftovers.c.uploading)
        return [(row.tenant, row.document_id) for row in transaction.execute(query)]

    @writing
    @across_tenants
    def give_up_uploads(self, transaction: Connection, uploads: Sequence[tuple[str, str]]) -> None:
        these = tuple_(leftovers.c.tenant, leftovers.c.document_id).in_(uploads)
        transaction.execute(update(leftovers).where(these).values(uploading=False))

    @reading
    @across_tenants
    def leftovers(self, transaction: Connection, limit: int, after: Leftover | None = None) -> Sequence[Leftover]:
        matter_exists = exists().where(
            and_(
                matters.c.tenant == leftovers.c.tenant,
                matters.c.matter_id == leftovers.c.matter_id,
                ~matters.c.deleted,
            )
        )
        query = (
            select(leftovers.c.tenant, leftovers.c.matter_id, leftovers.c.document_id, ~matter_exists)
            .where(~leftovers.c.uploading)
            .order_by(leftovers.c.tenant, leftovers.c.document_id)
            .limit(limit)
        )
        if after is not None:
            key = tuple_(leftovers.c.tenant, leftovers.c.document_id)
            query = query.where(key > tuple_(after.tenant, after.document_id))
        return [Leftover(row[0], row[1], row[2], bool(row[3])) for row in transaction.execute(query)]

    @writing
    def forget_leftovers(self, transaction: Connection, tenant: str, document_ids: Sequence[str]) -> None:
        forget_leftovers(transaction, tenant, document_ids)


def lock_document(transaction: Connection, document: Document) -> Document:
    """The current row of the document, locked until the transaction ends. Raises DocumentNotFound."""
    return find_document(transaction, document.tenant, document.matter_id, document.document_id)


def find_document(transaction: Connection, tenant: str, matter_id: str, document_id: str) -> Document:
    """As `lock_document`, by the ids."""
    query = _documents_of(tenant, matter_id).where(documents.c.document_id == document_id)
    row = transaction.execute(query.with_for_update()).one_or_none()
    if row is None:
        raise DocumentNotFound(document_id)
    return document_of(row)


def end_claim(transaction: Connection, document: Document) -> None:
    """Ends the work on a document, whoever is at it."""
    for table in (claims, embedding_batches):
        of_document = table.c.tenant == document.tenant, table.c.document_id == document.document_id
        transaction.execute(delete(table).where(*of_document))


def _try_again(transaction: Connection, failed: Document, filename: str, media_type: str) -> Document:
    """Sets a FAILED document to PENDING. With a new filename it replaces the document that had this filename before it
    was uploaded, and never a later one: else two documents could replace each other."""
    changes = {"filename": filename, "filename_folded": filename.casefold(), "media_type": media_type}
    if filename.casefold() != failed.filename.casefold():
        place = tuple_(documents.c.upload_time, documents.c.document_id)
        earlier = _by_filename(failed.tenant, failed.matter_id, filename).where(
            place < tuple_(literal(failed.upload_time, UtcDateTime), failed.document_id)
        )
        changes["replaces_document_id"] = _id_of(transaction.execute(earlier).first())
    return change_document(transaction, failed, status=DocumentStatus.PENDING, **NO_FAILURE, **changes)


def _done(action: str, document: Document) -> Done:
    return Done(action, "document", document.document_id, document.matter_id)


def _id_of(row: Row[Any] | None) -> str:
    return row.document_id if row else ""


def change_document(transaction: Connection, document: Document, **values: Any) -> Document:
    statement = (
        update(documents)
        .where(documents.c.tenant == document.tenant, documents.c.document_id == document.document_id)
        .values(**values)
        .returning(*DOCUMENT_COLUMNS)
    )
    return document_of(transaction.execute(statement).one())


def bump_index_version(transaction: Connection, tenant: str, matter_id: str) -> None:
    transaction.execute(
        update(matters)
        .where(matters.c.tenant == tenant, matters.c.matter_id == matter_id)
        .values(index_version=matters.c.index_version + 1)
    )


def document_of(row: Row[Any]) -> Document:
    """A document from a row that begins with DOCUMENT_COLUMNS."""
    return Document(**dict(zip(_NAMES, row, strict=False)))


def _values(document: Document) -> dict[str, Any]:
    values = {column.name: getattr(document, column.name) for column in DOCUMENT_COLUMNS}
    return values | {"filename_folded": document.filename.casefold()}


def _place(tenant: str, matter_id: str) -> dict[str, object]:
    return {"this_tenant": tenant, "this_matter": matter_id}


def _documents_of(tenant: _Text, matter_id: _Text) -> Select[Any]:
    """A query for the documents of a matter; it finds none when the matter is deleted."""
    not_deleted = exists().where(_is_matter(tenant, matter_id))
    return select(*DOCUMENT_COLUMNS).where(
        documents.c.tenant == tenant, documents.c.matter_id == matter_id, not_deleted
    )


def _is_matter(tenant: _Text, matter_id: _Text) -> ColumnElement[bool]:
    """The condition that a row of `matters` is this matter and not deleted."""
    return and_(matters.c.tenant == tenant, matters.c.matter_id == matter_id, ~matters.c.deleted)


# Built once, because building a statement takes longer than running it.
_OF_MATTER = _documents_of(bindparam("this_tenant"), bindparam("this_matter"))
_ONE_DOCUMENT = _OF_MATTER.where(documents.c.document_id == bindparam("this_document"))
_ALL_DOCUMENTS = _OF_MATTER.order_by(documents.c.upload_time, documents.c.document_id)
_DOCUMENTS = RowsByTime(_OF_MATTER, documents.c.upload_time, documents.c.document_id)


def _by_filename(tenant: str, matter_id: str, filename: str) -> Select[Any]:
    return (
        _documents_of(tenant, matter_id)
        .where(documents.c.filename_folded == filename.casefold())
        .order_by(documents.c.upload_time.desc(), documents.c.document_id.desc())
        .limit(1)
    )


def _require_matter(transaction: Connection, tenant: str, matter_id: str) -> None:
    query = select(matters.c.matter_id).where(_is_matter(tenant, matter_id))
    if transaction.execute(query).one_or_none() is None:
        raise MatterNotFound(matter_id)


def note_leftovers(
    transaction: Connection, tenant: str, matter_id: str, document_ids: Iterable[str], *, uploading: bool = False
) -> None:
    rows = [
        {"tenant": tenant, "matter_id": matter_id, "document_id": document_id, "uploading": uploading}
        for document_id in document_ids
    ]
    transaction.execute(insert(leftovers), rows)


def forget_leftovers(transaction: Connection, tenant: str, document_ids: Sequence[str]) -> None:
    for start in range(0, len(document_ids), _BATCH_ROWS):
        some = document_ids[start : start + _BATCH_ROWS]
        statement = delete(leftovers).where(leftovers.c.tenant == tenant, leftovers.c.document_id.in_(some))
        transaction.execute(statement)

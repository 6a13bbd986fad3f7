"""Rows of documents, as they are uploaded and make their way to READY."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, select, update

from proviso_service.errors import DocumentNotFound, MatterNotFound
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.paging import Page, PageRequest
from proviso_service.storage.sql.contents import forget_contents
from proviso_service.storage.sql.database import Store, insert, reading, writing
from proviso_service.storage.sql.pages import Order, rows_by_time
from proviso_service.storage.sql.tables import UNFINISHED, documents, matters

_COLUMNS = [column for column in documents.c if column.name != "filename_folded"]


class DocumentRows(Store):
    """Documents of the MatterStore port."""

    @writing
    def add_document(self, transaction: Connection, document: Document) -> tuple[Document, bool]:
        _require_matter(transaction, document.tenant, document.matter_id)
        named = _named(document.tenant, document.matter_id, document.filename)
        replaces = transaction.execute(named).first()
        values = _values(document) | {
            "status": DocumentStatus.PENDING,
            "replaces_document_id": replaces.document_id if replaces else "",
        }
        statement = insert(documents).values(values).on_conflict_do_nothing(["tenant", "matter_id", "sha256"])
        row = transaction.execute(statement.returning(*_COLUMNS)).one_or_none()
        if row is not None:
            return document_of(row), True
        same = _of_matter(document.tenant, document.matter_id).where(documents.c.sha256 == document.sha256)
        return document_of(transaction.execute(same).one()), False

    @reading
    def get_document(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> Document:
        query = _of_matter(tenant, matter_id).where(documents.c.document_id == document_id)
        row = transaction.execute(query).one_or_none()
        if row is None:
            raise DocumentNotFound(document_id)
        return document_of(row)

    @reading
    def find_by_filename(self, transaction: Connection, tenant: str, matter_id: str, filename: str) -> Document:
        row = transaction.execute(_named(tenant, matter_id, filename)).first()
        if row is None:
            raise DocumentNotFound(filename)
        return document_of(row)

    @reading
    def list_documents(self, transaction: Connection, tenant: str, matter_id: str, page: PageRequest) -> Page[Document]:
        order = Order(documents.c.upload_time, documents.c.document_id, ("documents", tenant, matter_id))
        rows, token = rows_by_time(transaction, _of_matter(tenant, matter_id), order, page)
        return Page([document_of(row) for row in rows], token)

    @reading
    def all_documents(self, transaction: Connection, tenant: str, matter_id: str) -> Sequence[Document]:
        query = _of_matter(tenant, matter_id).order_by(documents.c.upload_time, documents.c.document_id)
        return [document_of(row) for row in transaction.execute(query)]

    @reading
    def unfinished_documents(self, transaction: Connection) -> Sequence[Document]:
        query = select(*_COLUMNS).where(UNFINISHED).order_by(documents.c.upload_time, documents.c.document_id)
        return [document_of(row) for row in transaction.execute(query)]

    @writing
    def set_status(
        self, transaction: Connection, document: Document, status: DocumentStatus, failure_reason: str = ""
    ) -> Document:
        before = lock_document(transaction, document)
        row = change_document(transaction, document, status=status, failure_reason=failure_reason)
        if DocumentStatus.READY in (before.status, status) and before.status != status:
            bump_index_version(transaction, document.tenant, document.matter_id)
        return row

    @writing
    def delete_document(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
        this = (
            documents.c.tenant == tenant,
            documents.c.matter_id == matter_id,
            documents.c.document_id == document_id,
        )
        status = transaction.execute(select(documents.c.status).where(*this)).scalar_one_or_none()
        if status is None:
            raise DocumentNotFound(document_id)
        forget_contents(transaction, tenant, matter_id, document_id)
        transaction.execute(delete(documents).where(*this))
        if status is DocumentStatus.READY:
            bump_index_version(transaction, tenant, matter_id)


def lock_document(transaction: Connection, document: Document) -> Document:
    """The document as it is now, held until the transaction ends. Raises DocumentNotFound when it is gone."""
    query = _of_matter(document.tenant, document.matter_id).where(documents.c.document_id == document.document_id)
    row = transaction.execute(query.with_for_update()).one_or_none()
    if row is None:
        raise DocumentNotFound(document.document_id)
    return document_of(row)


def change_document(transaction: Connection, document: Document, **values: Any) -> Document:
    statement = (
        update(documents)
        .where(documents.c.tenant == document.tenant, documents.c.document_id == document.document_id)
        .values(**values)
        .returning(*_COLUMNS)
    )
    return document_of(transaction.execute(statement).one())


def bump_index_version(transaction: Connection, tenant: str, matter_id: str) -> None:
    transaction.execute(
        update(matters)
        .where(matters.c.tenant == tenant, matters.c.matter_id == matter_id)
        .values(index_version=matters.c.index_version + 1)
    )


def document_of(row: Row[Any]) -> Document:
    return Document(**{column.name: getattr(row, column.name) for column in _COLUMNS})


def _values(document: Document) -> dict[str, Any]:
    values = {column.name: getattr(document, column.name) for column in _COLUMNS}
    return values | {"filename_folded": document.filename.casefold()}


def _of_matter(tenant: str, matter_id: str) -> Select[Any]:
    return select(*_COLUMNS).where(documents.c.tenant == tenant, documents.c.matter_id == matter_id)


def _named(tenant: str, matter_id: str, filename: str) -> Select[Any]:
    return (
        _of_matter(tenant, matter_id)
        .where(documents.c.filename_folded == filename.casefold())
        .order_by(documents.c.upload_time.desc(), documents.c.document_id.desc())
        .limit(1)
    )


def _require_matter(transaction: Connection, tenant: str, matter_id: str) -> None:
    query = select(matters.c.matter_id).where(matters.c.tenant == tenant, matters.c.matter_id == matter_id)
    if transaction.execute(query).one_or_none() is None:
        raise MatterNotFound(matter_id)

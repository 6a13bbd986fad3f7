"""Rows of claims: which process is at work on which document, as all processes see it that share the state."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, and_, bindparam, exists, func, select, update

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.database import Store, across_tenants, reading, writing
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.documents import (
    DOCUMENT_COLUMNS,
    NO_FAILURE,
    bump_index_version,
    change_document,
    document_of,
    end_claim,
    find_document,
    lock_document,
)
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.tables import UNFINISHED, claims, documents, matters
from proviso_service.errors import FailureCause
from proviso_service.matters import Claim, Document, DocumentStatus, Job
from proviso_service.paging import Page, PageRequest

NOBODY = ""


class ClaimRows(Store):
    """The methods of MatterStore for the work on documents."""

    @reading
    @across_tenants
    def unfinished_documents(self, transaction: Connection, limit: int, owner: str = "") -> Sequence[Document]:
        others = exists().where(
            claims.c.tenant == documents.c.tenant,
            claims.c.document_id == documents.c.document_id,
            claims.c.owner.not_in((NOBODY, owner)),
            claims.c.lease_expire_time > self._database.now(),
        )
        # Materialised, because SQLite would else read all documents in the order of the windows.
        unfinished = select(*DOCUMENT_COLUMNS).join_from(documents, matters).where(UNFINISHED, ~matters.c.deleted)
        if owner:
            unfinished = unfinished.where(~others)
        found = unfinished.cte("unfinished").prefix_with("MATERIALIZED").c
        by_age = (found.upload_time, found.document_id)
        place = func.row_number().over(partition_by=(found.tenant, found.matter_id), order_by=by_age).label("place")
        placed = select(*found, place).subquery().c
        turn = func.row_number().over(partition_by=placed.tenant, order_by=(placed.place, placed.matter_id))
        query = select(*placed).order_by(turn, placed.upload_time, placed.document_id).limit(limit)
        return [document_of(row) for row in transaction.execute(query)]

    @writing
    def claim(self, transaction: Connection, document: Document, owner: str, lease_s: float) -> Claim | None:
        current = lock_document(transaction, document)
        if current.status.is_final:
            return None
        now = self._database.now()
        this = claims.c.tenant == document.tenant, claims.c.document_id == document.document_id
        known = transaction.execute(select(claims).where(*this)).one_or_none()
        is_anothers = known is not None and known.owner not in (NOBODY, owner)
        if known is not None and is_anothers and known.lease_expire_time > now:
            return None
        losses = known.losses + is_anothers if known is not None else 0
        claim = {"owner": owner, "lease_expire_time": now + timedelta(seconds=lease_s), "losses": losses}
        new = insert(claims).values(tenant=document.tenant, document_id=document.document_id, **claim)
        transaction.execute(new.on_conflict_do_update(index_elements=["tenant", "document_id"], set_=claim))
        if current.status is not DocumentStatus.PROCESSING:
            current = change_document(transaction, current, status=DocumentStatus.PROCESSING)
        return Claim(current, losses)

    @writing
    @across_tenants
    def renew_claims(
        self, transaction: Connection, owner: str, document_ids: Sequence[str], lease_s: float
    ) -> Sequence[str]:
        until = self._database.now() + timedelta(seconds=lease_s)
        own = claims.c.owner == owner, claims.c.document_id.in_(document_ids)
        renewed = update(claims).where(*own).values(lease_expire_time=until).returning(claims.c.document_id)
        held = set(transaction.execute(renewed).scalars())
        return [document_id for document_id in document_ids if document_id not in held]

    @reading
    def jobs(self, transaction: Connection, tenant: str, page: PageRequest, *, failed_only: bool = False) -> Page[Job]:
        rows = _FAILED if failed_only else _JOBS
        found = rows.page(transaction, {"this_tenant": tenant}, ("jobs", tenant, str(failed_only)), page)
        return found.map(lambda row: Job(document_of(row), row.owner or NOBODY, row.losses or 0))

    @writing
    def retry(self, transaction: Connection, tenant: str, matter_id: str, document_id: str) -> Document:
        document = find_document(transaction, tenant, matter_id, document_id)
        if document.status is not DocumentStatus.FAILED:
            return document
        record(transaction, self._database.now(), tenant, Done("retry", "document", document_id, matter_id))
        bump_index_version(transaction, tenant, matter_id)
        return change_document(transaction, document, status=DocumentStatus.PENDING, **NO_FAILURE)

    @writing
    def fail(
        self,
        transaction: Connection,
        document: Document,
        reason: str,
        cause: FailureCause,
        *,
        cancelled: bool = False,
    ) -> Document:
        current = lock_document(transaction, document)
        if current.status.is_final:
            return current
        if cancelled:
            done = Done("cancel", "document", document.document_id, document.matter_id)
            record(transaction, self._database.now(), document.tenant, done)
        end_claim(transaction, current)
        bump_index_version(transaction, document.tenant, document.matter_id)
        failure = {"failure_reason": reason, "failure_cause": cause}
        return change_document(transaction, current, status=DocumentStatus.FAILED, **failure)

    @writing
    @across_tenants
    def release_claims(self, transaction: Connection, owner: str, *, lost: bool = False) -> None:
        transaction.execute(
            update(claims).where(claims.c.owner == owner).values(owner=NOBODY, losses=claims.c.losses + int(lost))
        )


_OF_DOCUMENT = and_(claims.c.tenant == documents.c.tenant, claims.c.document_id == documents.c.document_id)
_OF_MATTER = and_(matters.c.tenant == documents.c.tenant, matters.c.matter_id == documents.c.matter_id)
_NOT_READY = (
    select(*DOCUMENT_COLUMNS, claims.c.owner, claims.c.losses)
    .select_from(documents.join(matters, _OF_MATTER).outerjoin(claims, _OF_DOCUMENT))
    .where(
        documents.c.tenant == bindparam("this_tenant"), documents.c.status != DocumentStatus.READY, ~matters.c.deleted
    )
)
_JOBS = RowsByTime(_NOT_READY, documents.c.upload_time, documents.c.document_id)
_FAILED = RowsByTime(
    _NOT_READY.where(documents.c.status == DocumentStatus.FAILED), documents.c.upload_time, documents.c.document_id
)

"""SqlMatterStore keeps the rows of matters. Its base classes keep those of documents, chunks, vectors and leftovers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import Insert

from proviso_service.access import Done, MatterRole
from proviso_service.backends.sql.audit import record, record_own
from proviso_service.backends.sql.batches import BatchRows
from proviso_service.backends.sql.chunks import ChunkRows, PackedRows
from proviso_service.backends.sql.claims import ClaimRows
from proviso_service.backends.sql.contents import forget_contents
from proviso_service.backends.sql.database import across_tenants, looking_up, reading, writing
from proviso_service.backends.sql.deletions import begin_deletion, count_documents
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.documents import DocumentRows, IngestedRows, LeftoverRows, note_leftovers
from proviso_service.backends.sql.holds import is_held, shares_turns_with_held
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import DELETED, WITH_REQUEST_ID, documents, matter_members, matters
from proviso_service.erasure import DeletionKind
from proviso_service.errors import MatterNotFound, RequestIdReused, UnderLegalHold
from proviso_service.identity import NEVER_RETRIED, RetryKey
from proviso_service.matters import ALL_MATTERS, DOCUMENTATION, DocumentStatus, Leftover, LegalHold, Matter, Visibility
from proviso_service.paging import Page, PageRequest

SLICE_DOCUMENTS = 50
SLICE_CHUNKS = 1_000
"""The documents and chunks of a deleted matter that one transaction removes at most; other writers wait some tenths of
a second for it."""


class SqlMatterStore(DocumentRows, ClaimRows, BatchRows, IngestedRows, ChunkRows, PackedRows, LeftoverRows):
    """A MatterStore in a Database."""

    @writing
    def create_matter(
        self, transaction: Connection, tenant: str, name: str, retry: RetryKey = NEVER_RETRIED, owner: str = ""
    ) -> Matter:
        """Only one transaction writes at a time, so that of two equal calls the second finds the first one's matter."""
        if earlier := _made_before(transaction, tenant, retry):
            return _get(transaction, tenant, earlier)
        matter = Matter(str(uuid4()), tenant, name, self._database.now())
        transaction.execute(_insert_matter(matter, retry))
        if owner:
            member = {"tenant": tenant, "matter_id": matter.matter_id, "user_id": owner, "role": MatterRole.OWNER}
            transaction.execute(insert(matter_members).values(**member, create_time=matter.create_time))
        _record(transaction, matter.create_time, "create", tenant, matter.matter_id)
        return matter

    @writing
    def begin_documentation(self, transaction: Connection, tenant: str) -> None:
        documentation = Matter(DOCUMENTATION, tenant, DOCUMENTATION, self._database.now())
        transaction.execute(
            _insert_matter(documentation).on_conflict_do_nothing(index_elements=["tenant", "matter_id"])
        )

    @looking_up
    def get_matter(self, transaction: Connection, tenant: str, matter_id: str) -> Matter:
        return _get(transaction, tenant, matter_id)

    @reading
    def list_matters(
        self,
        transaction: Connection,
        tenant: str,
        page: PageRequest,
        name: str = "",
        seen_by: Visibility = ALL_MATTERS,
    ) -> Page[Matter]:
        listed = _LISTS[name != "", seen_by.member is not None, seen_by.only is not None]
        values: dict[str, object] = {"this_tenant": tenant, "this_name": name, "this_member": seen_by.member}
        if seen_by.only is not None:
            values["these_matters"] = sorted(seen_by.only)
        scope = ("matters", tenant, name, seen_by.member or "")
        return listed.page(transaction, values, scope, page).map(_matter_of)

    @writing
    def update_matter(
        self, transaction: Connection, tenant: str, matter_id: str, name: str | None = None, notes: str | None = None
    ) -> Matter:
        before = _get(transaction, tenant, matter_id)
        after = replace(
            before, name=before.name if name is None else name, notes=before.notes if notes is None else notes
        )
        if after == before:
            return before
        now = self._database.now()
        after = replace(after, update_time=now)
        this = (matters.c.tenant == tenant, matters.c.matter_id == matter_id)
        values = {"name": after.name, "notes": after.notes, "update_time": after.update_time}
        transaction.execute(update(matters).where(*this).values(values))
        _record(transaction, now, "update", tenant, matter_id)
        return after

    @writing
    def set_hold(self, transaction: Connection, tenant: str, matter_id: str, user: str, reason: str) -> Matter:
        before = _get(transaction, tenant, matter_id)
        if reason == (before.hold.reason if before.hold else ""):
            return before
        now = self._database.now()
        hold = LegalHold(user, reason, now) if reason else None
        values = {"hold_user": user if hold else "", "hold_reason": reason, "hold_time": now if hold else None}
        this = (matters.c.tenant == tenant, matters.c.matter_id == matter_id)
        transaction.execute(update(matters).where(*this).values(values))
        _record(transaction, now, "hold" if hold else "lift hold", tenant, matter_id)
        return replace(before, hold=hold)

    @writing
    def delete_matter(self, transaction: Connection, tenant: str, matter_id: str) -> str:
        if is_held(transaction, tenant, matter_id) or shares_turns_with_held(transaction, tenant, matter_id):
            raise UnderLegalHold(f"matters/{matter_id}")
        this = (matters.c.tenant == tenant, matters.c.matter_id == matter_id, ~matters.c.deleted)
        if transaction.execute(update(matters).where(*this).values(deleted=True, request_id="")).rowcount == 0:
            raise MatterNotFound(matter_id)
        now = self._database.now()
        _record(transaction, now, "delete", tenant, matter_id)
        return begin_deletion(transaction, now, tenant, DeletionKind.MATTER, matter_id, matter_id)

    @reading
    @across_tenants
    def deleted_matters(self, transaction: Connection) -> Sequence[tuple[str, str]]:
        query = select(matters.c.tenant, matters.c.matter_id).where(DELETED)
        return [(tenant, matter_id) for tenant, matter_id in transaction.execute(query)]

    @writing
    def delete_documents(self, transaction: Connection, tenant: str, matter_id: str) -> Sequence[Leftover]:
        document_ids = _next_documents(transaction, tenant, matter_id)
        for document_id in document_ids:
            forget_contents(transaction, tenant, document_id)
        these = (documents.c.tenant == tenant, documents.c.document_id.in_(document_ids))
        if document_ids:
            sizes = (
                transaction.execute(delete(documents).where(*these).returning(documents.c.size_bytes)).scalars().all()
            )
            count_documents(transaction, tenant, matter_id, len(sizes), sum(sizes))
            note_leftovers(transaction, tenant, matter_id, document_ids)
        else:
            this = (matters.c.tenant == tenant, matters.c.matter_id == matter_id, matters.c.deleted)
            if transaction.execute(delete(matters).where(*this)).rowcount:
                cleared = Done("clear", "matter", matter_id, matter_id)
                record_own(transaction, self._database.now(), tenant, cleared)
        return [Leftover(tenant, matter_id, document_id, matter_deleted=True) for document_id in document_ids]


def _record(transaction: Connection, now: datetime, action: str, tenant: str, matter_id: str) -> None:
    record(transaction, now, tenant, Done(action, "matter", matter_id, matter_id))


def _get(transaction: Connection, tenant: str, matter_id: str) -> Matter:
    row = _ONE_MATTER.one(transaction, {"this_tenant": tenant, "this_matter": matter_id})
    if row is None:
        raise MatterNotFound(matter_id)
    return _matter_of(row)


def _made_before(transaction: Connection, tenant: str, retry: RetryKey) -> str:
    """The id of the matter that the same call has made before; empty where there is none. Raises RequestIdReused."""
    if not retry.request_id:
        return ""
    query = select(matters.c.matter_id, matters.c.payload_sha256).where(
        matters.c.tenant == tenant,
        matters.c.request_user == retry.user,
        matters.c.request_id == retry.request_id,
        WITH_REQUEST_ID,
    )
    row = transaction.execute(query).one_or_none()
    if row is not None and row.payload_sha256 != retry.payload_sha256:
        raise RequestIdReused(retry.request_id)
    return row.matter_id if row else ""


def _insert_matter(matter: Matter, retry: RetryKey = NEVER_RETRIED) -> Insert:
    return insert(matters).values(
        tenant=matter.tenant,
        matter_id=matter.matter_id,
        name=matter.name,
        create_time=matter.create_time,
        index_version=0,
        request_user=retry.user,
        request_id=retry.request_id,
        payload_sha256=retry.payload_sha256,
    )


def _matters_of_tenant() -> Select[Any]:
    mine = select(func.count()).where(
        documents.c.tenant == matters.c.tenant, documents.c.matter_id == matters.c.matter_id
    )
    ready = mine.where(documents.c.status == DocumentStatus.READY)
    return select(
        matters.c.matter_id,
        matters.c.tenant,
        matters.c.name,
        matters.c.create_time,
        mine.scalar_subquery().label("document_count"),
        ready.scalar_subquery().label("ready_count"),
        matters.c.index_version,
        matters.c.notes,
        matters.c.update_time,
        matters.c.hold_user,
        matters.c.hold_reason,
        matters.c.hold_time,
    ).where(matters.c.tenant == bindparam("this_tenant"), ~matters.c.deleted)


def _next_documents(transaction: Connection, tenant: str, matter_id: str) -> list[str]:
    """The ids of the documents of a deleted matter to remove next; empty when it has none left."""
    inside = (
        select(documents.c.document_id, documents.c.chunk_count)
        .join_from(documents, matters)
        .where(documents.c.tenant == tenant, documents.c.matter_id == matter_id, matters.c.deleted)
        .limit(SLICE_DOCUMENTS)
    )
    taken: list[str] = []
    chunks = 0
    for document_id, chunk_count in transaction.execute(inside):
        chunks += chunk_count
        if taken and chunks > SLICE_CHUNKS:
            break
        taken.append(document_id)
    return taken


# Built once, because building a statement takes longer than running it.
_ONE_MATTER = Prepared(_matters_of_tenant().where(matters.c.matter_id == bindparam("this_matter")))


def _list_of(*, named: bool, of_member: bool, only_some: bool) -> RowsByTime:
    query = _matters_of_tenant().where(matters.c.matter_id != DOCUMENTATION)
    if named:
        query = query.where(matters.c.name == bindparam("this_name"))
    if of_member:
        is_member = (
            (matter_members.c.tenant == matters.c.tenant)
            & (matter_members.c.matter_id == matters.c.matter_id)
            & (matter_members.c.user_id == bindparam("this_member"))
        )
        query = query.add_columns(matter_members.c.role).join(matter_members, is_member)
    if only_some:
        query = query.where(matters.c.matter_id.in_(bindparam("these_matters", expanding=True)))
    return RowsByTime(query, matters.c.create_time, matters.c.matter_id, newest_first=True)


_LISTS = {
    (named, of_member, only_some): _list_of(named=named, of_member=of_member, only_some=only_some)
    for named, of_member, only_some in product((False, True), repeat=3)
}


def _matter_of(row: Row[Any]) -> Matter:
    return Matter(
        row.matter_id,
        row.tenant,
        row.name,
        row.create_time,
        row.document_count,
        row.ready_count,
        row.index_version,
        row.notes,
        row.update_time,
        MatterRole(row.role) if hasattr(row, "role") else None,
        LegalHold(row.hold_user, row.hold_reason, row.hold_time) if row.hold_time else None,
    )

"""SqlMemberStore keeps the members of matters, SqlApiKeyStore the API keys."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from proviso_service.access import ApiKey, Done, MatterRole
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.database import Store, across_tenants, looking_up, reading, writing
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import api_keys, matter_members, matters
from proviso_service.errors import LastOwner, MatterNotFound
from proviso_service.identity import Role
from proviso_service.matters import Member
from proviso_service.paging import Page, PageRequest, offset_in, offset_token

# Built once: nearly every call runs it, and building a statement takes longer than running it.
_ROLE = Prepared(
    select(matter_members.c.role)
    .join_from(matter_members, matters)
    .where(
        matter_members.c.tenant == bindparam("this_tenant"),
        matter_members.c.matter_id == bindparam("this_matter"),
        matter_members.c.user_id == bindparam("this_user"),
        ~matters.c.deleted,
    )
)


class SqlMemberStore(Store):
    """A MemberStore in a Database."""

    @looking_up
    def role_of(self, transaction: Connection, tenant: str, matter_id: str, user: str) -> MatterRole | None:
        """A matter that is marked as deleted has no members."""
        values = {"this_tenant": tenant, "this_matter": matter_id, "this_user": user}
        found = _ROLE.one(transaction, values)
        return None if found is None else MatterRole(found.role)

    @writing
    def grant(self, transaction: Connection, tenant: str, matter_id: str, user: str, role: MatterRole) -> Member:
        _check_matter(transaction, tenant, matter_id)
        if role is not MatterRole.OWNER:
            _check_owners(transaction, tenant, matter_id, user)
        values = {"tenant": tenant, "matter_id": matter_id, "user_id": user, "role": role}
        statement = insert(matter_members).values(**values, create_time=self._database.now())
        transaction.execute(
            statement.on_conflict_do_update(index_elements=["tenant", "matter_id", "user_id"], set_={"role": int(role)})
        )
        granted = Done(f"grant {role.name.lower()}", "member", user, matter_id)
        record(transaction, self._database.now(), tenant, granted)
        since = select(matter_members.c.create_time).where(*_one(tenant, matter_id, user))
        return Member(user, role, transaction.execute(since).scalar_one())

    @writing
    def revoke(self, transaction: Connection, tenant: str, matter_id: str, user: str) -> None:
        _check_matter(transaction, tenant, matter_id)
        _check_owners(transaction, tenant, matter_id, user)
        gone = transaction.execute(delete(matter_members).where(*_one(tenant, matter_id, user)))
        if gone.rowcount:
            record(transaction, self._database.now(), tenant, Done("revoke", "member", user, matter_id))

    @reading
    def members(self, transaction: Connection, tenant: str, matter_id: str, page: PageRequest) -> Page[Member]:
        _check_matter(transaction, tenant, matter_id)
        these = (matter_members.c.tenant == tenant, matter_members.c.matter_id == matter_id)
        total = transaction.execute(select(func.count()).select_from(matter_members).where(*these)).scalar_one()
        scope = ("members", tenant, matter_id)
        offset = offset_in(page.token, scope)
        query = select(matter_members).where(*these).order_by(matter_members.c.user_id)
        rows = transaction.execute(query.offset(offset).limit(page.size))
        found = [Member(row.user_id, MatterRole(row.role), row.create_time) for row in rows]
        end = offset + len(found)
        return Page(found, offset_token(scope, end) if end < total else "", total)


def _one(tenant: str, matter_id: str, user: str) -> tuple[Any, ...]:
    members = matter_members.c
    return members.tenant == tenant, members.matter_id == matter_id, members.user_id == user


def _check_matter(transaction: Connection, tenant: str, matter_id: str) -> None:
    this = (matters.c.tenant == tenant, matters.c.matter_id == matter_id, ~matters.c.deleted)
    if transaction.execute(select(matters.c.matter_id).where(*this)).one_or_none() is None:
        raise MatterNotFound(matter_id)


def _check_owners(transaction: Connection, tenant: str, matter_id: str, user: str) -> None:
    """Raises LastOwner if the matter has no owner but this user. Only one transaction writes at a time."""
    members = matter_members.c
    owners = select(members.user_id).where(
        members.tenant == tenant, members.matter_id == matter_id, members.role == MatterRole.OWNER
    )
    if transaction.execute(owners.limit(2)).scalars().all() == [user]:
        raise LastOwner(user, matter_id)


class SqlApiKeyStore(Store):
    """An ApiKeyStore in a Database, and what `proviso keys` does."""

    @reading
    @across_tenants
    def find(self, transaction: Connection, key_id: str) -> ApiKey | None:
        row = transaction.execute(select(api_keys).where(api_keys.c.key_id == key_id)).one_or_none()
        return None if row is None else _key_of(row)

    @writing
    @across_tenants
    def note_use(self, transaction: Connection, key_id: str) -> None:
        now = self._database.now()
        transaction.execute(update(api_keys).where(api_keys.c.key_id == key_id).values(last_use_time=now))

    @writing
    @across_tenants
    def add(self, transaction: Connection, key: ApiKey) -> None:
        transaction.execute(
            insert(api_keys).values(
                tenant=key.tenant,
                key_id=key.key_id,
                name=key.name,
                roles=" ".join(sorted(key.roles)),
                matters=None if key.matters is None else " ".join(sorted(key.matters)),
                digest=key.digest,
                create_time=key.create_time,
                expire_time=key.expire_time,
            )
        )
        record(transaction, self._database.now(), key.tenant, Done("create", "api_key", key.key_id))

    @reading
    @across_tenants
    def all(self, transaction: Connection) -> Sequence[ApiKey]:
        """All keys of all tenants, the oldest first."""
        query = select(api_keys).order_by(api_keys.c.create_time, api_keys.c.key_id)
        return [_key_of(row) for row in transaction.execute(query)]

    @writing
    @across_tenants
    def revoke(self, transaction: Connection, key_id: str) -> bool:
        """Whether there was such a key. One that was revoked before keeps its time."""
        this, now = api_keys.c.key_id == key_id, self._database.now()
        row = transaction.execute(select(api_keys.c.tenant, api_keys.c.revoke_time).where(this)).one_or_none()
        if row is not None and row.revoke_time is None:
            transaction.execute(update(api_keys).where(this).values(revoke_time=now))
            record(transaction, now, row.tenant, Done("revoke", "api_key", key_id))
        return row is not None


def _key_of(row: Row[Any]) -> ApiKey:
    return ApiKey(
        row.key_id,
        row.tenant,
        row.name,
        frozenset(Role(role) for role in row.roles.split()),
        row.digest,
        row.create_time,
        row.expire_time,
        row.revoke_time,
        row.last_use_time,
        None if row.matters is None else frozenset(row.matters.split()),
    )

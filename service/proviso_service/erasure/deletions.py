"""Deletions, and the store that knows what is left to do for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from proviso_service.paging import Page, PageRequest


class DeletionKind(StrEnum):
    """What was deleted."""

    MATTER = "matter"
    DOCUMENT = "document"
    SESSION = "session"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion and its receipt: ids and counts, no contents and no names. `resource_id` is the matter, document or
    session. `complete_time` is None until nothing of it is left in any file of the storage; the counts grow until
    then. `size_bytes` is the size of the documents as they were uploaded."""

    tenant: str
    deletion_id: str
    kind: DeletionKind
    user_id: str
    matter_id: str
    resource_id: str
    request_time: datetime
    complete_time: datetime | None = None
    documents: int = 0
    turns: int = 0
    messages: int = 0
    size_bytes: int = 0


class DeletionStore(Protocol):
    """The deletions of all tenants. Stores that delete something begin them, in the same transaction."""

    async def get(self, tenant: str, deletion_id: str, user_id: str | None = None) -> Deletion:
        """Returns a deletion; only one of this user's when one is given. Raises DeletionNotFound."""
        ...

    async def list(
        self, tenant: str, page: PageRequest, matter_id: str = "", user_id: str | None = None
    ) -> Page[Deletion]:
        """Returns a page of deletions, the newest first; only those in a matter, or of a user, when one is given."""
        ...

    async def unfinished(self) -> Sequence[Deletion]:
        """Returns the deletions of all tenants that are not complete, the oldest first."""
        ...

    async def open_turns(self, tenant: str, matter_id: str) -> Sequence[str]:
        """Returns the ids of the turns that have not ended and may know something of the matter."""
        ...

    async def purge_turns(self, tenant: str, deletion: Deletion) -> Sequence[str]:
        """Removes some turns that may know something of the deleted matter, with their messages, and what sessions know
        of it: as many as take a short time. Returns their ids; none when all are removed that have ended."""
        ...

    async def deleted_turns(self, turn_ids: Sequence[str]) -> Sequence[str]:
        """Returns those of the turns, of whatever tenants, that are deleted."""
        ...

    async def is_cleared(self, tenant: str, deletion: Deletion) -> bool:
        """Returns whether no row, and no record of a leftover, remains of what was deleted."""
        ...

    async def complete(self, tenant: str, deletion_id: str) -> None:
        """Notes that nothing remains in any file."""
        ...

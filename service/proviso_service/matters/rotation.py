"""The order in which documents get their turn: tenants take turns, the matters of a tenant do, and within a matter the
documents come by rank. Large documents never take all places."""

import asyncio
from bisect import insort
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from proviso_service.matters.model import Document

SMALL_BYTES = 64 * 1024
"""A document of at most so many bytes is small. As plain text it has some 80 passages, which the embedded model takes
a second for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many documents may have a turn at once: `every` document, and of the large ones all, those of a tenant and
    those of a matter."""

    every: int
    large: int
    large_of_tenant: int
    large_of_matter: int


class _Waiting(NamedTuple):
    rank: float
    document: Document


_Place = tuple[str, ...]
"""A tenant, or a tenant and a matter's id."""


class Rotation:
    """The documents that wait for a turn, and those that have one. Whoever has waited longest since the last turn is
    next: of the tenants, and then of the tenant's matters. Who comes anew is behind all who wait, except for the one
    that has just had a turn."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: dict[str, dict[str, list[_Waiting]]] = {}
        self._under_way: dict[str, Document] = {}
        self._turns: dict[_Place, int] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many documents wait."""
        return sum(map(self.waiting_of, self._waiting))

    def __contains__(self, document: Document) -> bool:
        return document.document_id in self._under_way or self._place_of(document) is not None

    def waiting_of(self, tenant: str) -> int:
        """How many documents of a tenant wait."""
        return sum(map(len, self._waiting.get(tenant, {}).values()))

    def add(self, document: Document, rank: float) -> None:
        """Adds a document, which may have a turn at the moment and gives it up by that. Within its matter the lowest
        rank comes first."""
        self._under_way.pop(document.document_id, None)
        for place in _places(document):
            self._turns.setdefault(place, self._count - 1)
        line = self._waiting.setdefault(document.tenant, {}).setdefault(document.matter_id, [])
        insort(line, _Waiting(rank, document), key=lambda waiting: waiting.rank)

    def take(self) -> Document | None:
        """Gives the next document its turn, until it is discarded or added again. Returns None when none may have
        one."""
        if len(self._under_way) >= self._limits.every:
            return None
        for tenant in sorted(self._waiting, key=lambda tenant: self._turns[tenant,]):
            matters = self._waiting[tenant]
            for matter_id in sorted(matters, key=lambda matter_id: self._turns[tenant, matter_id]):
                if document := self._first(tenant, matter_id):
                    self._count += 1
                    self._turns |= dict.fromkeys(_places(document), self._count)
                    self._under_way[document.document_id] = document
                    self._remove(document)
                    return document
        return None

    def discard(self, document: Document) -> None:
        """Ends the turn of a document, or its waiting for one."""
        self._under_way.pop(document.document_id, None)
        self._remove(document)
        for place in _places(document):
            if not self._is_in_use(place):
                self._turns.pop(place, None)

    def last(self) -> Document:
        """The document that waits and is the least urgent to keep: the last one of the matter with the most, of the
        tenant with the most."""
        matters = self._waiting[max(self._waiting, key=self.waiting_of)]
        return max(matters.values(), key=len)[-1].document

    def _first(self, tenant: str, matter_id: str) -> Document | None:
        line = (waiting.document for waiting in self._waiting[tenant][matter_id])
        if self._has_room_for_large(tenant, matter_id):
            return next(line, None)
        return next((document for document in line if not _is_large(document)), None)

    def _has_room_for_large(self, tenant: str, matter_id: str) -> bool:
        large = [document for document in self._under_way.values() if _is_large(document)]
        of_tenant = [document for document in large if document.tenant == tenant]
        of_matter = [document for document in of_tenant if document.matter_id == matter_id]
        limits = self._limits
        return (
            len(large) < limits.large
            and len(of_tenant) < limits.large_of_tenant
            and len(of_matter) < limits.large_of_matter
        )

    def _remove(self, document: Document) -> None:
        if (place := self._place_of(document)) is None:
            return
        matters = self._waiting[document.tenant]
        del matters[document.matter_id][place]
        if not matters[document.matter_id]:
            del matters[document.matter_id]
        if not matters:
            del self._waiting[document.tenant]

    def _place_of(self, document: Document) -> int | None:
        line = self._waiting.get(document.tenant, {}).get(document.matter_id, [])
        same = (n for n, waiting in enumerate(line) if waiting.document.document_id == document.document_id)
        return next(same, None)

    def _is_in_use(self, place: _Place) -> bool:
        tenant, *matter = place
        waits = matter[0] in self._waiting.get(tenant, {}) if matter else tenant in self._waiting
        return waits or any(place in _places(document) for document in self._under_way.values())


class Gate:
    """Lets documents in where only some may be at once, in rotation; those of one matter as they come."""

    def __init__(self, limits: Limits) -> None:
        self._rotation = Rotation(limits)
        self._admissions: dict[str, asyncio.Future[None]] = {}
        self._entries = 0

    @asynccontextmanager
    async def admit(self, document: Document) -> AsyncIterator[None]:
        """Waits for the document's turn, and keeps its place while the context is open."""
        try:
            await self.give_way(document)
            yield
        finally:
            self._rotation.discard(document)
            self._admissions.pop(document.document_id, None)
            self._let_in()

    async def give_way(self, document: Document) -> None:
        """Takes the document out, lets in whoever is next, and returns once that is the document itself. To be called
        between two pieces of the work of a document that is in."""
        self._entries += 1
        self._rotation.add(document, self._entries)
        loop = asyncio.get_running_loop()
        admission = self._admissions[document.document_id] = loop.create_future()
        loop.call_soon(self._let_in)  # later, so that others run in between even where nobody waits
        await admission

    def _let_in(self) -> None:
        while document := self._rotation.take():
            admission = self._admissions.pop(document.document_id)
            if not admission.cancelled():
                admission.set_result(None)


def _is_large(document: Document) -> bool:
    return document.size_bytes > SMALL_BYTES


def _places(document: Document) -> tuple[_Place, _Place]:
    return (document.tenant,), (document.tenant, document.matter_id)

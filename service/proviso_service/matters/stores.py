"""The stores that matters need: rows and bytes. Every method is scoped by tenant."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proviso_service.access import MatterRole, Members
from proviso_service.errors import FailureCause
from proviso_service.identity import NEVER_RETRIED, RetryKey
from proviso_service.matters.model import (
    ALL_MATTERS,
    Document,
    Matter,
    Member,
    Outline,
    StoredChunk,
    Visibility,
)
from proviso_service.matters.packing import PackedDocument
from proviso_service.models import PassageWords, Vectors
from proviso_service.paging import Page, PageRequest
from proviso_service.reading import Chunk, PageWords, ParsedDocument


@dataclass(frozen=True, slots=True)
class Leftover:
    """What may remain of a document which has no row: its bytes, and its place in the index in memory; `matter_deleted`
    says that its matter has no row either."""

    tenant: str
    matter_id: str
    document_id: str
    matter_deleted: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """The right of one process to work on a document, which is PROCESSING. `losses` says how many processes have ended
    while they were at work on it."""

    document: Document
    losses: int


@dataclass(frozen=True, slots=True)
class Job:
    """The ingestion of a document that is not READY. `owner` is the process at work on it, empty while there is none,
    and `losses` says how many have ended while they were."""

    document: Document
    owner: str
    losses: int


@dataclass(frozen=True, slots=True)
class EmbeddingBatch:
    """Some texts of a large document under way, which whatever process claims them embeds."""

    tenant: str
    document_id: str
    number: int
    texts: tuple[str, ...]


class ClaimLost(Exception):
    """Another process has brought the document to its end, or a person has. The argument is its id."""


class WorkQueue(Protocol):
    """The documents that wait for their ingestion, or are under way, in the processes that share the state. A process,
    `owner`, claims a document before it works on it, and renews its claims; those of a process that is gone expire. A
    claim ends when the document is READY, FAILED or deleted."""

    async def unfinished_documents(self, limit: int, owner: str = "") -> Sequence[Document]:
        """Returns documents of all tenants that are neither READY nor FAILED, none of deleted matters; where an `owner`
        is given, only those that no other process has claimed. Tenants take turns, and so do the matters of each, of
        which the oldest documents come first."""
        ...

    async def claim(self, document: Document, owner: str, lease_s: float) -> Claim | None:
        """Claims a document for `lease_s` seconds, and makes it PROCESSING. None where another process has it, or where
        it is READY or FAILED. Raises DocumentNotFound."""
        ...

    async def renew_claims(self, owner: str, document_ids: Sequence[str], lease_s: float) -> Sequence[str]:
        """Extends claims by `lease_s` seconds from now. Returns those of the documents that the owner has not claimed
        any more."""
        ...

    async def release_claims(self, owner: str, *, lost: bool = False) -> None:
        """Ends the claims of a process, so that others may go on with its documents; `lost` where it ended while it was
        at work on them."""
        ...

    async def share_batches(self, document: Document, texts: Sequence[Sequence[str]]) -> None:
        """Offers texts of a document to all processes, in place of what was offered of it before. Raises
        DocumentNotFound."""
        ...

    async def claim_batch(self, owner: str, lease_s: float, document: Document | None = None) -> EmbeddingBatch | None:
        """Claims a batch that nobody is at work on, for `lease_s` seconds: of the document, or of any. None where there
        is none."""
        ...

    async def finish_batch(self, batch: EmbeddingBatch, vectors: Vectors | None) -> None:
        """Stores the vectors of a batch, or offers it again where they are None. Nothing happens where the document has
        come to its end."""
        ...

    async def unfinished_batches(self, document: Document) -> int:
        """Returns how many batches of a document have no vectors yet."""
        ...

    async def finished_batches(self, document: Document) -> Sequence[bytes]:
        """Returns the vectors of all batches of a document, in order, as little-endian float32."""
        ...

    async def jobs(self, tenant: str, page: PageRequest, *, failed_only: bool = False) -> Page[Job]:
        """Returns a page of the documents of a tenant that are not READY, in the order of upload."""
        ...

    async def retry(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Makes a FAILED document PENDING; another one stays as it is. Raises DocumentNotFound."""
        ...

    async def fail(self, document: Document, reason: str, cause: FailureCause, *, cancelled: bool = False) -> Document:
        """Makes a document FAILED, which ends the claim of it; `cancelled` by a person, for the audit. One that is
        READY or FAILED already, as another process may have made it, stays as it is. Raises DocumentNotFound."""
        ...


class MemberStore(Members, Protocol):
    """The members of matters. The methods raise MatterNotFound."""

    async def grant(self, tenant: str, matter_id: str, user: str, role: MatterRole) -> Member:
        """Makes the user a member, or gives him another role. Raises LastOwner where the matter would have no
        owner."""
        ...

    async def revoke(self, tenant: str, matter_id: str, user: str) -> None:
        """Ends a membership, if there is one. Raises LastOwner."""
        ...

    async def members(self, tenant: str, matter_id: str, page: PageRequest) -> Page[Member]:
        """Returns a page of the members, by user."""
        ...


class MatterStore(WorkQueue, Protocol):
    """The rows of matters, documents, texts, chunks and what a search needs of them, which are the source of truth."""

    async def create_matter(self, tenant: str, name: str, retry: RetryKey = NEVER_RETRIED, owner: str = "") -> Matter:
        """Makes an empty matter whose only member is `owner`, if one is given, or returns the one that the same call
        has made before. Raises RequestIdReused where the request id has made another matter."""
        ...

    async def update_matter(
        self, tenant: str, matter_id: str, name: str | None = None, notes: str | None = None
    ) -> Matter:
        """Changes what is given, and returns the matter. Raises MatterNotFound."""
        ...

    async def set_hold(self, tenant: str, matter_id: str, user: str, reason: str) -> Matter:
        """Puts a legal hold on a matter, in place of an earlier one, or lifts it where the reason is empty. Returns the
        matter. Raises MatterNotFound."""
        ...

    async def get_matter(self, tenant: str, matter_id: str) -> Matter:
        """Returns a matter. Raises MatterNotFound."""
        ...

    async def list_matters(
        self, tenant: str, page: PageRequest, name: str = "", seen_by: Visibility = ALL_MATTERS
    ) -> Page[Matter]:
        """Returns a page of the matters that are visible, newest first; only those of exactly this name when one is
        given. The documentation is never among them."""
        ...

    async def begin_documentation(self, tenant: str) -> None:
        """Makes the tenant's documentation, under the id DOCUMENTATION, when there is none yet."""
        ...

    async def delete_matter(self, tenant: str, matter_id: str) -> str:
        """Makes the matter and its documents absent for everybody; `delete_documents` removes their rows later. Returns
        the id of the deletion. Raises MatterNotFound and UnderLegalHold."""
        ...

    async def deleted_matters(self) -> Sequence[tuple[str, str]]:
        """Returns (tenant, matter id) of deleted matters that still have rows."""
        ...

    async def delete_documents(self, tenant: str, matter_id: str) -> Sequence[Leftover]:
        """Removes all rows of the next documents of a deleted matter, as many as take a short time, and notes and
        returns what is left of them. When no document is left, it removes the matter's own row and returns nothing."""
        ...

    async def begin_upload(self, tenant: str, matter_id: str, document_id: str) -> None:
        """Notes that there may be bytes of an upload, until `add_document` or `forget_leftovers`."""
        ...

    async def uploads(self) -> Sequence[tuple[str, str]]:
        """Returns tenant and document id of every upload that was begun and not given up."""
        ...

    async def give_up_uploads(self, uploads: Sequence[tuple[str, str]]) -> None:
        """Turns these uploads, of which tenant and document id are given, into leftovers, because nobody is at them any
        more."""
        ...

    async def leftovers(self, limit: int, after: Leftover | None = None) -> Sequence[Leftover]:
        """Returns leftovers of all tenants in a fixed order, after the one given. Uploads that were begun are among
        them only when they were given up."""
        ...

    async def forget_leftovers(self, tenant: str, document_ids: Sequence[str]) -> None:
        """Removes the record of leftovers of these documents."""
        ...

    async def add_document(self, document: Document) -> tuple[Document, bool]:
        """Stores a PENDING document, which completes its upload, and returns it and True. Fills in
        `replaces_document_id`.

        Where the matter has a document of the same bytes, that document is returned with False. If it has FAILED, it
        becomes PENDING again under the name and media type given, and keeps its place in the order of upload.

        Raises MatterNotFound."""
        ...

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Returns a document. Raises DocumentNotFound."""
        ...

    async def find_by_filename(self, tenant: str, matter_id: str, filename: str) -> Document:
        """Returns the newest document of this file name, compared without case. Raises DocumentNotFound."""
        ...

    async def list_documents(self, tenant: str, matter_id: str, page: PageRequest) -> Page[Document]:
        """Returns a page of documents in the order of upload."""
        ...

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]:
        """Returns every document of a matter in the order of upload."""
        ...

    async def documents_in_others(self, tenant: str, matter_id: str, languages: Collection[str]) -> Sequence[Document]:
        """Returns the documents whose language is known and none of these, in the order of upload."""
        ...

    async def documents_after(self, last: Document | None, limit: int) -> Sequence[Document]:
        """Returns documents of all tenants in a fixed order, after the one given."""
        ...

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
        """Stores text, structure, chunks with their vectors, what a search needs of them, and the `words` that a
        classifier has read in them, and makes the document READY, in one transaction.
        Raises DocumentNotFound when it was deleted meanwhile, and ClaimLost when it has come to its end otherwise."""
        ...

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> str:
        """Removes all rows of a document and notes a leftover. Returns the id of the deletion. Raises DocumentNotFound
        and UnderLegalHold."""
        ...

    async def text(self, tenant: str, document_id: str, start: int, end: int | None = None) -> str:
        """Returns part of a READY document's text. Raises DocumentNotFound."""
        ...

    async def page_words(self, tenant: str, document_id: str, number: int) -> tuple[PageWords | None, int]:
        """Returns a page of a READY document with its words, and the number of the last page; None and 0 where no words
        of the document are kept."""
        ...

    async def outlines(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Outline]:
        """Returns the outlines of those of the documents that are READY, by their ids."""
        ...

    async def openings(self, tenant: str, matter_id: str) -> Mapping[str, str]:
        """Returns the texts with which the READY documents of a matter begin, of some hundred words each, by the ids of
        the documents."""
        ...

    async def chunks(self, tenant: str, chunk_ids: Sequence[str]) -> Sequence[StoredChunk]:
        """Returns those of the chunks that belong to READY documents, in the order asked for."""
        ...

    async def texts_of_chunks(self, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
        """Returns the texts of those of the chunks that belong to READY documents, by their ids; for thousands."""
        ...

    async def neighbours(self, tenant: str, stored: StoredChunk) -> tuple[str, str]:
        """Returns the texts of the chunks before and after; empty at the ends."""
        ...

    async def packed_documents(
        self, tenant: str, matter_id: str, model_id: str, known: Mapping[str, PackedDocument]
    ) -> tuple[int, Sequence[PackedDocument]]:
        """Returns the matter's `index_version` and its READY documents as they are at that version, in the order of
        upload. Those that are `known`, by their ids, are not read again unless they lack vectors: nothing else of a
        READY document changes. Documents that this model has not embedded come without. Raises MatterNotFound."""
        ...

    async def pack_again(self, tenant: str, document_id: str) -> None:
        """Makes the packed words of a READY document anew, from its passages."""
        ...

    async def chunks_not_embedded(self, tenant: str, document_id: str, model_id: str) -> Sequence[Chunk]:
        """Returns the chunks of a READY document in order, or none where this model has embedded them."""
        ...

    async def keep_vectors(self, document: Document, model_id: str, vectors: Vectors) -> None:
        """Keeps the vectors of all chunks of a document, in order, beside those that other models made. Does nothing
        where the document is not READY any more."""
        ...

    async def forget_other_vectors(self, tenant: str, document_id: str, model_id: str) -> None:
        """Deletes the vectors of a document that other models than this one made."""
        ...

    async def known_embeddings(
        self, tenant: str, model_id: str, content_sha256: Sequence[str]
    ) -> Mapping[str, Vectors]:
        """Returns vectors of shape (dimensions,) that were computed before for this tenant, by
        `Chunk.content_sha256`."""
        ...


PIECE_BYTES = 256 * 1024
"""The most bytes that a BlobStore yields at once."""


class BlobDamaged(Exception):
    """Stored bytes are not those that were put."""


class BlobStore(Protocol):
    """Keeps uploaded bytes under opaque keys. Where bytes are sealed, its methods raise KeyDestroyed for a tenant whose
    key is gone, and Unavailable while its key cannot be had."""

    async def put(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> None:
        """Stores bytes. They are durable and whole when this returns. Nothing is visible when it raises, unless the
        store failed at the very end: then they may be there, whole, until they are deleted."""
        ...

    async def get(self, tenant: str, key: str) -> bytes:
        """Returns the bytes. Raises KeyError."""
        ...

    def pieces(self, tenant: str, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yields the bytes from `start` to `end`, or those that there are. Raises KeyError, and BlobDamaged where it
        can tell."""
        ...

    async def delete(self, tenant: str, key: str) -> None:
        """Deletes the bytes; deleting what is absent changes nothing."""
        ...

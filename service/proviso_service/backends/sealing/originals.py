"""Seals the originals that lie unsealed, from the time before originals were sealed."""

from dataclasses import dataclass

from proviso_service.backends.sealing.blobs import SealedBlobs
from proviso_service.errors import DocumentNotFound, KeyDestroyed, OriginalDamaged
from proviso_service.matters import Document, MatterStore, every_document, original_pieces


@dataclass(frozen=True, slots=True)
class SealedOriginals:
    """How many originals were sealed, and the ids of documents whose original was damaged or has no key any more."""

    sealed: int
    left: tuple[str, ...]


async def unsealed_originals(store: MatterStore, blobs: SealedBlobs) -> list[Document]:
    """The documents of all tenants whose original lies unsealed."""
    return [document async for document in every_document(store) if await blobs.is_unsealed(*_place(document))]


async def seal_originals(store: MatterStore, blobs: SealedBlobs) -> SealedOriginals:
    """Seals them, also while a service uses them. An original is deleted once its sealed form has been read again and
    is the same; breaking off harms nothing."""
    sealed, left = 0, []
    for document in await unsealed_originals(store, blobs):
        try:
            await blobs.put(*_place(document), original_pieces(store, blobs.unsealed, document, 0, document.size_bytes))
            async for _ in original_pieces(store, blobs, document, 0, document.size_bytes):
                pass
            await store.get_document(document.tenant, document.matter_id, document.document_id)
            await blobs.unsealed.delete(*_place(document))
            sealed += 1
        except DocumentNotFound:
            await blobs.delete(*_place(document))
        except (OriginalDamaged, KeyDestroyed):
            left.append(document.document_id)
    return SealedOriginals(sealed, tuple(left))


def _place(document: Document) -> tuple[str, str]:
    return document.tenant, document.document_id

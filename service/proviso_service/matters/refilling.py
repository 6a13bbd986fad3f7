"""Filling an empty vector index from the vectors in the store, which are the truth."""

from proviso_service.matters.ports import MatterStore, VectorIndex

BATCH_VECTORS = 500


async def refill_if_empty(store: MatterStore, vectors: VectorIndex, model_id: str) -> int:
    """Copies every READY document's vectors of the model into an index that holds nothing; returns how many. An index
    that holds anything is left as it is."""
    if await vectors.count() > 0:
        return 0
    copied = 0
    async for tenant, records in store.all_vectors(model_id, BATCH_VECTORS):
        await vectors.upsert(tenant, records)
        copied += len(records)
    return copied

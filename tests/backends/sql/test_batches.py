"""Batches of texts that processes embed together."""

import numpy as np
import pytest

from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.errors import DocumentNotFound
from proviso_service.matters import Document, EmbeddingBatch, Matter
from tests.support.stored import Clock, a_document, committed

LEASE_S = 60.0
FIRST, SECOND = "replica-1", "replica-2"


async def offered(matters: SqlMatterStore, matter: Matter, *texts: str) -> Document:
    """A document under way, each text of which is a batch."""
    document, _ = await matters.add_document(a_document(matter, f"{texts[0]}.txt"))
    claim = await matters.claim(document, FIRST, LEASE_S)
    assert claim
    await matters.share_batches(claim.document, [[text] for text in texts])
    return claim.document


async def claimed(matters: SqlMatterStore, owner: str, document: Document | None = None) -> EmbeddingBatch:
    batch = await matters.claim_batch(owner, LEASE_S, document)
    assert batch
    return batch


async def test_each_batch_is_claimed_by_one_process_until_its_lease_expires(
    matters: SqlMatterStore, matter: Matter, clock: Clock
) -> None:
    document = await offered(matters, matter, "one", "two")
    batches = [await claimed(matters, FIRST), await claimed(matters, SECOND)]
    assert [batch.texts for batch in batches] == [("one",), ("two",)]
    assert await matters.claim_batch(SECOND, LEASE_S) is None
    clock.advance(LEASE_S)
    assert (await claimed(matters, SECOND, document)).texts == ("one",)


async def test_the_first_batch_of_each_document_comes_before_the_second_of_any(
    matters: SqlMatterStore, matter: Matter
) -> None:
    await offered(matters, matter, "a1", "a2")
    second = await offered(matters, matter, "b1", "b2")
    assert {(await claimed(matters, FIRST)).texts, (await claimed(matters, FIRST)).texts} == {("a1",), ("b1",)}
    assert (await claimed(matters, FIRST, second)).texts == ("b2",)


async def test_vectors_are_there_in_order_once_all_batches_are_finished(
    matters: SqlMatterStore, matter: Matter
) -> None:
    document = await offered(matters, matter, "one", "two")
    first, second = await claimed(matters, FIRST), await claimed(matters, SECOND)
    await matters.finish_batch(second, np.array([[3.0, 4.0]]))
    assert await matters.unfinished_batches(document) == 1
    await matters.finish_batch(first, None)
    again = await claimed(matters, SECOND)
    assert again == first
    await matters.finish_batch(again, np.array([[1.0, 2.0]]))
    assert await matters.unfinished_batches(document) == 0
    found = [np.frombuffer(vectors, "<f4").tolist() for vectors in await matters.finished_batches(document)]
    assert found == [[1.0, 2.0], [3.0, 4.0]]


async def test_what_is_offered_anew_takes_the_place_of_what_was_offered_before(
    matters: SqlMatterStore, matter: Matter
) -> None:
    document = await offered(matters, matter, "one", "two")
    await matters.finish_batch(await claimed(matters, FIRST), np.array([[1.0, 2.0]]))
    await matters.share_batches(document, [["other"]])
    assert (await claimed(matters, SECOND)).texts == ("other",)
    assert await matters.claim_batch(SECOND, LEASE_S) is None


@pytest.mark.parametrize("end", ["ready", "deleted"])
async def test_batches_go_with_the_end_of_their_document(matters: SqlMatterStore, matter: Matter, end: str) -> None:
    document = await offered(matters, matter, "one")
    batch = await claimed(matters, SECOND)
    if end == "ready":
        await committed(matters, document, "Rent is due.")
    else:
        await matters.delete_document(document.tenant, document.matter_id, document.document_id)
        with pytest.raises(DocumentNotFound):
            await matters.share_batches(document, [["one"]])
    await matters.finish_batch(batch, np.array([[1.0, 2.0]]))
    assert await matters.finished_batches(document) == []
    assert await matters.claim_batch(FIRST, LEASE_S) is None

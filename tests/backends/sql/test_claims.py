"""Claims of documents, as the processes see them that share the state."""

import pytest

from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.errors import FailureCause
from proviso_service.matters import Claim, ClaimLost, Document, DocumentStatus, Matter
from tests.support.stored import Clock, a_document, committed

LEASE_S = 30.0
FIRST, SECOND = "replica-1", "replica-2"


@pytest.fixture
async def pending(matters: SqlMatterStore, matter: Matter) -> Document:
    return (await matters.add_document(a_document(matter)))[0]


async def claimed(matters: SqlMatterStore, document: Document, owner: str) -> Claim:
    claim = await matters.claim(document, owner, LEASE_S)
    assert claim is not None
    return claim


async def test_a_document_is_one_process_s_until_its_lease_expires(
    matters: SqlMatterStore, pending: Document, clock: Clock
) -> None:
    claim = await claimed(matters, pending, FIRST)
    assert (claim.document.status, claim.losses) == (DocumentStatus.PROCESSING, 0)
    assert await matters.claim(pending, SECOND, LEASE_S) is None
    assert await matters.unfinished_documents(10, SECOND) == []
    assert await matters.unfinished_documents(10, FIRST) == [claim.document]
    clock.advance(LEASE_S + 1)
    assert await matters.unfinished_documents(10, SECOND) == [claim.document]
    assert (await claimed(matters, pending, SECOND)).losses == 1
    assert await matters.renew_claims(FIRST, [pending.document_id], LEASE_S) == [pending.document_id]


async def test_a_claim_that_is_renewed_does_not_expire(
    matters: SqlMatterStore, pending: Document, clock: Clock
) -> None:
    await claimed(matters, pending, FIRST)
    clock.advance(LEASE_S - 1)
    assert await matters.renew_claims(FIRST, [pending.document_id], LEASE_S) == []
    clock.advance(LEASE_S - 1)
    assert await matters.claim(pending, SECOND, LEASE_S) is None
    assert (await claimed(matters, pending, FIRST)).losses == 0


async def test_what_a_process_releases_is_free_at_once_and_counts_where_the_process_was_lost(
    matters: SqlMatterStore, pending: Document
) -> None:
    await claimed(matters, pending, FIRST)
    await matters.release_claims(FIRST)
    assert (await claimed(matters, pending, SECOND)).losses == 0
    await matters.release_claims(FIRST)
    assert await matters.claim(pending, FIRST, LEASE_S) is None
    await matters.release_claims(SECOND, lost=True)
    assert (await claimed(matters, pending, SECOND)).losses == 1


@pytest.mark.parametrize("end", ["ready", "failed", "deleted"])
async def test_a_claim_ends_with_its_document_which_nobody_claims_or_changes_any_more(
    matters: SqlMatterStore, pending: Document, end: str
) -> None:
    claim = await claimed(matters, pending, FIRST)
    if end == "ready":
        await committed(matters, claim.document, "Rent is due.")
    elif end == "failed":
        await matters.fail(claim.document, "It was cancelled.", FailureCause.CANCELLED)
    else:
        await matters.delete_document(pending.tenant, pending.matter_id, pending.document_id)
    assert await matters.renew_claims(FIRST, [pending.document_id], LEASE_S) == [pending.document_id]
    if end != "deleted":
        assert await matters.claim(pending, SECOND, LEASE_S) is None
        with pytest.raises(ClaimLost):
            await committed(matters, claim.document, "Rent is due.")


async def test_a_process_that_comes_too_late_makes_no_failure_of_what_another_one_has_ended(
    matters: SqlMatterStore, pending: Document
) -> None:
    claim = await claimed(matters, pending, FIRST)
    ready = await committed(matters, claim.document, "Rent is due.")
    assert await matters.fail(claim.document, "The file is no longer stored.", FailureCause.FAILED) == ready

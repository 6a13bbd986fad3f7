"""Hybrid search."""

import pytest

from proviso_service.errors import InvalidRequest, MatterNotFound
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.retrieval import Retriever
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld

UNKNOWN = "00000000-0000-4000-8000-000000000000"
LEASE = """\
# Lease

## 1. Rent

The tenant pays USD 5 a month, on the first day of each month.

## 2. Termination

Either party may end this lease by giving the other sixty days' written warning.

## 3. Governing Law

This lease is governed by the laws of the State of Oregon.
"""
LICENSE = """\
# Licence

## 1. Grant

The licensor grants the licensee the right to use the Zephyr-9 software.

## 2. Law

English law applies to this licence.
"""


async def test_a_passage_is_found_by_its_meaning(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    outcome = await world.search(matter, "notice period for termination", max_results=1)
    [hit] = outcome.hits
    assert hit.stored.chunk.heading == "2. Termination"
    assert hit.stored.chunk.section_path == ("Lease", "2. Termination")
    assert LEASE[hit.stored.chunk.start : hit.stored.chunk.end] == hit.stored.chunk.text
    assert 0.3 <= hit.similarity <= 1


async def test_a_passage_that_holds_all_words_is_spared_by_the_threshold(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    outcome = await world.search(matter, "zephyr", threshold=0.99)
    [hit] = outcome.hits
    assert hit.lexical_match
    assert "Zephyr-9" in hit.stored.chunk.text
    assert 0 < hit.similarity < 0.99
    assert [(found.filename, found.passages) for found in outcome.documents_matching] == [("licence.md", 1)]


async def test_words_found_beyond_the_nearest_have_their_true_similarity(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    whole = {h.stored.chunk_id: h for h in (await world.search(matter, "Zephyr law", threshold=0.0)).hits}

    async def nothing_near(*_: object) -> list[object]:
        return []

    monkeypatch.setattr(world.vectors, "search", nothing_near)
    by_words = (await world.search(matter, "Zephyr law", threshold=0.0)).hits
    assert len(by_words) >= 2
    for hit in by_words:
        assert hit.similarity == pytest.approx(whole[hit.stored.chunk_id].similarity, abs=1e-3)


async def test_weights_choose_between_meaning_and_words(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    by_words = (await world.search(matter, "written software", threshold=0.0, semantic_weight=0.0)).hits
    assert by_words
    assert all(hit.lexical_match for hit in by_words)
    by_meaning = (await world.search(matter, "written software", threshold=0.0, semantic_weight=1.0)).hits
    similarities = [hit.similarity for hit in by_meaning]
    assert similarities == sorted(similarities, reverse=True)
    assert len(by_meaning) == 5


async def test_only_the_documents_asked_for_are_searched(world: MattersWorld) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    only = [documents["licence.md"].document_id.upper()]
    outcome = await world.search(matter, "governing law", document_ids=only, threshold=0.0)
    assert {hit.stored.filename for hit in outcome.hits} == {"licence.md"}
    assert outcome.documents_matching == ()


async def test_context_is_what_stands_beside_the_passage(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    hit = (await world.search(matter, "termination", include_context=True)).hits[0]
    assert "1. Rent" in hit.context_before
    assert "3. Governing Law" in hit.context_after
    assert (await world.search(matter, "termination")).hits[0].context_before == ""


async def test_when_nothing_is_found_the_documents_are_named(world: MattersWorld) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    outcome = await world.search(matter, "quantum chromodynamics of gluons", threshold=0.9)
    assert outcome.hits == ()
    assert outcome.documents_available == ("lease.md", "licence.md")
    lease = [documents["lease.md"].document_id]
    outcome = await world.search(matter, "quantum chromodynamics", threshold=0.9, document_ids=lease)
    assert outcome.documents_available == ("lease.md",)


async def test_the_order_is_the_same_every_time(world: MattersWorld) -> None:
    matter = await world.matter()
    same = "\n\n".join(f"# Clause {n}\n\nThe fee is due on the first day." for n in range(6))
    await world.ingest(matter, {"b.md": same, "a.md": same + "\n"})
    query = "When is the fee due?"
    first, second = [(await world.search(matter, query, max_results=20)).hits for _ in range(2)]
    assert first == second
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)


async def test_a_matter_is_searched_by_its_tenant_only(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    retriever = Retriever(world.store, world.vectors, world.embedder, world.settings)
    with pytest.raises(MatterNotFound):
        await retriever.search(OTHER_TENANT, SearchQuery(matter.matter_id, "rent"))
    other = await world.matter()
    assert (await world.search(other, "rent", threshold=0.0)).hits == ()


@pytest.mark.parametrize(
    ("field", "query"),
    [
        ("matter_id", SearchQuery("42", "rent")),
        ("document_ids", SearchQuery(UNKNOWN, "rent", document_ids=("42",))),
        ("query", SearchQuery(UNKNOWN, " \n")),
    ],
)
async def test_a_malformed_query_is_refused(world: MattersWorld, field: str, query: SearchQuery) -> None:
    retriever = Retriever(world.store, world.vectors, world.embedder, world.settings)
    with pytest.raises(InvalidRequest, match=field):
        await retriever.search(TENANT, query)


async def test_the_best_of_each_document_comes_first_when_passages_of_one_are_limited(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    query = "law of the lease and the licence"
    outcome = await world.search(matter, query, max_results=4, threshold=0, max_per_document=2)
    names = [hit.stored.filename for hit in outcome.hits]
    assert set(names[:2]) == set(names[2:]) == {"lease.md", "licence.md"}
    [*unlimited] = (await world.search(matter, query, max_results=20, threshold=0)).hits
    assert len(unlimited) > 4
    assert [hit.score for hit in unlimited] == sorted((hit.score for hit in unlimited), reverse=True)

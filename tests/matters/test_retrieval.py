"""Hybrid search."""

from dataclasses import replace

import numpy as np
import pytest

from proviso_service.errors import InvalidRequest, MatterNotFound
from proviso_service.matters.model import Matter, SearchQuery
from proviso_service.matters.retrieval import Retriever
from proviso_service.matters.search_index import IndexAnswer, IndexQuery, MatterIndex
from proviso_service.reading.model import Chunk, ParsedDocument
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld
from tests.support.stored import a_document

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
    outcome = await world.search(matter, "ending the lease by written notice", max_results=1)
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

    search = MatterIndex.search

    def nothing_near(index: MatterIndex, query: IndexQuery) -> IndexAnswer:
        return search(index, replace(query, near=np.empty(0, dtype=np.intp)))

    monkeypatch.setattr(MatterIndex, "search", nothing_near)
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
    retriever = Retriever(world.store, world.indexes, world.embedder)
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
    retriever = Retriever(world.store, world.indexes, world.embedder)
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


CLAUSES = {
    "2.3": "2.3 Fees. The fees are USD 5, as clause 12.3 allows.",
    "12": "12. Liability",
    "12.3.1": "12.3.1 Exceptions. Nothing limits liability for death.",
    "12.3": "12.3 Cap. The liability of each party is capped at the fees paid.",
    "112.3": "112.3 Notices. A notice is given in writing.",
}


async def with_clauses(world: MattersWorld) -> Matter:
    """A matter with one document, a passage of it for each of CLAUSES."""
    matter = await world.matter()
    chunks: list[Chunk] = []
    for number, text in CLAUSES.items():
        start = chunks[-1].end + 1 if chunks else 0
        chunks.append(Chunk(len(chunks), start, start + len(text), text, clause_numbers=(number,)))
    document, _ = await world.store.add_document(a_document(matter, "lease.txt"))
    vectors = await world.embedder.embed_documents([chunk.text for chunk in chunks])
    parsed = ParsedDocument("\n".join(CLAUSES.values()))
    await world.store.commit_ready(document, parsed, chunks, world.embedder.model_id, vectors)
    return matter


async def numbers_found(world: MattersWorld, query: str, **options: object) -> list[str]:
    outcome = await world.search(await with_clauses(world), query, **options)
    return [hit.stored.chunk.clause_numbers[0] for hit in outcome.hits]


@pytest.mark.parametrize("weight", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("query", ["clause 12.3", "12.3", "What does § 12.3 say?"])
async def test_a_clause_is_found_by_its_number_then_those_below_it(
    world: MattersWorld, query: str, weight: float
) -> None:
    found = await numbers_found(world, query, threshold=1.0, semantic_weight=weight)
    assert found[:2] == ["12.3", "12.3.1"]
    # By its words only, and spared by the threshold only where it holds all of them.
    assert set(found[2:]) <= {"2.3"}


async def test_a_clause_and_a_subject_both_count(world: MattersWorld) -> None:
    found = await numbers_found(world, "exceptions for death in clause 12.3", threshold=0.0)
    assert set(found[:2]) == {"12.3.1", "12.3"}
    found = await numbers_found(world, "notices in writing, clause 12.3", threshold=0.0)
    assert set(found[:3]) == {"12.3", "12.3.1", "112.3"}


async def test_a_clause_that_nobody_has_is_searched_for_as_words(world: MattersWorld) -> None:
    assert (await numbers_found(world, "notices of clause 99", threshold=0.1))[0] == "112.3"


async def test_every_result_holds_the_phrases_in_their_very_words(world: MattersWorld) -> None:
    matter = await world.matter()
    texts = {
        "a.md": "The Tenant\u2019s  obligations under this lease survive.",
        "b.md": "Obligations of the tenant under that lease survive.",
        "c.md": "The tenants obligation under this lease survives.",
    }
    await world.ingest(matter, texts)
    query = 'survival of "the tenant\'s obligations" and "THIS LEASE"'
    outcome = await world.search(matter, query, threshold=1.0)
    [hit] = outcome.hits
    assert hit.stored.filename == "a.md"
    marked = [hit.snippet.text[span.start : span.end] for span in hit.snippet.highlights]
    assert marked == ["The Tenant\u2019s  obligations", "this lease", "survive"]
    assert [found.filename for found in (await world.search(matter, '"this lease"')).documents_matching] == [
        "a.md",
        "c.md",
    ]


async def test_a_phrase_that_nobody_has_finds_nothing_and_names_the_documents(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    outcome = await world.search(matter, '"laws of the State of Nevada"', threshold=0.0)
    assert (outcome.hits, outcome.documents_matching) == ((), ())
    assert outcome.documents_available == ("lease.md", "licence.md")


@pytest.mark.parametrize(
    "query",
    [
        "the of and is it",
        "x" * 2_000,
        "\U0001f600 \u202e",
        'rent AND NEAR(due*) ^a -b : "',
        "re\0nt",
        '"\0"',
        "()",
        "'" * 50,
    ],
)
async def test_any_query_is_answered(world: MattersWorld, query: str) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    for threshold, weight in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.5)):
        hits = (await world.search(matter, query, threshold=threshold, semantic_weight=weight)).hits
        assert all(hit.lexical_match or weight for hit in hits)


async def test_only_ready_documents_of_the_matter_are_searched(world: MattersWorld) -> None:
    matter, other = await world.matter(), await world.matter()
    elsewhere = (await world.ingest(other, {"other.md": LEASE}))["other.md"]
    await world.ingest(matter, {"lease.md": LEASE})
    broken = (await world.upload(matter, b"\xff\xff", "broken.md")).document
    await world.settled(matter)
    with world.embedder.shut_meanwhile():
        waiting = (await world.upload(matter, LEASE + "again", "waiting.md")).document
        for document in (elsewhere, broken, waiting):
            outcome = await world.search(matter, "rent", threshold=0.0, document_ids=[document.document_id])
            assert outcome.hits == ()
            assert outcome.documents_available == ()
            assert outcome.documents_processing == (("waiting.md",) if document is waiting else ())
            assert [one.document_id for one in outcome.not_searched] == [document.document_id]


async def test_a_passage_whose_document_goes_meanwhile_is_left_out(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE, "licence.md": LICENSE})
    search = world.indexes.search

    async def deleted_afterwards(*asked: object) -> object:
        answer = await search(*asked)  # type: ignore[arg-type]
        await world.matters.delete_document(TENANT, matter.matter_id, documents["lease.md"].document_id)
        return answer

    monkeypatch.setattr(world.indexes, "search", deleted_afterwards)
    outcome = await world.search(matter, "governing law", threshold=0.0)
    assert {hit.stored.filename for hit in outcome.hits} == {"licence.md"}


async def test_words_are_found_however_they_are_set(world: MattersWorld) -> None:
    matter = await world.matter()
    text = "Either party may ask for termi-\nnation of the o\ufb03ce licen\u00adsing at any time."
    await world.ingest(matter, {"set.txt": text})
    for query in ("termination", "office", "licensing", '"termination of the office licensing"'):
        [hit] = (await world.search(matter, query, threshold=1.0)).hits
        assert hit.lexical_match
        assert hit.stored.chunk.text == text.replace("\u00ad", "")

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.fulltext import all_words, any_word
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.matters.model import Document, DocumentHits, Matter, chunk_id
from proviso_service.matters.wording import fold
from proviso_service.reading.references import levels_of
from tests.support.stored import MODEL, a_document, a_text, ingested, vectors_of

HOSTILE = [
    '"',
    '""" OR "',
    "'; DROP TABLE chunks; --",
    "rent AND",
    "OR",
    "NOT rent",
    "NEAR(rent due, 2)",
    "rent NEAR/3 due",
    "((((rent",
    "rent)))) OR (",
    "body:rent",
    "scope:1 OR body:rent",
    "{scope body}: rent",
    "^rent",
    "rent*",
    "-rent",
    "rent + due",
    "😀 🏛️",
    "\0",
    "rent\0due",
    "\u202erent",
    "the of and is it",
    "",
    "   \n\t ",
    "§ 12 ¶ (a)(ii)",
    "a" * 10_000,
    "rent " * 5_000,
    " ".join(f"word{i}" for i in range(5_000)),
]


async def found_in(matters: SqlMatterStore, matter: Matter, query: str, documents: Sequence[str] = ()) -> list[str]:
    return [hit.chunk_id for hit in await matters.search_words(matter.tenant, matter.matter_id, query, 50, documents)]


def test_every_matter_of_every_tenant_has_a_word_of_its_own_in_the_index() -> None:
    """Without this word a search would visit the passages of all matters; other tests check that results are exact."""
    places = [("acme", "m-1"), ("acme", "m-2"), ("other", "m-1"), ("acmem", "-1")]
    for expression in (any_word, all_words):
        assert len({expression(tenant, matter_id, ["rent", "due"]) for tenant, matter_id in places}) == len(places)


@pytest.mark.parametrize("query", HOSTILE)
async def test_no_query_is_full_text_syntax(matters: SqlMatterStore, matter: Matter, query: str) -> None:
    await ingested(matters, matter, "Rent is due monthly.", "Nothing of interest.")
    other = await matters.create_matter("acme", "Another")
    outside = await ingested(matters, other, "Rent is due in another matter.")
    found = await found_in(matters, matter, query)
    assert bool(found) == ("rent" in query)
    assert not any(chunk.startswith(outside.document_id) for chunk in found)
    await matters.documents_matching("acme", matter.matter_id, query)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
@example('scope:"')
@example("ﬁ ß İ ŉ")
async def test_any_text_can_be_searched_for(matters: SqlMatterStore, matter: Matter, query: str) -> None:
    if not await matters.all_documents("acme", matter.matter_id):
        await ingested(matters, matter, "Rent is due monthly.")
    hits = await matters.search_words("acme", matter.matter_id, query, 5)
    documents = await matters.documents_matching("acme", matter.matter_id, query)
    assert len(hits) <= 1
    assert len(documents) == sum(hit.all_terms for hit in hits)


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("Who insures the building?", "The landlord shall maintain insurance."),
        ("terminating early", "Either party may terminate this agreement."),
        ("RENT", "The rent is due."),
        ("resume", "The résumé is attached."),
        ("résumé", "The resume is attached."),
        ("第三条", "第三条 租金"),
        ("12.3", "Clause 12.3 applies."),
    ],
)
async def test_words_match_in_other_forms(matters: SqlMatterStore, matter: Matter, query: str, passage: str) -> None:
    document = await ingested(matters, matter, passage)
    assert await found_in(matters, matter, query) == [chunk_id(document.document_id, 0)]


async def test_passages_with_more_and_rarer_words_come_first(matters: SqlMatterStore, matter: Matter) -> None:
    filler = [f"The tenant does thing number {i} and the rent is unrelated." for i in range(20)]
    document = await ingested(
        matters,
        matter,
        *filler,
        "The indemnity survives whatever comes after that.",
        "The tenant gives an indemnity for rent.",
    )
    hits = await matters.search_words("acme", matter.matter_id, "tenant indemnity for rent", 5)
    assert [hit.rank for hit in hits] == [0, 1, 2, 3, 4]
    assert [hit.chunk_id for hit in hits[:2]] == [chunk_id(document.document_id, i) for i in (21, 20)]
    assert [hit.all_terms for hit in hits] == [True, False, False, False, False]


async def test_passages_with_little_else_come_first(matters: SqlMatterStore, matter: Matter) -> None:
    document = await ingested(matters, matter, "Rent rent rent.", "Rent and much more that is of no use here.")
    assert await found_in(matters, matter, "rent") == [chunk_id(document.document_id, i) for i in (0, 1)]


async def test_equal_ranks_follow_the_order_of_upload(matters: SqlMatterStore, matter: Matter) -> None:
    documents = [await ingested(matters, matter, "Rent is due.", "Rent is due.") for _ in range(3)]
    wanted = [chunk_id(document.document_id, ordinal) for document in documents for ordinal in (0, 1)]
    assert await found_in(matters, matter, "rent") == wanted


async def test_a_search_can_be_limited_to_documents(matters: SqlMatterStore, matter: Matter) -> None:
    documents = [(await ingested(matters, matter, f"Rent is due. {i}")).document_id for i in range(3)]
    assert await found_in(matters, matter, "rent", documents[1:]) == [chunk_id(i, 0) for i in documents[1:]]
    hits = await matters.documents_matching("acme", matter.matter_id, "rent", documents[:1])
    assert [hit.document_id for hit in hits] == documents[:1]
    assert await found_in(matters, matter, "rent", ["absent"]) == []


async def test_documents_matching_are_counted_by_passages_that_hold_every_word(
    matters: SqlMatterStore, matter: Matter
) -> None:
    one = await ingested(matters, matter, "Rent is due.", "Rent was paid.", filename="one.txt")
    two = await ingested(matters, matter, "Rent is due.", "Rent falls due.", "Due dates.", filename="two.txt")
    await ingested(matters, matter, "Rent.", "Due.", filename="none.txt")
    hits = await matters.documents_matching("acme", matter.matter_id, "When is the rent due?")
    assert hits == [DocumentHits(two.document_id, "two.txt", 2), DocumentHits(one.document_id, "one.txt", 1)]


async def test_no_more_hits_than_the_limit(matters: SqlMatterStore, matter: Matter) -> None:
    await ingested(matters, matter, *["Rent is due."] * 5)
    assert len(await matters.search_words("acme", matter.matter_id, "rent", 3)) == 3


SET_OTHERWISE = "Termi-\nnation of the o\ufb03ce licen\u00adsing; the tenant\u02bcs re\u0301sume\u0301."


@pytest.mark.parametrize("query", ["termination", "nation", "office", "licensing", "tenant", "résumé"])
async def test_words_are_found_however_they_are_set(matters: SqlMatterStore, matter: Matter, query: str) -> None:
    document = await ingested(matters, matter, SET_OTHERWISE, "Nothing of the kind.")
    assert await found_in(matters, matter, query) == [chunk_id(document.document_id, 0)]


async def phrases_in(matters: SqlMatterStore, matter: Matter, *phrases: str, query: str = "") -> list[str]:
    folded = [fold(phrase) for phrase in phrases]
    hits = await matters.search_words(matter.tenant, matter.matter_id, query, 50, (), folded)
    documents = await matters.documents_matching(matter.tenant, matter.matter_id, query, (), folded)
    assert sum(document.passages for document in documents) == sum(hit.all_terms for hit in hits)
    return [hit.chunk_id for hit in hits]


async def test_a_phrase_is_found_in_its_very_words(matters: SqlMatterStore, matter: Matter) -> None:
    passages = [
        "The rent is due.",
        "The rents are due.",
        "Due is the rent.",
        "the  RENT is\ndue",
        "Sent the rent is due",
    ]
    document = await ingested(matters, matter, *passages)
    found = await phrases_in(matters, matter, "the rent is due", query="the rent is due")
    assert sorted(found) == [chunk_id(document.document_id, n) for n in (0, 3, 4)]
    assert await phrases_in(matters, matter, "rent is", "due is") == []
    assert await phrases_in(matters, matter, "is the") == [chunk_id(document.document_id, 2)]


async def test_phrases_without_number_or_end_are_looked_for(matters: SqlMatterStore, matter: Matter) -> None:
    document = await ingested(matters, matter, "rent due")
    assert await phrases_in(matters, matter, *["rent"] * 300) == [chunk_id(document.document_id, 0)]
    assert await phrases_in(matters, matter, *["rent"] * 100, "absent") == []
    assert await phrases_in(matters, matter, "rent due " * 200) == []


async def numbered(matters: SqlMatterStore, matter: Matter, *numbers: tuple[str, ...]) -> Document:
    document, _ = await matters.add_document(a_document(matter))
    parsed, plain = a_text(*["A clause."] * len(numbers))
    chunks = [replace(chunk, clause_numbers=own) for chunk, own in zip(plain, numbers, strict=True)]
    return await matters.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks))


async def clauses_in(matters: SqlMatterStore, matter: Matter, *numbers: str, limit: int = 50) -> list[int]:
    levels = [levels_of(number) for number in numbers]
    found = await matters.search_clauses(matter.tenant, matter.matter_id, levels, limit)
    return [int(chunk.rpartition(":")[2]) for chunk in found]


async def test_clauses_are_found_by_number_and_then_those_below(matters: SqlMatterStore, matter: Matter) -> None:
    await numbered(matters, matter, ("12.3(b)",), ("2.3",), ("112.3",), ("12.30",), ("12", "12.3"), ("IV",), ())
    assert await clauses_in(matters, matter, "12.3") == [4, 0]
    assert await clauses_in(matters, matter, "12.3(b)") == [0]
    assert await clauses_in(matters, matter, "iv", "2.3") == [1, 5]
    assert await clauses_in(matters, matter, "9") == []
    assert await clauses_in(matters, matter) == []
    assert await clauses_in(matters, matter, "12", limit=1) == [4]
    other = await matters.create_matter("acme", "Another")
    assert await clauses_in(matters, other, "12.3") == []
    assert await found_in(matters, matter, "12.3 12q3q") == []


async def test_clause_numbers_are_kept_with_their_chunks(matters: SqlMatterStore, matter: Matter) -> None:
    document = await numbered(matters, matter, ("12", "12.3(b)"))
    [stored] = await matters.chunks("acme", [chunk_id(document.document_id, 0)])
    assert stored.chunk.clause_numbers == ("12", "12.3(b)")


async def test_a_deleted_document_leaves_no_word_behind(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    set_otherwise = await ingested(matters, matter, SET_OTHERWISE)
    with_numbers = await numbered(matters, matter, ("12.3(b)", "IV"), ("s", "ed"))
    assert await database.read(words_indexed) > {"offic", "12q3qbq", "edq"}
    for document in (set_otherwise, with_numbers):
        await matters.delete_document("acme", matter.matter_id, document.document_id)
    assert await database.read(words_indexed) == set()


def words_indexed(connection: Connection) -> set[str]:
    connection.execute(text("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, chunk_words, row)"))
    words = set(connection.execute(text("SELECT term FROM temp.vocabulary")).scalars())
    connection.execute(text("DROP TABLE temp.vocabulary"))
    return words

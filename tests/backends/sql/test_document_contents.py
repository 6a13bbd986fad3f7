from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from proviso_service.backends.sql.contents import SEGMENT_CHARS
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import DocumentStatus, Matter, Outline, StoredChunk, chunk_id
from proviso_service.reading.model import PACKED_WORD, Chunk, Heading, PageSpan, PageWords, ParsedDocument
from tests.support.stored import DIMENSIONS, MODEL, a_document, a_text, committed, ingested, vectors_of

# Each 17 characters long, with a NUL and characters outside the basic plane, so that no offset is at a round place.
LONG_TEXT = "".join(f"{i:07d} é\0😀漢 §\n\u2028.." for i in range(3 * SEGMENT_CHARS // 17))
OFFSETS = st.integers(0, len(LONG_TEXT) + 20)


async def rows_left(database: Database) -> dict[str, int]:
    tables = ("documents", "outlines", "segments", "chunks", "embeddings", "chunk_words_docsize")

    def count(transaction: Connection) -> dict[str, int]:
        return {
            table: transaction.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608
            for table in tables
        }

    return await database.read(count)


async def stored_vectors(matters: SqlMatterStore, model: str = MODEL) -> dict[str, list[float]]:
    batches = [
        records
        for tenant, matter_id in await matters.indexed_matters(model)
        async for records in matters.matter_vectors(tenant, matter_id, model, 2)
    ]
    return {record.chunk_id: record.vector.tolist() for records in batches for record in records}


async def test_a_committed_document_is_ready_with_its_counts(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.", "The tenant insures.")
    parsed = ParsedDocument(parsed.text, (Heading(1, "Rent", 0, 4),), (PageSpan(1, 0, 12), PageSpan(2, 13, 32)))
    ready = await matters.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks))
    assert ready.status is DocumentStatus.READY
    assert (ready.character_count, ready.chunk_count, ready.page_count) == (len(parsed.text), 2, 2)
    assert await matters.get_document("acme", matter.matter_id, document.document_id) == ready
    outlines = await matters.outlines("acme", [document.document_id])
    assert outlines == {document.document_id: Outline(parsed.headings, parsed.pages)}


async def test_the_words_of_pages_are_kept_and_go_with_their_document(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.")
    words = b"".join(PACKED_WORD.pack(1, number % 9, number, 2, 3, 0xFFFF - number) for number in range(700))
    pages = (PageWords(1, 595.0, 842.0, words), PageWords(3, 842.0, 595.0))
    ready = await matters.commit_ready(document, replace(parsed, page_words=pages), chunks, MODEL, vectors_of(chunks))
    assert await matters.page_words("acme", ready.document_id, 1) == (pages[0], 3)
    assert await matters.page_words("acme", ready.document_id, 2) == (None, 3)
    assert await matters.page_words("acme", ready.document_id, 3) == (pages[1], 3)
    assert await matters.page_words("other", ready.document_id, 1) == (None, 0)
    await committed(matters, ready, "Rent is due.")
    assert await matters.page_words("acme", ready.document_id, 1) == (None, 0)
    await matters.commit_ready(document, replace(parsed, page_words=pages), chunks, MODEL, vectors_of(chunks))
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    assert await matters.page_words("acme", ready.document_id, 1) == (None, 0)


async def test_a_document_without_text_can_be_ready(matters: SqlMatterStore, matter: Matter) -> None:
    ready = await ingested(matters, matter)
    assert (ready.status, ready.chunk_count) == (DocumentStatus.READY, 0)
    assert await matters.text("acme", ready.document_id, 0) == ""


async def test_contents_are_invisible_before_the_document_is_ready(matters: SqlMatterStore, matter: Matter) -> None:
    ready = await ingested(matters, matter, "Rent is due.", "And the rest.")
    stored = (await matters.chunks("acme", [chunk_id(ready.document_id, 0)]))[0]
    await matters.set_status(ready, DocumentStatus.PROCESSING)
    assert await matters.chunks("acme", [stored.chunk_id]) == []
    assert await matters.neighbours("acme", stored) == ("", "")
    assert await matters.search_words("acme", matter.matter_id, "rent", 10) == []
    assert await matters.documents_matching("acme", matter.matter_id, "rent") == []
    assert await stored_vectors(matters) == {}
    with pytest.raises(DocumentNotFound):
        await matters.text("acme", ready.document_id, 0)
    assert await matters.outlines("acme", [ready.document_id]) == {}


async def test_contents_are_invisible_to_another_tenant(matters: SqlMatterStore, matter: Matter) -> None:
    ready = await ingested(matters, matter, "Rent is due.", "And the rest.")
    stored = (await matters.chunks("acme", [chunk_id(ready.document_id, 0)]))[0]
    assert await matters.chunks("other", [stored.chunk_id]) == []
    assert await matters.neighbours("other", stored) == ("", "")
    assert await matters.search_words("other", matter.matter_id, "rent", 10) == []
    with pytest.raises(DocumentNotFound):
        await matters.text("other", ready.document_id, 0)
    assert await matters.outlines("other", [ready.document_id]) == {}


async def test_ingesting_again_replaces_what_was_there(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    document = await ingested(matters, matter, "Rent is due.", "The landlord repairs.", "Old words.")
    again = await committed(matters, document, "Rent is due.", "New words.")
    assert again.chunk_count == 2
    assert await matters.text("acme", document.document_id, 0) == "Rent is due.\nNew words."
    assert await matters.search_words("acme", matter.matter_id, "landlord", 10) == []
    assert len(await matters.search_words("acme", matter.matter_id, "new", 10)) == 1
    left = await rows_left(database)
    assert left == dict.fromkeys(left, 1) | {"chunks": 2, "embeddings": 2, "chunk_words_docsize": 2}


async def test_vectors_must_be_as_many_as_chunks(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.", "The tenant insures.")
    with pytest.raises(ValueError, match="zip"):
        await matters.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks[:1]))
    assert await matters.get_document("acme", matter.matter_id, document.document_id) == document


async def test_a_commit_that_fails_leaves_nothing(matters: SqlMatterStore, matter: Matter, database: Database) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.", "The tenant insures.")
    twice = [chunks[0], Chunk(0, 13, 32, "The tenant insures.")]
    with pytest.raises(Exception, match="UNIQUE"):
        await matters.commit_ready(document, parsed, twice, MODEL, vectors_of(twice))
    left = await rows_left(database)
    assert left == dict.fromkeys(left, 0) | {"documents": 1}


async def test_deleting_the_last_document_leaves_no_row(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    document = await ingested(matters, matter, "Rent is due.", "Rent is due.", "The tenant insures.")
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    left = await rows_left(database)
    assert left == dict.fromkeys(left, 0)
    assert await matters.search_words("acme", matter.matter_id, "rent", 10) == []


async def test_the_full_text_index_is_sound_after_changes(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    first = await ingested(matters, matter, "Rent is due.", "The tenant insures. 😀\0")
    await committed(matters, first, "The landlord repairs.")
    second = await ingested(matters, matter, "Rent is due.")
    await matters.delete_document("acme", matter.matter_id, second.document_id)
    check = text("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')")
    await database.write(lambda transaction: transaction.execute(check))


async def test_equal_passages_share_one_embedding_until_the_last_goes(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    first = await ingested(matters, matter, "Rent is due.", "Only here.", "Rent is due.")
    second = await ingested(matters, matter, "Rent is due.")
    assert (await rows_left(database))["embeddings"] == 2
    await matters.delete_document("acme", matter.matter_id, first.document_id)
    assert (await rows_left(database))["embeddings"] == 1
    assert list(await stored_vectors(matters)) == [chunk_id(second.document_id, 0)]


async def test_embeddings_are_not_shared_between_tenants(matters: SqlMatterStore, matter: Matter) -> None:
    await ingested(matters, matter, "Rent is due.")
    _, (chunk,) = a_text("Rent is due.")
    assert await matters.known_embeddings("other", MODEL, [chunk.content_sha256]) == {}
    theirs = await matters.create_matter("other", "Elsewhere")
    document = await ingested(matters, theirs, "Rent is due.")
    await matters.delete_document("other", theirs.matter_id, document.document_id)
    assert list(await matters.known_embeddings("acme", MODEL, [chunk.content_sha256])) == [chunk.content_sha256]


async def test_known_embeddings_are_those_of_the_model_exactly_as_stored(
    matters: SqlMatterStore, matter: Matter
) -> None:
    passages = [f"Passage {i}." for i in range(1200)]
    await ingested(matters, matter, *passages)
    _, chunks = a_text(*passages)
    hashes = [chunk.content_sha256 for chunk in chunks]
    known = await matters.known_embeddings("acme", MODEL, [*hashes, "absent"])
    assert np.array_equal(np.stack([known[sha256] for sha256 in hashes]), vectors_of(chunks))
    assert len(known) == len(hashes)
    assert await matters.known_embeddings("acme", "another-model", hashes) == {}


async def test_every_vector_of_every_tenant_is_handed_out_once(matters: SqlMatterStore, matter: Matter) -> None:
    theirs = await matters.create_matter("other", "Elsewhere")
    passages = ("One.", "Two.", "Three.", "Two.")
    documents = [await ingested(matters, owner, *passages) for owner in (matter, theirs, matter)]
    _, chunks = a_text(*passages)
    wanted = {
        chunk_id(document.document_id, ordinal): vector
        for document in documents
        for ordinal, vector in enumerate(vectors_of(chunks).tolist())
    }
    counts = await matters.indexed_matters(MODEL)
    assert counts == {("acme", matter.matter_id): 8, ("other", theirs.matter_id): 4}
    seen = {}
    for tenant, matter_id in counts:
        async for records in matters.matter_vectors(tenant, matter_id, MODEL, 3):
            assert 1 <= len(records) <= 3
            for record in records:
                assert record.chunk_id not in seen
                assert record.vector.shape == (DIMENSIONS,)
                assert record.matter_id == matter_id
                seen[record.chunk_id] = record.vector.tolist()
    assert seen == wanted
    assert await stored_vectors(matters, "another-model") == {}


async def test_vectors_are_counted_of_ready_documents(matters: SqlMatterStore, matter: Matter) -> None:
    first = await ingested(matters, matter, "one", "two", filename="a.txt")
    second = await ingested(matters, matter, "three", filename="b.txt")
    await matters.add_document(a_document(matter, "c.txt"))
    assert await matters.count_vectors("acme", matter.matter_id) == 3
    assert await matters.count_vectors("acme", matter.matter_id, [first.document_id]) == 2
    assert await matters.count_vectors("acme", matter.matter_id, [second.document_id, "unknown"]) == 1
    assert await matters.count_vectors("other", matter.matter_id) == 0


async def test_chunks_come_in_the_order_asked_for(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, _ = a_text("Rent is due.", "The tenant insures.")
    chunks = [
        Chunk(0, 0, 12, "Rent is due.", 1, ("Terms", "Rent")),
        Chunk(1, 13, 32, "The tenant insures.", 2, ("Terms", "Insurance")),
    ]
    await matters.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks))
    ids = [chunk_id(document.document_id, ordinal) for ordinal in (1, 0)]
    stored = [StoredChunk(ids[i], document.document_id, "lease.txt", chunks[1 - i]) for i in (0, 1)]
    assert await matters.chunks("acme", [ids[0], "absent", "no:number", ids[1], ids[0]]) == [*stored, stored[0]]
    assert await matters.chunks("acme", []) == []


async def test_neighbours_are_the_chunks_before_and_after(matters: SqlMatterStore, matter: Matter) -> None:
    document = await ingested(matters, matter, "One.", "Two.", "Three.")
    await ingested(matters, matter, "Other.", "Words.")
    ids = [chunk_id(document.document_id, ordinal) for ordinal in range(3)]
    stored = await matters.chunks("acme", ids)
    assert [await matters.neighbours("acme", chunk) for chunk in stored] == [
        ("", "Two."),
        ("One.", "Three."),
        ("Two.", ""),
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=OFFSETS, end=st.none() | OFFSETS)
async def test_any_range_of_a_text_is_read_as_it_was_written(
    matters: SqlMatterStore, matter: Matter, start: int, end: int | None
) -> None:
    if not await matters.all_documents("acme", matter.matter_id):
        await ingested(matters, matter, LONG_TEXT)
    (document,) = await matters.all_documents("acme", matter.matter_id)
    assert await matters.text("acme", document.document_id, start, end) == LONG_TEXT[start:end]


@pytest.mark.parametrize("edge", [SEGMENT_CHARS - 1, SEGMENT_CHARS, SEGMENT_CHARS + 1, 2 * SEGMENT_CHARS])
async def test_ranges_join_where_segments_meet(matters: SqlMatterStore, matter: Matter, edge: int) -> None:
    document = await ingested(matters, matter, LONG_TEXT)
    for start, end in ((edge - 5, edge), (edge, edge + 5), (edge - 5, edge + 5), (edge, edge), (edge + 1, edge)):
        assert await matters.text("acme", document.document_id, start, end) == LONG_TEXT[start:end]

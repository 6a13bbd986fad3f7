from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text, update

from proviso_service.backends.sql.contents import SEGMENT_CHARS
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.tables import packed_documents
from proviso_service.errors import DocumentNotFound, MatterNotFound
from proviso_service.matters.model import DocumentStatus, Matter, Outline, StoredChunk, chunk_id
from proviso_service.matters.packing import PackedDocument, PackedWords
from proviso_service.reading.model import PACKED_WORD, Chunk, Heading, PageSpan, PageWords, ParsedDocument
from tests.support.stored import MODEL, a_document, a_text, committed, ingested, set_status, vectors_of

# Each 17 characters long, with a NUL and characters outside the basic plane, so that no offset is at a round place.
LONG_TEXT = "".join(f"{i:07d} é\x01😀漢 §\n\u2028.." for i in range(3 * SEGMENT_CHARS // 17))
OFFSETS = st.integers(0, len(LONG_TEXT) + 20)


async def rows_left(database: Database) -> dict[str, int]:
    tables = ("documents", "outlines", "segments", "chunks", "packed_documents", "document_vectors")

    def count(transaction: Connection) -> dict[str, int]:
        return {
            table: transaction.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608
            for table in tables
        }

    return await database.read(count)


async def packed(matters: SqlMatterStore, matter: Matter, model: str = MODEL) -> list[PackedDocument]:
    _, documents = await matters.packed_documents(matter.tenant, matter.matter_id, model, {})
    return list(documents)


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


async def test_openings_are_what_documents_begin_with(matters: SqlMatterStore, matter: Matter) -> None:
    short = await ingested(matters, matter, "Rent is due.", "And the rest.")
    long = await ingested(matters, matter, "The parties agree. " * 150, "What follows is far from the beginning.")
    openings = await matters.openings("acme", matter.matter_id)
    assert openings[short.document_id] == "Rent is due.\n\nAnd the rest."
    assert openings[long.document_id].startswith("The parties agree.")
    assert "far from the beginning" not in openings[long.document_id]


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
    await set_status(matters, ready, DocumentStatus.PROCESSING)
    await committed(matters, ready, "Rent is due.")
    assert await matters.page_words("acme", ready.document_id, 1) == (None, 0)
    await set_status(matters, ready, DocumentStatus.PROCESSING)
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
    await set_status(matters, ready, DocumentStatus.PROCESSING)
    assert await matters.chunks("acme", [stored.chunk_id]) == []
    assert await matters.neighbours("acme", stored) == ("", "")
    assert await packed(matters, matter) == []
    assert await matters.openings("acme", matter.matter_id) == {}
    with pytest.raises(DocumentNotFound):
        await matters.text("acme", ready.document_id, 0)
    assert await matters.outlines("acme", [ready.document_id]) == {}


async def test_contents_are_invisible_to_another_tenant(matters: SqlMatterStore, matter: Matter) -> None:
    ready = await ingested(matters, matter, "Rent is due.", "And the rest.")
    stored = (await matters.chunks("acme", [chunk_id(ready.document_id, 0)]))[0]
    assert await matters.chunks("other", [stored.chunk_id]) == []
    assert await matters.neighbours("other", stored) == ("", "")
    assert await matters.openings("other", matter.matter_id) == {}
    with pytest.raises(MatterNotFound):
        await packed(matters, replace(matter, tenant="other"))
    with pytest.raises(DocumentNotFound):
        await matters.text("other", ready.document_id, 0)
    assert await matters.outlines("other", [ready.document_id]) == {}


async def test_ingesting_again_replaces_what_was_there(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    document = await ingested(matters, matter, "Rent is due.", "The landlord repairs.", "Old words.")
    await set_status(matters, document, DocumentStatus.PROCESSING)
    again = await committed(matters, document, "Rent is due.", "New words.")
    assert again.chunk_count == 2
    assert await matters.text("acme", document.document_id, 0) == "Rent is due.\nNew words."
    [only] = await packed(matters, matter)
    assert set(PackedWords.unpacked(only.words).terms) == {"rent", "is", "due", "new", "word"}
    left = await rows_left(database)
    assert left == dict.fromkeys(left, 1) | {"chunks": 2}


async def test_vectors_must_be_as_many_as_chunks(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.", "The tenant insures.")
    with pytest.raises(ValueError, match="one vector"):
        await matters.commit_ready(document, parsed, chunks, MODEL, vectors_of(chunks[:1]))
    assert await matters.get_document("acme", matter.matter_id, document.document_id) == document


async def test_a_commit_that_fails_leaves_nothing(matters: SqlMatterStore, matter: Matter, database: Database) -> None:
    document, _ = await matters.add_document(a_document(matter))
    parsed, chunks = a_text("Rent is due.", "The tenant insures.")
    twice = [chunks[0], Chunk(0, 13, 32, "The tenant insures.")]
    with pytest.raises(Exception, match=r"(?i)unique"):
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


async def test_a_matter_is_read_as_packed_documents_in_the_order_of_upload(
    matters: SqlMatterStore, matter: Matter
) -> None:
    other = await matters.create_matter("acme", "Elsewhere")
    passages = ("One.", "Two.", "Three.", "Two.")
    documents = [await ingested(matters, owner, *passages) for owner in (matter, other, matter)]
    await matters.add_document(a_document(matter, "waiting.txt"))
    version, found = await matters.packed_documents("acme", matter.matter_id, MODEL, {})
    assert version == (await matters.get_matter("acme", matter.matter_id)).index_version == 2
    assert [one.document_id for one in found] == [documents[0].document_id, documents[2].document_id]
    _, chunks = a_text(*passages)
    for one in found:
        assert np.array_equal(one.vectors, vectors_of(chunks))
        assert one.words == PackedWords.of(chunks).packed()


async def test_known_documents_are_not_read_again_and_deleted_ones_are_gone(
    matters: SqlMatterStore, matter: Matter
) -> None:
    documents = [await ingested(matters, matter, f"Rent {n}.") for n in range(3)]
    known = {one.document_id: one for one in await packed(matters, matter)}
    await matters.delete_document("acme", matter.matter_id, documents[0].document_id)
    new = await ingested(matters, matter, "Deposit.")
    version, found = await matters.packed_documents("acme", matter.matter_id, MODEL, known)
    assert version == 5
    assert [one.document_id for one in found] == [d.document_id for d in (*documents[1:], new)]
    assert all(one is known[one.document_id] for one in found[:2])


async def test_documents_of_another_model_come_without_vectors(matters: SqlMatterStore, matter: Matter) -> None:
    await ingested(matters, matter, "Rent is due.", "The tenant insures.")
    [found] = await packed(matters, matter, "another-model")
    assert (found.chunk_count, len(found.vectors)) == (2, 0)


async def test_words_are_packed_again_from_the_passages(
    matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    document = await ingested(matters, matter, "Rent is due.")
    before = await packed(matters, matter)
    broken = update(packed_documents).values(words=b"\0")
    await database.write(lambda transaction: transaction.execute(broken))
    await matters.pack_again("other", document.document_id)
    assert (await packed(matters, matter))[0].words == b"\0"
    await matters.pack_again("acme", document.document_id)
    assert (await packed(matters, matter))[0].words == before[0].words


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

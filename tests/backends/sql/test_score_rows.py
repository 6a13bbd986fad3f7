"""Tests of SqlScoreStore: the rows of statements' scores, and passages in the form that a classifier reads."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.scores import SqlScoreStore
from proviso_service.matters.model import DocumentStatus, Matter
from proviso_service.models import PassageWords, Scores, WordLists
from tests.backends.sql.test_query_plans import Statements
from tests.support.stored import MODEL, ingested, set_status, vectors_of

CLASSIFIER = "classifier-1"


@pytest.fixture
def scores(database: Database) -> SqlScoreStore:
    return SqlScoreStore(database)


def some(*values: float) -> Scores:
    return np.array(values, dtype=np.float32)


async def test_passages_have_their_vectors_where_they_are_of_the_model(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    document = await ingested(matters, matter, "one", "two", "three")
    other = await ingested(matters, matter, "four", filename="b.txt")
    ids = [document.document_id, other.document_id]
    of_both = await scores.passages("acme", ids, MODEL, 0, 2)
    assert {document_id: [passage.text for passage in some] for document_id, some in of_both.items()} == {
        document.document_id: ["one", "two"],
        other.document_id: ["four"],
    }
    read = (await scores.passages("acme", ids, MODEL, 1, 5))[document.document_id]
    assert [passage.text for passage in read] == ["two", "three"]
    chunks = [stored.chunk for stored in await matters.chunks("acme", [f"{document.document_id}:1"])]
    assert np.array_equal(np.stack([p.vector for p in read[:1] if p.vector is not None]), vectors_of(chunks))
    of_another = await scores.passages("acme", ids[:1], "another-model", 0, 1)
    assert [passage.vector for passage in of_another[document.document_id]] == [None]
    assert await scores.passages("other", ids, MODEL, 0, 5) == {}


async def test_scores_come_back_as_they_were_and_later_ones_replace_them(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    document = await ingested(matters, matter, "one", "two")
    ids = [document.document_id]
    await scores.save_scores("acme", CLASSIFIER, {ids[0]: {"a": some(0.25, np.nan), "b": some(0.1, 1)}}, 10)
    assert await scores.count_scores("acme", matter.matter_id, CLASSIFIER, ["a", "b", "c"]) == 3
    known = await scores.known_scores("acme", CLASSIFIER, ids, ["a", "b", "c"])
    assert known[ids[0]].keys() == {"a", "b"}
    assert np.array_equal(known[ids[0]]["a"], some(0.25, np.nan), equal_nan=True)
    assert np.array_equal(known[ids[0]]["b"], some(0.1, 1))
    await scores.save_scores("acme", CLASSIFIER, {ids[0]: {"a": some(0.25, 0.5)}}, 10)
    known = await scores.known_scores("acme", CLASSIFIER, ids, ["a"])
    assert np.array_equal(known[ids[0]]["a"], some(0.25, 0.5))
    assert await scores.known_scores("acme", "classifier-2", ids, ["a"]) == {}
    assert await scores.known_scores("other", CLASSIFIER, ids, ["a"]) == {}


async def test_a_document_that_is_not_ready_keeps_no_scores_and_hinders_no_other(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    kept = await ingested(matters, matter, "one", filename="a.txt")
    gone = await ingested(matters, matter, "one", filename="b.txt")
    await set_status(matters, gone, DocumentStatus.PROCESSING)
    new = {gone.document_id: {"a": some(1)}, kept.document_id: {"a": some(0.5)}}
    assert await scores.save_scores("acme", CLASSIFIER, new, 10) == [kept.document_id]
    known = await scores.known_scores("acme", CLASSIFIER, list(new), ["a"])
    assert known == {kept.document_id: {"a": some(0.5)}}


async def test_scored_documents_are_those_with_any_of_the_statements(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    documents = [await ingested(matters, matter, "one", filename=f"{name}.txt") for name in "abc"]
    ids = [document.document_id for document in documents]
    await scores.save_scores("acme", CLASSIFIER, {ids[0]: {"a": some(1), "b": some(1)}, ids[1]: {"b": some(1)}}, 10)
    assert set(await scores.scored_documents("acme", CLASSIFIER, ["a", "b"], 5)) == set(ids[:2])
    assert await scores.scored_documents("acme", CLASSIFIER, ["a"], 5) == ids[:1]
    assert len(await scores.scored_documents("acme", CLASSIFIER, ["a", "b"], 1)) == 1
    assert await scores.scored_documents("acme", CLASSIFIER, ["c"], 5) == []
    assert await scores.scored_documents("other", CLASSIFIER, ["a"], 5) == []
    assert await scores.scored_documents("acme", "classifier-2", ["a"], 5) == []


async def test_what_is_run_for_every_document_finds_its_rows_by_an_index(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter, state_file: Path
) -> None:
    first = await ingested(matters, matter, "one", "two", filename="a.txt")
    second = await ingested(matters, matter, "one", "three", filename="b.txt")
    await scores.save_scores("acme", CLASSIFIER, {first.document_id: {"a": some(0.5, 1)}}, 10)
    statements = Statements(state_file)
    event.listen(Engine, "before_cursor_execute", statements.note)
    try:
        await scores.passages("acme", [first.document_id, second.document_id], MODEL, 0, 5)
        await scores.matched_chunks("acme", [f"{first.document_id}:1"])
        await scores.known_scores("acme", CLASSIFIER, [first.document_id, second.document_id], ["a"])
        shared = await scores.shared_scores("acme", CLASSIFIER, second, ["a"])
        await scores.save_scores("acme", CLASSIFIER, {second.document_id: {"a": some(0.5, 1)}}, 10)
        await scores.scored_documents("acme", CLASSIFIER, ["a"], 3)
        await scores.count_scores("acme", matter.matter_id, CLASSIFIER, ["a"])
        await matters.delete_document("acme", matter.matter_id, first.document_id)
    finally:
        event.remove(Engine, "before_cursor_execute", statements.note)
    assert [scan for scan in statements.scans() if scan != "SCAN equal"] == []
    statements.close()
    assert np.array_equal(shared["a"], some(0.5, np.nan), equal_nan=True)


async def test_what_was_read_in_passages_is_kept_with_their_document(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    document = await ingested(matters, matter, "one", "two", "three")
    ids = [document.document_id]
    bounds = ("reading-1", MODEL, 0, 5)
    assert await scores.read_passages("acme", ids, *bounds) == {}
    words = PassageWords(_lists([1], [], [2, 3]), _lists([], [4], []))
    await scores.keep_words("acme", ids[0], "reading-0", _words_of(3))
    await scores.keep_words("acme", ids[0], "reading-1", words)
    [read] = (await scores.read_passages("acme", ids, *bounds)).values()
    chunks = [stored.chunk for stored in await matters.chunks("acme", [f"{ids[0]}:{n}" for n in range(3)])]
    assert read.words.packed() == words.packed()
    assert np.array_equal(read.vectors, vectors_of(chunks))
    [part] = (await scores.read_passages("acme", ids, "reading-1", MODEL, 1, 2)).values()
    assert part.words.packed() == words.part(1, 3).packed()
    assert np.array_equal(part.vectors, vectors_of(chunks)[1:])
    [of_another] = (await scores.read_passages("acme", ids, "reading-1", "another-model", 0, 5)).values()
    assert (len(of_another.words), len(of_another.vectors)) == (3, 0)
    assert await scores.read_passages("acme", ids, "reading-0", MODEL, 0, 5) == {}
    assert await scores.read_passages("other", ids, *bounds) == {}


async def test_what_was_read_goes_with_its_document(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter, database: Database
) -> None:
    document = await ingested(matters, matter, "one")
    await scores.keep_words("acme", document.document_id, "reading-1", _words_of(1))
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    await scores.keep_words("acme", document.document_id, "reading-1", _words_of(1))
    query = "SELECT count(*) FROM passage_words"
    assert await database.read(lambda connection: connection.exec_driver_sql(query).scalar_one()) == 0


def _lists(*numbers: list[int]) -> WordLists:
    return WordLists.of([np.array(one, dtype=np.uint32) for one in numbers])


def _words_of(count: int) -> PassageWords:
    return PassageWords(_lists(*[[1]] * count), _lists(*[[2]] * count))

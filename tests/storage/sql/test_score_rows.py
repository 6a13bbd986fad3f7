"""Rows of statements' scores, and passages as a classifier reads them."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from proviso_service.errors import DocumentNotFound
from proviso_service.matters.model import DocumentStatus, Matter
from proviso_service.models.ports import Scores
from proviso_service.storage.sql.database import Database
from proviso_service.storage.sql.matters import SqlMatterStore
from proviso_service.storage.sql.scores import SqlScoreStore
from tests.storage.sql.test_query_plans import Statements
from tests.support.stored import MODEL, ingested, vectors_of

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
    read = await scores.passages("acme", document.document_id, MODEL, 1, 5)
    assert [passage.text for passage in read] == ["two", "three"]
    chunks = [stored.chunk for stored in await matters.chunks("acme", [f"{document.document_id}:1"])]
    assert np.array_equal(np.stack([p.vector for p in read[:1] if p.vector is not None]), vectors_of(chunks))
    other = await scores.passages("acme", document.document_id, "another-model", 0, 1)
    assert [passage.vector for passage in other] == [None]
    assert await scores.passages("other", document.document_id, MODEL, 0, 5) == []


async def test_scores_come_back_as_they_were_and_later_ones_replace_them(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    document = await ingested(matters, matter, "one", "two")
    ids = [document.document_id]
    await scores.save_scores("acme", CLASSIFIER, ids[0], {"a": some(0.25, np.nan), "b": some(0.1, 1)}, 10)
    assert await scores.count_scores("acme", matter.matter_id, CLASSIFIER, ["a", "b", "c"]) == 3
    known = await scores.known_scores("acme", CLASSIFIER, ids, ["a", "b", "c"])
    assert known[ids[0]].keys() == {"a", "b"}
    assert np.array_equal(known[ids[0]]["a"], some(0.25, np.nan), equal_nan=True)
    assert np.array_equal(known[ids[0]]["b"], some(0.1, 1))
    await scores.save_scores("acme", CLASSIFIER, ids[0], {"a": some(0.25, 0.5)}, 10)
    known = await scores.known_scores("acme", CLASSIFIER, ids, ["a"])
    assert np.array_equal(known[ids[0]]["a"], some(0.25, 0.5))
    assert await scores.known_scores("acme", "classifier-2", ids, ["a"]) == {}
    assert await scores.known_scores("other", CLASSIFIER, ids, ["a"]) == {}


async def test_a_document_that_is_not_ready_keeps_no_scores(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter
) -> None:
    document = await ingested(matters, matter, "one")
    await matters.set_status(document, DocumentStatus.PROCESSING)
    with pytest.raises(DocumentNotFound):
        await scores.save_scores("acme", CLASSIFIER, document.document_id, {"a": some(1)}, 10)


async def test_what_is_run_for_every_document_finds_its_rows_by_an_index(
    scores: SqlScoreStore, matters: SqlMatterStore, matter: Matter, state_file: Path
) -> None:
    first = await ingested(matters, matter, "one", "two", filename="a.txt")
    second = await ingested(matters, matter, "one", "three", filename="b.txt")
    await scores.save_scores("acme", CLASSIFIER, first.document_id, {"a": some(0.5, 1)}, 10)
    statements = Statements(state_file)
    event.listen(Engine, "before_cursor_execute", statements.note)
    try:
        await scores.passages("acme", first.document_id, MODEL, 0, 5)
        await scores.matched_chunks("acme", [f"{first.document_id}:1"])
        await scores.known_scores("acme", CLASSIFIER, [first.document_id, second.document_id], ["a"])
        shared = await scores.shared_scores("acme", CLASSIFIER, second, ["a"])
        await scores.save_scores("acme", CLASSIFIER, second.document_id, {"a": some(0.5, 1)}, 10)
        await scores.count_scores("acme", matter.matter_id, CLASSIFIER, ["a"])
        await matters.delete_document("acme", matter.matter_id, first.document_id)
    finally:
        event.remove(Engine, "before_cursor_execute", statements.note)
    assert [scan for scan in statements.scans() if scan != "SCAN equal"] == []
    statements.close()
    assert np.array_equal(shared["a"], some(0.5, np.nan), equal_nan=True)

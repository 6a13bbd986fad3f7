"""Full text search in SQLite (FTS5), the one place that knows its syntax.

The index holds one row for each chunk: its words, and one word that stands for its tenant and matter. Asking for that
word along with the others keeps a search inside the matter without visiting the entries of all others.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    column,
    literal,
    literal_column,
    select,
    table,
    text,
)

MAX_WORDS = 32
"""Words of a query that count; the rest of a long text adds time and little else."""

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be because been being both but by can could d describe
    did do does doing don each else explain find for from had has have having he her here hers him
    his how i if in into is it its just ll m me mine my no nor not of on or other our ours out over
    own please re s same she should show so some such t tell than that the their theirs them then
    there these they this those to too under up us ve very was we were what when where which who
    whom whose why with would you your yours
    """.split()  # noqa: SIM905  # a list of 120 literals is no easier to read
)


def significant_words(query: str) -> tuple[str, ...]:
    """The words of a question that say what it is about, in order, lower case, each once; at most MAX_WORDS."""
    words = (word.casefold() for word in _WORD.findall(query))
    return tuple(dict.fromkeys(word for word in words if word not in _STOP_WORDS))[:MAX_WORDS]


def any_word(tenant: str, matter_id: str, words: Iterable[str]) -> str:
    """Full-text expression: passages of the matter that hold at least one of the words."""
    return _expression(tenant, matter_id, words, " OR ")


def all_words(tenant: str, matter_id: str, words: Iterable[str]) -> str:
    """Full-text expression: passages of the matter that hold every one of the words."""
    return _expression(tenant, matter_id, words, " AND ")


def found(expression: str) -> FromClause:
    """What an expression finds: columns `row_id` and `rank` (BM25; the smaller the better)."""
    entries = table("chunk_words", column("rank"))
    return (
        select(literal_column("chunk_words.rowid").label("row_id"), entries.c.rank)
        .where(_matches(expression))
        .subquery("found")
    )


def holds(row_id: ColumnElement[int], expression: str) -> ColumnElement[bool]:
    """Whether an expression finds a chunk."""
    rows: Select[Any] = (
        select(literal_column("chunk_words.rowid")).select_from(table("chunk_words")).where(_matches(expression))
    )
    return row_id.in_(rows)


def index_document(transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
    """Enters the document's chunks, which are stored already."""
    statement = text(
        "INSERT INTO chunk_words (rowid, scope, body) SELECT row_id, :scope, text FROM chunks"
        " WHERE tenant = :tenant AND document_id = :document_id"
    )
    scope = _scope(tenant, matter_id)
    transaction.execute(statement.bindparams(scope=scope, tenant=tenant, document_id=document_id))


def forget_document(transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
    """Removes the document's chunks, which must still be stored: the index finds its entries by their text."""
    statement = text(
        "INSERT INTO chunk_words (chunk_words, rowid, scope, body) SELECT 'delete', row_id, :scope, text"
        " FROM chunks WHERE tenant = :tenant AND document_id = :document_id"
    )
    scope = _scope(tenant, matter_id)
    transaction.execute(statement.bindparams(scope=scope, tenant=tenant, document_id=document_id))


def _matches(expression: str) -> ColumnElement[bool]:
    return literal_column("chunk_words").op("MATCH", is_comparison=True)(literal(expression))


def _expression(tenant: str, matter_id: str, words: Iterable[str], operator: str) -> str:
    quoted = operator.join(f'"{word}"' for word in words)
    return f"scope:{_scope(tenant, matter_id)} AND body:({quoted})"


def _scope(tenant: str, matter_id: str) -> str:
    """The word for a matter. Digits, because the stemmer leaves those alone. Two matters may share a word once in 2^64;
    every query checks tenant and matter of what it finds."""
    digest = hashlib.sha256(f"{tenant}\0{matter_id}".encode()).digest()
    return str(int.from_bytes(digest[:8], "big"))

"""Full-text search in SQLite (FTS5). This is the only module that knows the syntax of its expressions.

The index has one row for each chunk: its words, the numbers of its clauses, and one word that stands for its tenant and
matter. Each search asks for that word, too, and so stays inside the matter without visiting the entries of others.

The index does not store the texts. To remove an entry it must be given the same words again, so `searchable` and
`clause_words` may only change together with a migration that rebuilds the index.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
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

from proviso_service.matters import holds_phrase, searchable
from proviso_service.reading import MAX_WORDS, levels_of, words_of

MAX_PHRASES = 32
"""The most phrases that the index is asked for. Further ones are looked for in the texts of the chunks it finds."""

_LEVEL_END = "q"
"""The end of each level of a clause number in the index: the stemmer does not change words that end in this letter."""


def any_word(tenant: str, matter_id: str, words: Iterable[str], phrases: Sequence[str] = ()) -> str:
    """The expression for chunks of the matter that hold at least one of the words, and the words of all phrases."""
    return _expression(tenant, matter_id, _any(words), *_phrases(phrases))


def all_words(tenant: str, matter_id: str, words: Iterable[str], phrases: Sequence[str] = ()) -> str:
    """The expression for chunks of the matter that hold all of the words, and the words of all phrases."""
    return _expression(tenant, matter_id, *map(_quoted, words), *_phrases(phrases))


def any_clause(tenant: str, matter_id: str, numbers: Iterable[Sequence[str]]) -> str:
    """The expression for chunks of the matter in clauses with these numbers."""
    return _clauses(tenant, matter_id, (f'"{_clause_word(levels)}"' for levels in numbers))


def any_clause_or_below(tenant: str, matter_id: str, numbers: Iterable[Sequence[str]]) -> str:
    """The expression for chunks of the matter in clauses with these numbers or in their subclauses."""
    return _clauses(tenant, matter_id, (f'"{_clause_word(levels)}" *' for levels in numbers))


def clause_words(clause_numbers: str) -> str:
    """The words for a chunk's clause numbers (a JSON list) in the index. The word of a subclause begins with the word
    of its clause."""
    numbers = json.loads(clause_numbers) if clause_numbers != "[]" else ()  # most are empty, and parsing JSON is slow
    return " ".join(_clause_word(levels_of(number)) for number in numbers)


def found(expression: str, best: int | None = None) -> FromClause:
    """What an expression finds, with the columns `row_id` and `rank` (BM25; smaller is better). `best` limits it to so
    many rows of the best rank: the index itself sorts by rank, faster than a query over its rows could."""
    entries = table("chunk_words", column("rank"))
    rows = select(literal_column("chunk_words.rowid").label("row_id"), entries.c.rank).where(_matches(expression))
    if best is not None:
        rows = rows.order_by(entries.c.rank).limit(best)
    return rows.subquery("found")


def holds(row_id: ColumnElement[int], expression: str) -> ColumnElement[bool]:
    """The condition that an expression finds the chunk."""
    rows: Select[Any] = (
        select(literal_column("chunk_words.rowid")).select_from(table("chunk_words")).where(_matches(expression))
    )
    return row_id.in_(rows)


def index_document(transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
    """Adds the document's chunks to the index; they must be stored already."""
    _write(transaction, "scope, clauses, body", "", tenant, matter_id, document_id)


def forget_document(transaction: Connection, tenant: str, matter_id: str, document_id: str) -> None:
    """Removes the document's chunks from the index; they must still be stored, since it finds its entries by their
    text."""
    _write(transaction, "chunk_words, scope, clauses, body", "'delete',", tenant, matter_id, document_id)


def merge(cursor: Any) -> None:
    """Writes the index anew without the words of removed entries."""
    cursor.execute("INSERT INTO chunk_words (chunk_words) VALUES ('optimize')")


def _write(transaction: Connection, columns: str, command: str, tenant: str, matter_id: str, document_id: str) -> None:
    statement = text(
        f"INSERT INTO chunk_words (rowid, {columns})"  # noqa: S608  # of literals only
        f" SELECT row_id, {command} :scope, clause_words(clause_numbers), searchable(text) FROM chunks"
        " WHERE tenant = :tenant AND document_id = :document_id"
    )
    scope = scope_word(tenant, matter_id)
    transaction.execute(statement.bindparams(scope=scope, tenant=tenant, document_id=document_id))


def index_everything(connection: sqlite3.Connection, tenant: str) -> None:
    """Adds all chunks of a tenant to the index; none may be in it."""
    connection.execute(
        "INSERT INTO chunk_words (rowid, scope, clauses, body)"
        " SELECT row_id, scope_word(chunks.tenant, matter_id), clause_words(clause_numbers), searchable(text)"
        " FROM chunks JOIN documents USING (tenant, document_id) WHERE chunks.tenant = ?",
        (tenant,),
    )


def _matches(expression: str) -> ColumnElement[bool]:
    return literal_column("chunk_words").op("MATCH", is_comparison=True)(literal(expression))


def _any(words: Iterable[str]) -> str:
    alternatives = " OR ".join(map(_quoted, words))
    return f"({alternatives})" if alternatives else ""


def _phrases(phrases: Sequence[str]) -> Iterable[str]:
    """The phrases in quotes; a long one is cut to its first words."""
    return (_quoted(" ".join(words_of(phrase)[:MAX_WORDS])) for phrase in phrases[:MAX_PHRASES])


def _quoted(word: str) -> str:
    return f'"{word}"'


def _expression(tenant: str, matter_id: str, *conditions: str) -> str:
    body = " AND ".join(condition for condition in conditions if condition)
    return f"scope:{scope_word(tenant, matter_id)} AND body:({body})"


def _clauses(tenant: str, matter_id: str, words: Iterable[str]) -> str:
    return f"scope:{scope_word(tenant, matter_id)} AND clauses:({' OR '.join(words)})"


def _clause_word(levels: Sequence[str]) -> str:
    """The word for a clause number, the same for upper and lower case."""
    return "".join(level.lower() + _LEVEL_END for level in levels)


def scope_word(tenant: str, matter_id: str) -> str:
    """The word that stands for a matter, in digits, which the stemmer does not change. Two matters share a word with a
    probability of 1 in 2^64; every query checks the tenant and the matter of what it finds."""
    digest = hashlib.sha256(f"{tenant}\0{matter_id}".encode()).digest()
    return str(int.from_bytes(digest[:8], "big"))


def register(connection: sqlite3.Connection) -> None:
    """Defines the SQL functions that statements on the index use, for one connection."""
    connection.create_function("searchable", 1, searchable, deterministic=True)
    connection.create_function("clause_words", 1, clause_words, deterministic=True)
    connection.create_function("scope_word", 2, scope_word, deterministic=True)
    connection.create_function("holds_phrases", 2, _holds_phrases, deterministic=True)


def _holds_phrases(text: str, phrases: str) -> bool:
    return all(holds_phrase(text, phrase) for phrase in json.loads(phrases))

"""Functions that statements may call."""

import json
import sqlite3

from proviso_service.backends.sql.fulltext import clause_words, scope_word
from proviso_service.matters.wording import holds_phrase, searchable


def register(connection: sqlite3.Connection) -> None:
    """Makes the functions known to a connection."""
    connection.create_function("searchable", 1, searchable, deterministic=True)
    connection.create_function("clause_words", 1, clause_words, deterministic=True)
    connection.create_function("scope_word", 2, scope_word, deterministic=True)
    connection.create_function("holds_phrases", 2, _holds_phrases, deterministic=True)


def _holds_phrases(text: str, phrases: str) -> bool:
    return all(holds_phrase(text, phrase) for phrase in json.loads(phrases))

"""Cuts a query into its parts: statements in braces, operators, parentheses, and text that is none of them.

Braces are read first, because anything but an unescaped brace may stand in a statement. It is one pass over the
text."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from proviso_service.iql.problems import ProblemKind, ProblemLog, Remedy, closed, quoted
from proviso_service.iql.syntax import QuerySpan

_BRACES_AND_ESCAPES = re.compile(r"\\[\\{}]|[{}]")
_OPERATORS_AND_TEXT = re.compile(r"[<>]=|=[<>]|<>|[()+<>]|[^\s()+<>]+")


class TokenKind(Enum):
    """The kinds of tokens. END follows the last token of a query."""

    STATEMENT = auto()
    TEXT = auto()
    OPEN = auto()
    CLOSE = auto()
    OR = auto()
    AND = auto()
    NOT = auto()
    GREATER = auto()
    LESS = auto()
    PLUS = auto()
    END = auto()


_KINDS = {
    "(": TokenKind.OPEN,
    ")": TokenKind.CLOSE,
    "+": TokenKind.PLUS,
    ">": TokenKind.GREATER,
    "<": TokenKind.LESS,
    "AND": TokenKind.AND,
    "OR": TokenKind.OR,
    "NOT": TokenKind.NOT,
}


class QueryToken(NamedTuple):
    """A part of a query's text, in code points; `end` is exclusive. The token of a statement includes its braces."""

    kind: TokenKind
    start: int
    end: int

    @property
    def span(self) -> QuerySpan:
        return QuerySpan(self.start, self.end)


def has_braces(query: str) -> bool:
    """Tells whether any unescaped brace is in the query."""
    return any(len(found[0]) == 1 for found in _BRACES_AND_ESCAPES.finditer(query))


def tokens_in_braces(query: str, log: ProblemLog) -> list[QueryToken]:
    """Returns the query's tokens, END last. After a fault of the braces nothing is certain about what follows: the
    fault is logged, and the tokens before it are returned without END."""
    tokens: list[QueryToken] = []
    opened: int | None = None
    position = 0
    for found in _BRACES_AND_ESCAPES.finditer(query):
        match found[0], opened:
            case "{", None:
                tokens.extend(tokens_between(query, position, found.start()))
                opened = found.start()
            case "{", int(outer):
                _log_nested(query, outer, found.start(), log)
                return tokens
            case "}", None:
                _log_unmatched(query, position, found.start(), log)
                return tokens
            case "}", int(start):
                tokens.append(QueryToken(TokenKind.STATEMENT, start, found.end()))
                opened, position = None, found.end()
    if opened is not None:
        _log_unclosed(query, opened, log)
        return tokens
    tokens.extend(tokens_between(query, position, len(query)))
    return [*tokens, QueryToken(TokenKind.END, len(query), len(query))]


def tokens_between(query: str, start: int, end: int) -> Iterator[QueryToken]:
    """Yields the tokens of a part without statements. Words and signs in a row that are no operators are one TEXT."""
    text: QueryToken | None = None
    for found in _OPERATORS_AND_TEXT.finditer(query, start, end):
        kind = _KINDS.get(found[0].upper(), TokenKind.TEXT)
        token = QueryToken(kind, *found.span())
        if kind is TokenKind.TEXT:
            text = text._replace(end=token.end) if text else token
            continue
        if text:
            yield text
            text = None
        yield token
    if text:
        yield text


def _log_nested(query: str, outer: int, at: int, log: ProblemLog) -> None:
    log.add(
        ProblemKind.NESTED_STATEMENT,
        QuerySpan(at, at + 1),
        quoted("{"),
        f'"}}" to close the statement that begins at character {outer + 1}',
        Remedy(
            "Close that statement before the next one begins; statements do not stand inside each other.",
            (closed(query, at, "} ", "Close it here"),),
        ),
        r"Write \{ and \} for braces that belong to a statement's words.",
    )


def _log_unmatched(query: str, position: int, at: int, log: ProblemLog) -> None:
    log.add(
        ProblemKind.UNMATCHED_BRACE,
        QuerySpan(at, at + 1),
        quoted("}"),
        '"{" before it, where its statement begins',
        'Put "{" where the statement begins.',
        r"Write \} for a brace that belongs to a statement's words.",
    )


def _log_unclosed(query: str, opened: int, log: ProblemLog) -> None:
    escaped = [r'The brace in "\}" belongs to the words; add one that closes.'] if r"\}" in query[opened:] else []
    log.add(
        ProblemKind.UNCLOSED_BRACE,
        QuerySpan(opened, opened + 1),
        "the end of the query",
        f'"}}" to close the statement that begins at character {opened + 1}',
        *escaped,
        Remedy('Put "}" where the statement ends.', (closed(query, len(query), "}", "Close it at the end"),)),
    )

"""What is wrong with a query, where, and how to mend it.

IqlError
├── IqlSyntaxError      the query cannot be read; carries every problem found
└── TemplateFileError   a file of templates cannot be used
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proviso_service.iql.syntax import QuerySpan


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the query that puts `text` in the place of `span`. `label` tells people what it does."""

    span: QuerySpan
    text: str
    label: str

    def applied(self, query: str) -> str:
        """Returns the query with this change made."""
        return query[: self.span.start] + self.text + query[self.span.end :]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A suggestion in words, and the changes that carry it out, of which one is enough. There are no changes where a
    person has to decide."""

    suggestion: str
    edits: tuple[Edit, ...] = ()


def replacing(lead: str, span: QuerySpan, *texts: str) -> Remedy:
    """Suggests to put one of the texts in the place of `span`."""
    return Remedy(f"{lead} {' or '.join(texts)}", tuple(Edit(span, text, text) for text in texts))


def leaving_out(suggestion: str, span: QuerySpan, what: str = "it") -> Remedy:
    """Suggests to leave the span out."""
    return Remedy(suggestion, (left_out(span, what),))


def left_out(span: QuerySpan, what: str = "it") -> Edit:
    """Returns the change that leaves the span out."""
    return Edit(span, "", f"Leave {what} out")


def operator_at(query: str, span: QuerySpan, operator: str) -> Edit:
    """Suggests to put the operator in the place of `span`, with white space around it."""
    before, after = query[: span.start], query[span.end :]
    left = " " if before and not before[-1].isspace() and before[-1] != "(" else ""
    right = "" if after[:1].isspace() else " "
    return Edit(span, f"{left}{operator}{right}", operator)


def closed(query: str, place: int, sign: str, label: str) -> Edit:
    """Suggests to put the closing sign behind the last word that stands before `place`."""
    end = len(query[:place].rstrip())
    # Directly behind a backslash the sign would become part of the words.
    blank = " " if query[:end].endswith("\\") else ""
    return Edit(QuerySpan(end, place), blank + sign, label)


MAX_PROBLEMS = 10
"""More problems than a person mends at once."""

_MAX_QUOTED_CHARS = 60


class ProblemKind(StrEnum):
    """The kinds of problems; the value is how a message names the problem."""

    EMPTY_QUERY = "empty query"
    TOO_LONG = "query too long"
    TOO_MANY_STATEMENTS = "too many statements"
    TOO_DEEP = "query nested too deeply"
    UNCLOSED_BRACE = "brace not closed"
    UNMATCHED_BRACE = "closing brace without an opening one"
    NESTED_STATEMENT = "statement inside a statement"
    UNCLOSED_PARENTHESIS = "parenthesis not closed"
    UNMATCHED_PARENTHESIS = "closing parenthesis without an opening one"
    MISSING_OPERAND = "missing statement"
    MISSING_OPERATOR = "missing operator"
    MISPLACED_NOT = "NOT without parentheses"
    TEXT_OUTSIDE_BRACES = "text outside braces"
    EMPTY_STATEMENT = "empty statement"
    OPERATOR_INSIDE_STATEMENT = "operator inside a statement"
    MISSING_TEMPLATE_NAME = "missing template name"
    UNKNOWN_TEMPLATE = "unknown template"
    ARGUMENT_COUNT = "wrong number of arguments"
    UNQUOTED_ARGUMENT = "argument without quotes"
    WRONG_QUOTES = "argument in quotes of another kind"
    UNCLOSED_QUOTE = "quote not closed"
    EMPTY_ARGUMENT = "empty argument"
    TEXT_AFTER_ARGUMENT = "text after an argument"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a query. The first of its remedies is the likeliest."""

    kind: ProblemKind
    span: QuerySpan
    found: str
    expected: str
    remedies: tuple[Remedy, ...] = ()

    @property
    def suggestions(self) -> tuple[str, ...]:
        """The remedies as sentences."""
        return tuple(remedy.suggestion for remedy in self.remedies)

    @property
    def message(self) -> str:
        return f"{self.kind}: found {self.found}, expected {self.expected}"


class IqlError(Exception):
    """Base of what this library raises."""


class IqlSyntaxError(IqlError):
    """`problems` is not empty and in the order of the text; `query` is what was read."""

    def __init__(self, query: str, problems: Sequence[Problem]) -> None:
        super().__init__(f"Invalid IQL query syntax: {_details(problems)}")
        self.query = query
        self.problems = tuple(problems)

    @property
    def details(self) -> str:
        """One line with every problem, its position (in characters from 1) and its remedies."""
        return _details(self.problems)


class TemplateFileError(IqlError):
    """`faults` name each entry that is wrong and say how."""

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        super().__init__(f"{path}: {'; '.join(faults)}")
        self.path = path
        self.faults = tuple(faults)


class ProblemLog:
    """Gathers the problems of one query; those beyond `MAX_PROBLEMS` are dropped."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._problems)

    @property
    def is_full(self) -> bool:
        return len(self._problems) >= MAX_PROBLEMS

    def add(self, kind: ProblemKind, span: QuerySpan, found: str, expected: str, *remedies: Remedy | str) -> None:
        """Adds a problem. A remedy that has only words is one that a person has to carry out."""
        if not self.is_full:
            typed = tuple(Remedy(remedy) if isinstance(remedy, str) else remedy for remedy in remedies)
            self._problems.append(Problem(kind, span, found, expected, typed))

    def in_order(self) -> tuple[Problem, ...]:
        """Returns the problems in the order of the text."""
        return tuple(sorted(self._problems, key=lambda problem: (problem.span.start, problem.span.end)))


def quoted(text: str) -> str:
    """Returns text of a query as a message shows it: on one line, shortened, and without anything that steers a
    terminal."""
    shown = printable(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}...")
    return f'"{shown}"'


def printable(text: str) -> str:
    """Replaces each character that is not visible by one that is, so that positions stay the same."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _details(problems: Sequence[Problem]) -> str:
    return " ".join(f"At character {p.span.start + 1}, {p.message}{_remedies(p)}." for p in problems)


def _remedies(problem: Problem) -> str:
    suggestions = "; ".join(suggestion.removesuffix(".") for suggestion in problem.suggestions)
    return f" ({suggestions})" if suggestions else ""


_ELLIPSIS = "..."


def render(error: IqlSyntaxError, width: int = 100) -> str:
    """Returns every problem with its line of the query, a mark under the place, and the remedies. Lines of the query
    are cut to `width` columns around the place, and nothing in the query can steer the terminal."""
    return "\n\n".join(marked(error.query, p.span, p.message, p.suggestions, width) for p in error.problems)


def marked(query: str, span: QuerySpan, message: str, suggestions: Sequence[str], width: int = 100) -> str:
    """Returns one problem as `render` does."""
    start = span.start
    line_start = query.rfind("\n", 0, start) + 1
    line_end = query.find("\n", start)
    line = printable(query[line_start : line_end if line_end >= 0 else len(query)])
    column = start - line_start
    line_number = query.count("\n", 0, start) + 1
    where = f"line {line_number}, column {column + 1}" if "\n" in query else f"column {column + 1}"
    shown, before, at = _window(line, column, span.end - start, width)
    mark = " " * _columns(before) + "^" * max(1, _columns(at))
    remedies = [f"  - {printable(suggestion)}" for suggestion in suggestions]
    return "\n".join((f"{where}: {printable(message)}", f"  {shown}", f"  {mark}", *remedies))


def _window(line: str, column: int, length: int, width: int) -> tuple[str, str, str]:
    """Returns the part of a line around a place, and what in it stands before the place and at the place."""
    first = 0 if len(line) <= width else max(0, min(column - width // 3, len(line) - width))
    last = min(len(line), first + width)
    left, right = _ELLIPSIS if first else "", _ELLIPSIS if last < len(line) else ""
    return left + line[first:last] + right, left + line[first:column], line[column : min(column + length, last)]


def _columns(text: str) -> int:
    """Returns how many columns of a terminal a text takes."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1

"""What is wrong with a query, where, and how to mend it.

IqlError
├── IqlSyntaxError      the query cannot be read; carries every problem found
└── TemplateFileError   a file of templates cannot be used
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proviso_service.iql.remedies import Remedy
from proviso_service.iql.syntax import Span

MAX_PROBLEMS = 10
"""More than a person mends at once."""

_MAX_QUOTED_CHARS = 60


class ProblemKind(StrEnum):
    """The value is how a message names the problem."""

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
    """One fault of a query; the first remedy is the likeliest."""

    kind: ProblemKind
    span: Span
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
    """Base of what this package raises."""


class IqlSyntaxError(IqlError):
    """`problems` is not empty and in the order of the text; `query` is what was read."""

    def __init__(self, query: str, problems: Sequence[Problem]) -> None:
        super().__init__(f"Invalid IQL query syntax: {_details(problems)}")
        self.query = query
        self.problems = tuple(problems)

    @property
    def details(self) -> str:
        """One line with every problem, its position (characters counted from 1) and its remedies."""
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

    def add(self, kind: ProblemKind, span: Span, found: str, expected: str, *remedies: Remedy | str) -> None:
        """A remedy in words alone is one that only a person can carry out."""
        if not self.is_full:
            typed = tuple(Remedy(remedy) if isinstance(remedy, str) else remedy for remedy in remedies)
            self._problems.append(Problem(kind, span, found, expected, typed))

    def in_order(self) -> tuple[Problem, ...]:
        return tuple(sorted(self._problems, key=lambda problem: (problem.span.start, problem.span.end)))


def quoted(text: str) -> str:
    """Text of a query as a message shows it: on one line, shortened, nothing that steers a terminal."""
    shown = printable(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}...")
    return f'"{shown}"'


def printable(text: str) -> str:
    """Each character that is not visible becomes one that is, so that positions stay."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _details(problems: Sequence[Problem]) -> str:
    return " ".join(f"At character {p.span.start + 1}, {p.message}{_remedies(p)}." for p in problems)


def _remedies(problem: Problem) -> str:
    suggestions = "; ".join(suggestion.removesuffix(".") for suggestion in problem.suggestions)
    return f" ({suggestions})" if suggestions else ""

"""Problems as a terminal shows them, with a mark under the place."""

import unicodedata

from proviso_service.iql.problems import IqlSyntaxError, Problem, printable

_ELLIPSIS = "..."


def render(error: IqlSyntaxError, width: int = 100) -> str:
    """Every problem with its line of the query, a mark under the place, and the remedies. Lines of the query are cut
    to `width` columns around the place; nothing of the query can steer the terminal."""
    return "\n\n".join(_rendered(error.query, problem, width) for problem in error.problems)


def _rendered(query: str, problem: Problem, width: int) -> str:
    start = problem.span.start
    line_start = query.rfind("\n", 0, start) + 1
    line_end = query.find("\n", start)
    line = printable(query[line_start : line_end if line_end >= 0 else len(query)])
    column = start - line_start
    line_number = query.count("\n", 0, start) + 1
    where = f"line {line_number}, column {column + 1}" if "\n" in query else f"column {column + 1}"
    shown, before, marked = _window(line, column, problem.span.end - start, width)
    mark = " " * _columns(before) + "^" * max(1, _columns(marked))
    remedies = [f"  - {printable(suggestion)}" for suggestion in problem.suggestions]
    return "\n".join((f"{where}: {printable(problem.message)}", f"  {shown}", f"  {mark}", *remedies))


def _window(line: str, column: int, length: int, width: int) -> tuple[str, str, str]:
    """The part of a line around a place, what of it stands before the place, and what of it is the place."""
    first = 0 if len(line) <= width else max(0, min(column - width // 3, len(line) - width))
    last = min(len(line), first + width)
    left, right = _ELLIPSIS if first else "", _ELLIPSIS if last < len(line) else ""
    return left + line[first:last] + right, left + line[first:column], line[column : min(column + length, last)]


def _columns(text: str) -> int:
    """Columns of a terminal that a text takes up."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1

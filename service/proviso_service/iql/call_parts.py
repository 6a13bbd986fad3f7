"""The parts of a template call: words, and arguments in straight double quotes.

Inside quotes a backslash escapes `"`, `{`, `}` and itself; in front of anything else it is a backslash."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from proviso_service.iql.syntax import QuerySpan, template_in_braces
from proviso_service.iql.templates import TemplateCatalog

_PART = re.compile(r'"(?:\\.|[^"\\])*+"|(?:\\\S|[^\s"\\])++|["\\]', re.DOTALL)
_ESCAPE = re.compile(r'\\([\\{}"])')


class CallPart(NamedTuple):
    """A word, an argument with its quotes, or a quote that nothing closes."""

    text: str
    start: int
    end: int

    @property
    def is_argument(self) -> bool:
        return len(self.text) > 1 and self.text[0] == '"'

    @property
    def opens_a_quote(self) -> bool:
        return self.text == '"'

    @property
    def value(self) -> str:
        """The argument without its quotes and escapes, and without white space around it."""
        return unescaped(self.text[1:-1]).strip()


class TemplateCall(NamedTuple):
    """A template call by its parts. `rest` is what follows the arguments, if anything; a sound call has none."""

    name: Sequence[CallPart]
    arguments: Sequence[CallPart]
    rest: Sequence[CallPart]

    @classmethod
    def of(cls, parts: Sequence[CallPart]) -> "TemplateCall":
        """Divides the parts of a call into its name, its arguments and what follows them."""
        first = next((i for i, part in enumerate(parts) if part.is_argument), len(parts))
        last = next((i for i, part in enumerate(parts[first:], first) if not part.is_argument), len(parts))
        return cls(parts[:first], parts[first:last], parts[last:])

    @property
    def name_text(self) -> str:
        return joined(self.name)


def parts_of(query: str, start: int, end: int) -> list[CallPart]:
    """Cuts a part of a query into words, arguments and unclosed quotes."""
    return [CallPart(found[0], *found.span()) for found in _PART.finditer(query, start, end)]


def joined(parts: Sequence[CallPart]) -> str:
    """Returns the parts as text, separated by single spaces."""
    return " ".join(part.text for part in parts)


def span_of(parts: Sequence[CallPart]) -> QuerySpan:
    """Returns the span from the first part to the last; there is at least one part."""
    return QuerySpan(parts[0].start, parts[-1].end)


def unescaped(text: str) -> str:
    """Returns the text without the backslashes that escape a character."""
    return _ESCAPE.sub(r"\1", text)


OPERATOR_WORDS = frozenset({"AND", "OR", "NOT"})


class JoinedCalls(NamedTuple):
    """Template calls that operators join inside one pair of braces; `mended` is the query with each call in its own
    braces."""

    operator: CallPart
    mended: str


def is_operator_word(part: CallPart) -> bool:
    return part.text.upper() in OPERATOR_WORDS


def separated(parts: Sequence[CallPart], catalog: TemplateCatalog) -> JoinedCalls | None:
    """Returns the calls that the operators among the parts join. None when there is no operator, or when a piece
    between operators is not a sound call, with or without its IS."""
    operator = next(filter(is_operator_word, parts), None)
    if operator is None or is_operator_word(parts[-1]):
        return None
    written: list[str] = []
    for operators, group in groupby(parts, is_operator_word):
        piece = list(group)
        text = _operators_between(piece, at_start=not written) if operators else _call_in_braces(piece, catalog)
        if not text:
            return None
        written.append(text)
    return JoinedCalls(operator, " ".join(written))


def _operators_between(piece: Sequence[CallPart], at_start: bool) -> str:
    """Returns the operators between two calls: an AND or OR, except at the start, then any NOTs. Empty when they stand
    in another order."""
    words = [part.text.upper() for part in piece]
    nots = words if at_start else words[1:]
    in_order = all(word == "NOT" for word in nots) and (at_start or words[0] != "NOT")
    return " ".join(words) if in_order else ""


def _call_in_braces(piece: Sequence[CallPart], catalog: TemplateCatalog) -> str:
    call = TemplateCall.of(piece[1:] if piece[0].text == "IS" else piece)
    definition = catalog.get(call.name_text)
    values = tuple(argument.value for argument in call.arguments)
    if definition is None or call.rest or len(values) != len(definition.arguments) or not all(values):
        return ""
    return template_in_braces(definition.name, values)

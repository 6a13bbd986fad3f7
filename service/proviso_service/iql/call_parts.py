"""The parts of a template call: words, and arguments in straight double quotes.

Inside quotes a backslash escapes `"`, `{`, `}` and itself; in front of anything else it is a backslash."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from proviso_service.iql.syntax import Span

_PART = re.compile(r'"(?:\\.|[^"\\])*+"|(?:\\\S|[^\s"\\])++|["\\]', re.DOTALL)
_ESCAPE = re.compile(r'\\([\\{}"])')


class Part(NamedTuple):
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
        """An argument without quotes, escapes and white space around it."""
        return unescaped(self.text[1:-1]).strip()


class Call(NamedTuple):
    """`rest` is what follows the arguments, if anything; a sound call has none."""

    name: Sequence[Part]
    arguments: Sequence[Part]
    rest: Sequence[Part]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> "Call":
        first = next((i for i, part in enumerate(parts) if part.is_argument), len(parts))
        last = next((i for i, part in enumerate(parts[first:], first) if not part.is_argument), len(parts))
        return cls(parts[:first], parts[first:last], parts[last:])

    @property
    def name_text(self) -> str:
        return joined(self.name)


def parts_of(query: str, start: int, end: int) -> list[Part]:
    return [Part(found[0], *found.span()) for found in _PART.finditer(query, start, end)]


def joined(parts: Sequence[Part]) -> str:
    return " ".join(part.text for part in parts)


def span_of(parts: Sequence[Part]) -> Span:
    """From the first part to the last; there is at least one."""
    return Span(parts[0].start, parts[-1].end)


def unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)

"""What a query asks for: words, exact phrases, clauses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.matters.wording import fold
from proviso_service.reading.model import Span
from proviso_service.reading.references import ClauseReference, references_in
from proviso_service.reading.words import significant_words, words_of

# Straight quotes close what straight ones open, typographic ones what typographic ones open.
_QUOTED = re.compile('"(?P<straight>[^"]*)"|[\u201c\u201e](?P<curly>[^\u201c\u201d\u201e]*)[\u201d\u201c]')
# Words beside a reference that only ask for it.
_ASKING = frozenset(
    {"clause", "section", "article", "paragraph", "provide", "provision", "read", "say", "show", "state", "text"}
    | {"provides", "says", "see", "states"}
)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`text` is the query in natural language, without the quotes of its phrases. `phrases` are folded: every passage
    must hold each. `subject` are the significant words beside phrases and references."""

    text: str
    phrases: tuple[str, ...] = ()
    references: tuple[ClauseReference, ...] = ()
    subject: tuple[str, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Whether it asks for clauses by their numbers and for nothing else."""
        return bool(self.references) and not self.phrases and _ASKING.issuperset(self.subject)


def parse_query(query: str) -> ParsedQuery:
    """Quotes that are not balanced, or hold no letter or digit, are ordinary characters."""
    quoted = [match for match in _QUOTED.finditer(query) if words_of(_inside(match))]
    phrases = dict.fromkeys(fold(_inside(match)) for match in quoted)
    text = _replaced(query, [(Span(*match.span()), f" {_inside(match)} ") for match in quoted])
    rest = _replaced(query, [(Span(*match.span()), " ") for match in quoted])
    references = references_in(rest)
    subject = significant_words(_replaced(rest, [(span, " ") for span in references.spans]))
    return ParsedQuery(text.strip(), tuple(phrases), references.clauses, subject)


def _inside(match: re.Match[str]) -> str:
    return match["straight"] if match["straight"] is not None else match["curly"]


def _replaced(text: str, parts: Sequence[tuple[Span, str]]) -> str:
    """The text with others in place of some parts, given in order."""
    pieces: list[str] = []
    position = 0
    for span, other in parts:
        pieces += text[position : span.start], other
        position = span.end
    return "".join([*pieces, text[position:]])

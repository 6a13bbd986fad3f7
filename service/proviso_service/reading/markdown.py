"""Reads Markdown: the canonical text is the source itself, and its headings are the ATX and setext headings and the
titles of clauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

from proviso_service.reading.canonical import MAX_SECTIONS, check_sections
from proviso_service.reading.clauses import opening_title
from proviso_service.reading.model import Heading, ParsedDocument, ReadingLimits
from proviso_service.reading.plain import decode

_MAX_TITLE_CHARS = 200
_CLAUSE_LEVEL = 7
# Emphasised words at the start of a paragraph, as in "**9. Fees.** The ..." or "<u>Fees</u>. The ...".
_MARKED = re.compile(
    r"(?:\*\*|__)(?P<strong>[^*_\n]{1,100})(?:\*\*|__)"
    r"|<(?P<tag>span|b|strong|u)\b[^<>\n]{0,100}>(?P<html>[^<>\n]{1,100})</(?P=tag)>"
)
_TITLE_LINE = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_NUMBERED = re.compile(r"(?:\d|(?:article|section|clause|schedule|exhibit|annex|appendix)\s)", re.IGNORECASE)


def parse_markdown(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Returns the decoded source, which is all of the text. Raises UnreadableFile."""
    text = decode(content, limits)
    check_sections(sum(1 for _ in islice(_TITLE_LINE.finditer(text), MAX_SECTIONS + 1)))
    return ParsedDocument(text, tuple(_Outline(text).headings()))


@dataclass(slots=True)
class _Outline:
    """The headings of a Markdown source. Only its blocks are parsed, and inline markup only in titles, so that the time
    is linear in the text whatever it holds."""

    text: str
    _line_starts: Sequence[int] = field(init=False)
    _inline: MarkdownIt = field(init=False)

    def __post_init__(self) -> None:
        self._line_starts = [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]
        self._inline = MarkdownIt("commonmark")

    def headings(self) -> Iterator[Heading]:
        blocks = MarkdownIt("commonmark")
        blocks.core.ruler.enableOnly(["normalize", "block"])
        tokens = blocks.parse(self.text)
        for index, token in enumerate(tokens):
            if token.type == "heading_open" and token.level == 0:
                yield from self._heading(token, tokens[index + 1].content)
            elif token.type == "paragraph_open" and token.level == 0:
                yield from self._marked_paragraph(token, tokens[index + 1].content)
            elif token.type == "list_item_open" and token.info:
                yield from self._clause(tokens[index : index + 5])

    def _heading(self, token: Token, content: str) -> Iterator[Heading]:
        title = self._words(content)
        if title:
            first, last = token.map or (0, 0)
            yield Heading(int(token.tag[1:]), title, self._line_starts[first], self._line_starts[last] - 1)

    def _marked_paragraph(self, token: Token, content: str) -> Iterator[Heading]:
        """Yields the heading of a short paragraph that is emphasised as a whole, or of one that opens with an
        emphasised clause number."""
        marked = _MARKED.match(content)
        if marked is None:
            return
        title = self._words(marked["strong"] or marked["html"]).rstrip(".:")
        if title and (marked.end() == len(content) or _NUMBERED.match(title)):
            yield self._clause_heading(token, _CLAUSE_LEVEL, title, content, content[marked.end() :])

    def _clause(self, tokens: Sequence[Token]) -> Iterator[Heading]:
        """Yields the title of a numbered clause that is written as a list item. An item of a few words is only an item
        of a list; it is a clause when there is more to it."""
        item, paragraph, inline, *_, after = tokens
        if paragraph.type != "paragraph_open" or paragraph.map is None or paragraph.map[0] != (item.map or [0])[0]:
            return
        marked = _MARKED.match(inline.content)
        title = self._words(marked["strong"] or marked["html"]).rstrip(".:") if marked else ""
        rest = inline.content[marked.end() :] if marked else ""
        if marked is None:
            title, rest = opening_title(inline.content)
        if title and (rest.strip() or after.type != "list_item_close"):
            level = _CLAUSE_LEVEL + item.level
            yield self._clause_heading(item, level, f"{item.info}{item.markup} {title}", inline.content, rest)

    def _clause_heading(self, token: Token, level: int, title: str, content: str, rest: str) -> Heading:
        """Returns a heading on the first line of its block, up to the end of the title."""
        line = (token.map or [0])[0]
        start, end = self._line_starts[line], self._line_starts[line + 1] - 1
        first_line_rest = rest.split("\n", 1)[0] if "\n" in content else rest
        return Heading(level, title, start, max(end - len(first_line_rest), start))

    def _words(self, content: str) -> str:
        """Returns the words without markup, in one line."""
        inline = self._inline.parseInline(content[:_MAX_TITLE_CHARS])[0]
        words = (
            " " if child.type in ("softbreak", "hardbreak") else child.content
            for child in inline.children or ()
            if child.type in ("text", "code_inline", "softbreak", "hardbreak")
        )
        return " ".join("".join(words).split())

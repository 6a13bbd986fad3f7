"""Which items of a request its answer used, and how quotations are found in texts with other markup and white space."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from proviso_service.context.model import ItemRef, ItemType, RequestContext, RequestItem
from proviso_service.reading import without_joiners

# Typographic quotation marks, spaces that do not break, and hyphens and dashes.
_EQUIVALENT = str.maketrans(
    "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a\u00a0\u202f\u2010\u2011\u2012\u2013\u2014",
    '"""""\'\'\'  -----',
)
_SPACE = re.compile(r"\s+")
# What nobody reads out: joiners inside words, and marks of Markdown: of headings, of emphasis, and inline HTML tags.
_MARKUP = re.compile(
    r"[\u200c\u200d]|^#{1,6} +|\*\*|(?<![\w*])\*(?=\w)|(?<=[\w.,;:!?])\*(?![\w*])|< ?/?[A-Za-z][^<>\n]{0,200}>",
    re.MULTILINE,
)
_QUOTED = re.compile(r"“([^“”]{12,})”")
_WORD = re.compile(r"\w{4,}")


class NormalisedText:
    """A text in which quotations are looked up the way people retype them: a run of white space is one space, quotation
    marks are plain, and markup is left out. Each remaining character knows its position in the original text."""

    def __init__(self, text: str) -> None:
        characters: list[str] = []
        self._origin: list[int] = []
        for position, character in _without_markup(text.translate(_EQUIVALENT)):
            plain = " " if character.isspace() else character
            if plain == " " and characters and characters[-1] == " ":
                continue
            characters.append(plain)
            self._origin.append(position)
        self._plain = _without_case("".join(characters))

    def find(self, quote: str, after: int = 0) -> tuple[int, int] | None:
        """Where `quote` stands in the original text, as (start, end) in code points with an exclusive end; None where
        it does not. It begins at or behind the position `after`, and neither begins nor ends inside of a word. Capitals
        make no difference."""
        wanted = _without_case(normalise(quote))
        if not wanted:
            return None
        at = self._plain.find(wanted, bisect_left(self._origin, after))
        while at >= 0:
            end = at + len(wanted)
            before, behind = self._plain[max(0, at - 2) : at], self._plain[end : end + 2]
            if not (_joins(before, wanted[:2]) or _joins(wanted[-2:], behind)):
                return self._origin[at], self._origin[end - 1] + 1
            at = self._plain.find(wanted, at + 1)
        return None


def _without_case(text: str) -> str:
    """The text in small letters. The few letters of which lowering makes two stay, so that positions do."""
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _joins(before: str, after: str) -> bool:
    """Whether two pieces of text that follow each other meet inside of a word or number, as in 5 and ,000."""
    if before[-1:].isalnum() and after[:1].isalnum():
        return True
    if after[:1] in (".", ","):
        return before[-1:].isdigit() and after[1:2].isdigit()
    return before[-1:] in (".", ",") and before[-2:-1].isdigit() and after[:1].isdigit()


@dataclass(frozen=True, slots=True)
class Quotation:
    """A normalised quotation and its words of at least four characters."""

    text: str
    words: Sequence[str]

    @classmethod
    def of(cls, quoted: str) -> "Quotation":
        text = normalise(quoted)
        return cls(text, _WORD.findall(text))


class QuotableText:
    """A text that only has to answer whether it holds quotations. Normalising a long text takes tens of milliseconds,
    so it is done once, and only for a quotation all of whose words occur in the text, which is quick to find out."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, quotation: Quotation) -> bool:
        """Whether the text holds the quotation."""
        is_likely = quotation.text and all(word in self._words for word in quotation.words)
        return bool(is_likely) and quotation.text in self._plain

    @cached_property
    def _words(self) -> str:
        return without_joiners(self._text).replace("**", "")  # which may stand inside of words

    @cached_property
    def _plain(self) -> str:
        return normalise(self._text)


def normalise(text: str) -> str:
    """The text with white space collapsed, quotation marks plain, markup left out and both ends trimmed."""
    return _SPACE.sub(" ", _MARKUP.sub("", text.translate(_EQUIVALENT))).strip()


def quotations(text: str) -> list[str]:
    """The pieces of text that stand between “ and ”, in order. Pieces of less than 12 characters are left out, since
    they are words in quotation marks rather than quotations."""
    return _QUOTED.findall(text)


def _without_markup(text: str) -> Iterator[tuple[int, str]]:
    """The characters of a text that are not markup, each with its position."""
    start = 0
    for mark in (*_MARKUP.finditer(text), None):
        stop = mark.start() if mark else len(text)
        yield from zip(range(start, stop), text[start:stop], strict=True)
        start = mark.end() if mark else stop


_MAX_QUOTATIONS = 100
"""At most this many quotations of an answer are looked up, since an answer can hold any number."""


def with_cited(
    context: RequestContext, answer: str, called: Collection[ItemRef], contents: Mapping[str, str]
) -> RequestContext:
    """The context with `cited` set on each item that the answer used: a tool in `called`, or a reference that the
    answer quotes or names in square brackets, in capitals or not.

    `contents` are the texts of the references by their content_sha256; a reference whose text is missing there can
    still be named. Rules are never marked, since nobody can tell whether an answer followed one."""
    quotes = [Quotation.of(text) for text in islice(quotations(answer), _MAX_QUOTATIONS)]
    folded = _folded(answer)

    def is_cited(item: RequestItem) -> bool:
        if not item.is_given or item.ref.type is ItemType.RULE:
            return False
        if item.ref.type is ItemType.TOOL:
            return item.ref in called
        return f"[{_folded(item.ref.name)}]" in folded or _is_quoted(contents.get(item.content_sha256, ""), quotes)

    cited = [is_cited(item) for item in context.items]
    if cited == [item.cited for item in context.items]:
        return context
    items = tuple(replace(item, cited=used) for item, used in zip(context.items, cited, strict=True))
    return replace(context, items=items)


def _is_quoted(content: str, quotes: Sequence[Quotation]) -> bool:
    text = QuotableText(content)
    return any(text.holds(quote) for quote in quotes)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()

"""The numbered sources of a turn: what the model may quote."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from proviso_service.tools.base import Passage

# Typographic double and single quotation marks, and the no-break space.
_EQUIVALENT = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u201a\u00a0", "\"\"\"''' ")
_SPACE = re.compile(r"\s+")
# Marks of Markdown that nobody reads out: of headings, of emphasis, and inline HTML tags.
_MARKUP = re.compile(
    r"^#{1,6} +|\*\*|(?<![\w*])\*(?=\w)|(?<=[\w.,;:!?])\*(?![\w*])|</?[A-Za-z][^<>\n]{0,200}>", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Located:
    """A quote found in a passage; offsets are code points of the document's text."""

    passage: Passage
    start: int
    end: int
    quote: str


class NormalisedText:
    """A text in which quotes are looked up: white space is one space, quotation marks are plain and markup is left out,
    as people retype them, and each character knows where it came from."""

    def __init__(self, text: str) -> None:
        characters: list[str] = []
        self._origin: list[int] = []
        for position, character in _without_markup(text.translate(_EQUIVALENT)):
            plain = " " if character.isspace() else character
            if plain == " " and characters and characters[-1] == " ":
                continue
            characters.append(plain)
            self._origin.append(position)
        self._plain = "".join(characters)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where `quote` stands in the original text, as (start, end), or None."""
        wanted = normalise(quote)
        if not wanted:
            return None
        at = self._plain.find(wanted)
        if at < 0:
            return None
        return self._origin[at], self._origin[at + len(wanted) - 1] + 1


def normalise(text: str) -> str:
    """White space collapsed, quotation marks plain, markup left out, ends trimmed."""
    return _SPACE.sub(" ", _MARKUP.sub("", text.translate(_EQUIVALENT))).strip()


def _without_markup(text: str) -> Iterator[tuple[int, str]]:
    """The characters that are read, with their positions."""
    start = 0
    for mark in (*_MARKUP.finditer(text), None):
        stop = mark.start() if mark else len(text)
        yield from zip(range(start, stop), text[start:stop], strict=True)
        start = mark.end() if mark else stop


class Sources:
    """Passages by number, from 1 in the order in which tools returned them; texts without a number (document summaries)
    in which a quote may stand too; the numbers of the images that the model was given; and references by name."""

    def __init__(
        self,
        unnumbered: Iterable[str] = (),
        images: Iterable[int] = (),
        references: Mapping[str, str] | None = None,
    ) -> None:
        self.images = frozenset(images)
        self._references = {name.casefold(): NormalisedText(text) for name, text in (references or {}).items()}
        self._passages: list[Passage] = []
        self._texts: list[NormalisedText] = []
        self._unnumbered = [NormalisedText(text) for text in unnumbered]

    def number(self, passage: Passage) -> int:
        """The passage's number; a passage seen before keeps its own."""
        for index, known in enumerate(self._passages):
            if (known.document_id, known.start, known.text) == (
                passage.document_id,
                passage.start,
                passage.text,
            ):
                return index + 1
        self._passages.append(passage)
        self._texts.append(NormalisedText(passage.text))
        return len(self._passages)

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def has_others(self) -> bool:
        """Whether there is a source that is no passage: a text without a number, or an image."""
        return bool(self._unnumbered or self.images)

    def passage(self, number: int) -> Passage | None:
        return self._passages[number - 1] if 1 <= number <= len(self._passages) else None

    def locate(self, number: int, quote: str) -> Located | None:
        """Where the quote stands in source `number`, or None."""
        passage = self.passage(number)
        if passage is None:
            return None
        span = self._texts[number - 1].find(quote)
        if span is None:
            return None
        start, end = span
        return Located(passage, passage.start + start, passage.start + end, passage.text[start:end])

    def holds(self, quote: str) -> bool:
        """Whether the quote stands in any source."""
        return any(text.find(quote) for text in (*self._texts, *self._unnumbered, *self._references.values()))

    def has_reference(self, name: str) -> bool:
        """Whether the model was given a reference of this name, whatever its capitals."""
        return name.casefold() in self._references

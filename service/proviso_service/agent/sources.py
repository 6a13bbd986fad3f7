"""The numbered sources of a turn: what the model may quote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proviso_service.context.quotations import NormalisedText, QuotableText, Quotation
from proviso_service.tools.base import Passage


@dataclass(frozen=True, slots=True)
class Located:
    """A quote found in a passage; offsets are code points of the document's text."""

    passage: Passage
    start: int
    end: int
    quote: str


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
        self._references = {name.casefold(): QuotableText(text) for name, text in (references or {}).items()}
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
    def passages(self) -> tuple[Passage, ...]:
        return tuple(self._passages)

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
        if any(text.find(quote) for text in (*self._texts, *self._unnumbered)):
            return True
        wanted = Quotation.of(quote)
        return any(text.holds(wanted) for text in self._references.values())

    def has_reference(self, name: str) -> bool:
        """Whether the model was given a reference of this name, whatever its capitals."""
        return name.casefold() in self._references

"""Grounding, checked in code: every citation of an answer is looked up in the turn's numbered sources.

An answer cites by number, `“the words” [2]` or `a statement [2]`, and an image by `[Image 2]`. A quotation that is
not in the source is no citation. An answer that states facts and rests on no source is refused; one that only
greets, asks back, or speaks of the assistant or to the person states none."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from proviso_service.context.citing import NormalisedText, QuotableText, Quotation, quotations
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import NOT_ENOUGH_INFORMATION, Citation


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """A quotation that was found in a passage. Offsets are code points of the document's text, end exclusive."""

    passage: SourcePassage
    start: int
    end: int
    quote: str


class Sources:
    """The sources that the answer of a turn may cite.

    They are: passages, numbered from 1 in the order in which tools returned them; texts without a number, such as
    summaries of documents; images, by number; and references, by name."""

    def __init__(
        self,
        unnumbered: Iterable[str] = (),
        images: Iterable[int] = (),
        references: Mapping[str, str] | None = None,
    ) -> None:
        self.images = frozenset(images)
        self._references = {name.casefold(): QuotableText(text) for name, text in (references or {}).items()}
        self._passages: list[SourcePassage] = []
        self._texts: list[NormalisedText] = []
        self._unnumbered = [NormalisedText(text) for text in unnumbered]

    def number(self, passage: SourcePassage) -> int:
        """The number of a passage; a passage that was numbered before keeps its number."""
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
    def passages(self) -> tuple[SourcePassage, ...]:
        return tuple(self._passages)

    @property
    def has_others(self) -> bool:
        """Whether there is a source that is no passage: a text without a number, or an image."""
        return bool(self._unnumbered or self.images)

    def passage(self, number: int) -> SourcePassage | None:
        return self._passages[number - 1] if 1 <= number <= len(self._passages) else None

    def locate(self, number: int, quote: str) -> LocatedQuote | None:
        """Where the quotation stands in the passage of this number; None where it does not."""
        passage = self.passage(number)
        if passage is None:
            return None
        span = self._texts[number - 1].find(quote)
        if span is None:
            return None
        start, end = span
        return LocatedQuote(passage, passage.start + start, passage.start + end, passage.text[start:end])

    def holds(self, quote: str) -> bool:
        """Whether the quotation stands in any of the sources."""
        if any(text.find(quote) for text in (*self._texts, *self._unnumbered)):
            return True
        wanted = Quotation.of(quote)
        return any(text.holds(wanted) for text in self._references.values())

    def has_reference(self, name: str) -> bool:
        """Whether the model was given a reference of this name; upper and lower case are the same."""
        return name.casefold() in self._references


_REFERENCE = re.compile(r"\[(\d{1,3})\]")
_IMAGE_REFERENCE = re.compile(r"\[image (\d{1,3})\]", re.IGNORECASE)
_OPENING = '“"„«'
_CLOSING = '”"“»'
_NAME_REFERENCE = re.compile(r"\[([^\[\]\n]{1,128})\]")
_SENTENCE_START = re.compile(r"(?:[.!?:;]\s+|\n)(?=\S)")
_NUMBER = re.compile(r"\d")
_MAX_REFERENCES = 300
_MAX_QUOTE_CHARS = 4_000
_MAX_OPENINGS = 32
_MAX_MISSES = 4
"""These limits bound the work on one answer, which may be any text: without them it could take minutes."""

_MAX_SHOWN_CHARS = 400


@dataclass(frozen=True, slots=True)
class GroundingResult:
    """What the check of an answer found. `citations` are those that were verified. `quotes_a_source` says that at least
    one citation or quotation stands in a source, or that an image or a reference is cited. `grounded` is False for an
    answer that states facts without a source."""

    citations: tuple[Citation, ...]
    quotes_a_source: bool
    grounded: bool


def check(answer: str, sources: Sources, *, tools_answered: bool) -> GroundingResult:
    """Checks an answer against the sources. `tools_answered` says that a tool returned something in this turn that is
    no passage, such as a list."""
    citations = tuple(_citations(answer, sources))
    if citations or _cites_an_image(answer, sources) or _cites_a_reference(answer, sources):
        return GroundingResult(citations, quotes_a_source=True, grounded=True)
    quotes = quotations(answer)
    if quotes:
        held = any(sources.holds(quote) for quote in quotes)
        return GroundingResult((), quotes_a_source=held, grounded=held)
    claims = bool(_REFERENCE.search(answer)) or (not tools_answered and _states_facts(answer, sources))
    return GroundingResult((), quotes_a_source=False, grounded=not claims)


def _cites_an_image(answer: str, sources: Sources) -> bool:
    return any(int(number) in sources.images for number in _IMAGE_REFERENCE.findall(answer))


def _cites_a_reference(answer: str, sources: Sources) -> bool:
    return any(sources.has_reference(name.strip()) for name in _NAME_REFERENCE.findall(answer))


def _states_facts(answer: str, sources: Sources) -> bool:
    """Whether an answer without citations or quotations states facts.

    Where there are passages, everything but a question does. Where there are only summaries or images, of which an
    answer may speak in its own words, an answer with a figure does. Where there is nothing, or the answer also says
    that there is not enough information, everything but courtesies does."""
    if NOT_ENOUGH_INFORMATION in answer:
        return not is_conversational(answer.replace(NOT_ENOUGH_INFORMATION, ""))
    if len(sources):
        return not answer.rstrip().endswith("?")
    return bool(_NUMBER.search(answer)) or not (sources.has_others or is_conversational(answer))


def _citations(answer: str, sources: Sources) -> Iterator[Citation]:
    sentence_starts = [0, *(m.end() for m in _SENTENCE_START.finditer(answer))]
    previous_end = 0
    for reference in islice(_REFERENCE.finditer(answer), _MAX_REFERENCES):
        number = int(reference[1])
        floor = sentence_starts[bisect_right(sentence_starts, reference.start()) - 1]
        located, answer_start = _quote_before(answer, reference.start(), number, sources)
        if located is None and not _ends_quote(answer, reference.start()):
            located, answer_start = _whole_passage(number, sources), max(floor, previous_end)
        previous_end = reference.end()
        if located is not None:
            yield _citation(number, answer, answer_start, reference.end(), located)


def _quote_before(answer: str, end: int, number: int, sources: Sources) -> tuple[LocatedQuote | None, int]:
    """The longest quotation that ends right before the citation and stands in the source, and where it begins in the
    answer. A quotation may itself contain quotation marks, so opening marks are tried from the nearest one back. After
    a few misses the search stops, since longer quotations end in the same words and miss too."""
    text = answer[:end].rstrip()
    if not text or text[-1] not in _CLOSING:
        return None, end
    closing = len(text) - 1
    earliest = max(0, closing - _MAX_QUOTE_CHARS)
    openings = (i for i in range(closing - 1, earliest - 1, -1) if answer[i] in _OPENING)
    longest, start, misses = None, end, 0
    for opening in islice(openings, _MAX_OPENINGS):
        quote = answer[opening + 1 : closing]
        if located := sources.locate(number, quote):
            longest, start = located, opening
        elif quote.strip():
            misses += 1
            if misses == _MAX_MISSES:
                break
    return longest, start


def _ends_quote(answer: str, end: int) -> bool:
    """Whether a quotation ends right before the citation. Where that quotation is not in the source, the citation is
    dropped."""
    text = answer[:end].rstrip()
    return bool(text) and text[-1] in _CLOSING


def _whole_passage(number: int, sources: Sources) -> LocatedQuote | None:
    passage = sources.passage(number)
    if passage is None:
        return None
    shown = passage.text[:_MAX_SHOWN_CHARS]
    return LocatedQuote(passage, passage.start, passage.start + len(shown), shown)


def _citation(number: int, answer: str, start: int, end: int, located: LocatedQuote) -> Citation:
    place = located.passage.place_at(located.start)
    lead = len(answer[start:end]) - len(answer[start:end].lstrip())
    return Citation(
        number=number,
        answer_start=start + lead,
        answer_end=end,
        document_id=located.passage.document_id,
        filename=located.passage.filename,
        start=located.start,
        end=located.end,
        page=place.page,
        heading=place.heading,
        quote=located.quote,
    )


_SENTENCE = re.compile(r"[^.!?\n\u3002\uff01\uff1f\u061f]+[.!?\n\u3002\uff01\uff1f\u061f]*")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", ";\u037e")
_WORD = re.compile(r"[^\W\d_]+")

# In English, German, French, Spanish, Italian, Portuguese and Dutch; without words that are something else as well,
# such as the French article "le" or the German "sie".
_SPEAKERS = frozenset(
    {
        *("me", "my", "myself", "we", "us", "our", "you", "your", "yours"),
        *("ich", "mir", "mich", "mein", "meine", "wir", "uns", "du", "dir", "dich", "dein", "ihnen"),
        *("je", "moi", "mon", "mes", "nous", "tu", "toi", "vous", "votre", "vos"),
        *("yo", "mi", "nosotros", "te", "ti", "usted", "ustedes"),
        *("io", "noi", "eu", "voc\u00ea", "ik", "mij", "mijn", "wij", "jij"),
    }
)
_COURTESIES = frozenset(
    {
        *("hello", "hi", "hey", "welcome", "thanks", "thank", "please", "sorry", "goodbye", "bye"),
        *("hallo", "guten", "danke", "bitte", "entschuldigung", "tsch\u00fcss"),
        *("bonjour", "bonsoir", "salut", "merci", "hola", "buenos", "buenas", "gracias", "perd\u00f3n"),
        *("ciao", "buongiorno", "grazie", "prego", "ol\u00e1", "obrigado", "obrigada", "hoi", "dank"),
    }
)
_TIMES_OF_DAY = frozenset({"day", "morning", "afternoon", "evening"})


def is_conversational(answer: str) -> bool:
    """Whether every sentence is a question or a courtesy, or speaks of the assistant or to the person."""
    return all(_is_harmless(sentence.strip()) for sentence in _SENTENCE.findall(answer))


def _is_harmless(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    if not words or sentence.rstrip("\"'\u201d\u2019)*_ ").endswith(_QUESTION_MARKS):
        return True
    first, second = (*map(str.lower, words[:2]), "")[:2]
    is_courtesy = first in _COURTESIES or (first == "good" and second in _TIMES_OF_DAY)
    # "US" is a country, "us" is not.
    return is_courtesy or any(word == "I" or (not word.isupper() and word.lower() in _SPEAKERS) for word in words)

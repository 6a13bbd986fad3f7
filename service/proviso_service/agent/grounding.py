"""Grounding, checked in code: every citation of an answer is looked up in the turn's sources.

An answer cites by number, `“the words” [2]` or `a statement [2]`, and an image by `[Image 2]`. Quotes that are not in
the source are no citations. An answer that states facts and rests on nothing is refused (DESIGN section 4; behavioural
contract section 4)."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from proviso_service.agent.conversational import is_conversational
from proviso_service.agent.sources import Located, Sources
from proviso_service.context.quotations import quotations
from proviso_service.turns import NOT_ENOUGH_INFORMATION, Citation

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
"""What is looked at of an answer, which may be anything: all of it would take minutes."""

_MAX_SHOWN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """`citations` are verified; `quotes_a_source`: at least one citation or quotation stands in a source, or an image
    or a reference is cited, as a statement in other words may be. `grounded` is False for an answer that states facts
    without a source."""

    citations: tuple[Citation, ...]
    quotes_a_source: bool
    grounded: bool


def check(answer: str, sources: Sources, *, tools_answered: bool) -> Verdict:
    """Checks an answer. `tools_answered`: a tool returned something this turn that is no passage, such as a list."""
    citations = tuple(_citations(answer, sources))
    if citations or _cites_an_image(answer, sources) or _cites_a_reference(answer, sources):
        return Verdict(citations, quotes_a_source=True, grounded=True)
    quotes = quotations(answer)
    if quotes:
        held = any(sources.holds(quote) for quote in quotes)
        return Verdict((), quotes_a_source=held, grounded=held)
    claims = bool(_REFERENCE.search(answer)) or (not tools_answered and _states_facts(answer, sources))
    return Verdict((), quotes_a_source=False, grounded=not claims)


def _cites_an_image(answer: str, sources: Sources) -> bool:
    return any(int(number) in sources.images for number in _IMAGE_REFERENCE.findall(answer))


def _cites_a_reference(answer: str, sources: Sources) -> bool:
    return any(sources.has_reference(name.strip()) for name in _NAME_REFERENCE.findall(answer))


def _states_facts(answer: str, sources: Sources) -> bool:
    """With passages at hand whatever is no question; with summaries or images, of which an answer may speak in its own
    words, a figure; with nothing at all, and beside a refusal, whatever is more than talk."""
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


def _quote_before(answer: str, end: int, number: int, sources: Sources) -> tuple[Located | None, int]:
    """The longest quotation that ends right before the reference and stands in the source. Quotations may hold
    quotation marks themselves, so opening marks are tried from the nearest on; after a few that miss, those farther
    away do, too: their quotations end in the same words."""
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
    """Whether a quotation stands before the reference; if it is not in the source the citation is dropped."""
    text = answer[:end].rstrip()
    return bool(text) and text[-1] in _CLOSING


def _whole_passage(number: int, sources: Sources) -> Located | None:
    passage = sources.passage(number)
    if passage is None:
        return None
    shown = passage.text[:_MAX_SHOWN_CHARS]
    return Located(passage, passage.start, passage.start + len(shown), shown)


def _citation(number: int, answer: str, start: int, end: int, located: Located) -> Citation:
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

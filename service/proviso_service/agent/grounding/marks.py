"""Finds the marks of sources in a sentence, such as `[2]`, `[Image 1]` and `[Fee schedule]`, and the places that they
cite."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.agent.grounding.sources import Source, Sources, Span
from proviso_service.agent.grounding.statement import NAMED, Cited, Statement
from proviso_service.turns import CitationKind

_NUMBERED = re.compile(r"\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]")
_DIGITS = re.compile(r"\d+")
_IMAGE = re.compile(r"\[(?:image|bild|imagen|immagine) (\d{1,3})\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A number or a name in square brackets, from `start` to `end`, and its source; `image` is the number of an image,
    which has no text, and 0 otherwise. `closing` is the end of the brackets."""

    start: int
    end: int
    closing: int
    source: Source | None = None
    image: int = 0
    is_number: bool = False


def marks_in(read: Statement, sources: Sources) -> list[Mark] | None:
    """The marks of a sentence; None where one names no source."""
    found: list[Mark] = []
    for mark in NAMED.finditer(read.text):
        if _NUMBERED.fullmatch(mark[0]):
            for digits in _DIGITS.finditer(read.text, *mark.span()):
                source = sources.cited(int(digits[0]))
                if source is None:
                    return None
                found.append(Mark(*digits.span(), mark.end(), source, is_number=True))
        elif image := _IMAGE.fullmatch(mark[0]):
            if int(image[1]) not in sources.images:
                return None
            found.append(Mark(*mark.span(), mark.end(), image=int(image[1])))
        elif named := sources.named(mark[1]):
            found.append(Mark(*mark.span(), mark.end(), named))
        elif _is_last(mark, read):
            return None
    return found


def _is_last(mark: "re.Match[str]", read: Statement) -> bool:
    """Whether a name in brackets ends its sentence, as a source does, and does not stand in a quotation."""
    is_quoted = any(quotation.start <= mark.start() < quotation.end for quotation in read.quotations)
    return not is_quoted and not any(map(str.isalnum, read.text[mark.end() :])) and any(map(str.isalpha, mark[1]))


def parts_without_images(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, list[Source]]]:
    """The parts of a sentence that do not rest on images alone, each with its other sources. A part ends with the marks
    that stand together behind it."""
    everything = [mark.source for mark in marks if mark.source is not None]
    start, together = 0, list[Source]()
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        together += [mark.source] if mark.source else []
        if following is not None and not any(map(str.isalnum, text[mark.closing : following.start])):
            continue
        if together:
            yield text[start : mark.closing], together
        start, together = mark.closing, []
    if everything and any(map(str.isalnum, text[start:])):
        yield text[start:], everything


def places_of(read: Statement, marks: Sequence[Mark], sources: Sources) -> Iterator[Cited]:
    """The place that each mark cites: that of the quotation right before it, else the sentence of the source that has
    most in common with the statement."""
    before = len(read.text) - len(read.text.lstrip())
    for mark in marks:
        start, end = before, mark.closing
        if mark.source is None:
            yield Cited(Source(CitationKind.ASSET, "", name=sources.images[mark.image]), Span(0, 0), start, end)
        else:
            near = [q for q in read.quotations if q.start >= before and q.end <= mark.start]
            quotation = next((q for q in reversed(near) if mark.source.find(q.text)), None)
            span = mark.source.find(quotation.text) if quotation else None
            start = quotation.start if quotation and span else start
            number_at = (mark.start, mark.end) if mark.is_number else None
            yield Cited(mark.source, span or mark.source.best_span(read.stems), start, end, number_at, span is None)
        rest = read.text[end:]
        if not rest or mark.end + 1 >= end:
            before = end + len(rest) - len(rest.lstrip(" \t,;.*_"))

"""Which of a matter's documents have something, or have not, how many, and which has most of it: the answer."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat.comparison import only_figure
from proviso_service.embedded.chat.each_document import EachDocument
from proviso_service.embedded.chat.extracted import HAS_CLAUSE, closest, line_of, sentence_of
from proviso_service.embedded.chat.phrases import pattern, table
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.wording import bullets, name, said
from proviso_service.tool_results import DocumentList, ExtractedAnswer, ExtractedAnswers

_PROBABLY = 0.45
"""From here on a document is said to have what was asked for; below, it may have it."""

_AS_SURE = 0.25
_LEAST_CHARS, _ENDING_CHARS = 4, 3
_MAX_LISTED = 12
_MAX_LESS_SURE = 4
_QUOTES, _ALSO = 2, 0.35
"""So much is quoted of a document, where it is as likely as that."""

_ASKS_LAW = pattern("asks_law")
_OF_A_STATE = pattern("of_a_state")
_US_STATES = pattern("us_states")
_COUNTRIES = table("countries")
_ASKS_LARGEST = pattern("asks_largest")
_ASKS_SMALLEST = pattern("asks_smallest")


@dataclass(frozen=True, slots=True)
class _Having:
    """A document with its answers, the surest first."""

    answers: tuple[ExtractedAnswer, ...]

    @property
    def first(self) -> ExtractedAnswer:
        return self.answers[0]

    @property
    def is_certain(self) -> bool:
        return self.first.confidence >= _PROBABLY

    @property
    def line(self) -> str:
        """Its place and what it says there, and what else it says, where it has it for certain."""
        others = {sentence_of(one): one for one in self.answers[:0:-1] if one.confidence >= _ALSO}
        others.pop(sentence_of(self.first), None)
        more = sorted(others.values(), key=lambda one: -one.confidence)[: _QUOTES - 1] if self.is_certain else ()
        return "; ".join(map(line_of, (self.first, *more)))


def by_document(
    request: UserRequest, asked: EachDocument, extracted: ExtractedAnswers, listing: DocumentList | None
) -> str:
    """Says which of all documents have what was asked for, or have not, or which has most of it."""
    question, language = request.question, request.language
    having = _having(extracted.answers)
    places = _US_STATES if _OF_A_STATE.search(question) else _any_of((asked.place,) if asked.place else request.names)
    named = [one for one in having if places.search(sentence_of(one.first))]
    asks_extreme = _ASKS_LARGEST.search(question) or _ASKS_SMALLEST.search(question)
    if asked.lacks and having and not asks_extreme:
        others = [one for one in having if one not in named]
        if others and (asked.place or (named and _ASKS_LAW.search(question))):
            return _some_of_all(others, extracted, language)
        return _what_lacks(extracted, having, listing, language)
    meant = named if asked.place else named or having  # of laws, those of the country that is named
    certain = [one for one in meant if one.is_certain]
    if asks_extreme:
        chosen = _extreme(certain or meant, largest=_ASKS_LARGEST.search(question) is not None)
        others = [one for one in meant if one is not chosen]
        if chosen is not None:
            rest = f"\n\n{said('other_figures', language)}\n{_lines(others, language)}" if others else ""
            return f"{line_of(chosen.first)}{rest}"
    if not having:
        return closest(extracted.answers, "", question, language)
    if not certain:
        return f"{said('none_for_certain', language)}\n{_lines(meant or having, language)}"
    return _some_of_all(certain, extracted, language) + _less_sure(meant, language)


def _any_of(places: Sequence[str]) -> re.Pattern[str]:
    """A pattern of any of these names, also where a place is named by its adjective ("Californian", "English")."""
    beginnings = [r"[\w.]*\s+".join(map(_beginning, place.split())) for place in places]
    return re.compile(rf"\b(?:{'|'.join(beginnings)})" if beginnings else "(?!)")


def _beginning(word: str) -> str:
    return re.escape(_COUNTRIES.get(word.lower(), word[: max(_LEAST_CHARS, len(word) - _ENDING_CHARS)]))


def _having(answers: Sequence[ExtractedAnswer]) -> list[_Having]:
    """Returns the documents that may have what was asked for, the surest first."""
    found: dict[str, list[ExtractedAnswer]] = {}
    for one in sorted(answers, key=lambda one: -one.confidence):
        if one.confidence >= HAS_CLAUSE:
            found.setdefault(one.document_id, []).append(one)
    return [_Having(tuple(some)) for some in found.values()]


def _what_lacks(
    extracted: ExtractedAnswers, having: Sequence[_Having], listing: DocumentList | None, language: str
) -> str:
    """Says which documents do not have what was asked for."""
    certain = [one for one in having if one.is_certain]
    if listing is None or not listing.is_whole or not _shows_all(extracted):
        return f"{said('cannot_tell_each', language)}\n{_lines(having, language)}"
    has = {one.first.document_id for one in certain}
    without = [name(one.filename) for one in listing.documents if one.is_ready and one.document_id not in has]
    if not without:
        return f"{said('each_has', language, all=len(has))}\n{_lines(certain, language)}"
    head = said("lacking", language, count=len(without), all=listing.total_count, where=", ".join(without))
    others = f"\n\n{said('the_others', language)}\n{_lines(certain, language)}" if certain else ""
    return head + others + _less_sure(having, language)


def _shows_all(extracted: ExtractedAnswers) -> bool:
    """Tells whether no document is left out that may have what was asked for."""
    return not extracted.not_shown or extracted.not_shown_confidence < HAS_CLAUSE


def _some_of_all(having: Sequence[_Having], extracted: ExtractedAnswers, language: str) -> str:
    """Lists the documents that have what was asked for, with how many they are."""
    key = "some_of_all" if _shows_all(extracted) else "at_least_of_all"
    head = said(key, language, count=len(having), all=extracted.documents_asked)
    return f"{head}\n{_lines(having, language)}"


def _less_sure(having: Sequence[_Having], language: str) -> str:
    """Lists the documents of which it is not certain."""
    unsure = [one for one in having if not one.is_certain][:_MAX_LESS_SURE]
    return f"\n\n{said('less_sure', language)}\n{_lines(unsure, language)}" if unsure else ""


def _lines(having: Sequence[_Having], language: str) -> str:
    more = len(having) - _MAX_LISTED
    rest = [said("and_more", language, count=more)] if more > 0 else []
    return bullets([*(one.line for one in having[:_MAX_LISTED]), *rest])


def _extreme(having: Sequence[_Having], *, largest: bool) -> _Having | None:
    """Returns the document with the largest or smallest figure of the sort that most of them state, among those that
    are about as sure as the surest; None where they state none."""
    sure = max((one.first.confidence for one in having), default=0.0) - _AS_SURE
    found = [
        (figure, one)
        for one in having
        if one.first.confidence >= sure and (figure := only_figure(one.first.answer or one.first.text))
    ]
    sorts = Counter(sort for (sort, _), _ in found)
    figures = [(amount, one) for (sort, amount), one in found if sort == max(sorts, key=sorts.__getitem__)]
    if not figures:
        return None
    return (max if largest else min)(figures, key=lambda figure: figure[0])[1]

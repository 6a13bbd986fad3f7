"""Which of a matter's documents have something, or have not, how many, and which has most of it: the answer."""

import re
from collections import Counter
from collections.abc import Sequence

from proviso_service.embedded.chat.each_document import Bound, EachDocument
from proviso_service.embedded.chat.extracted import HAS_CLAUSE, closest, of_each_document
from proviso_service.embedded.chat.phrases import pattern, table
from proviso_service.embedded.chat.quoting import Place, places_of, sentence_of
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.wording import bullets, name, said
from proviso_service.reading import only_measure
from proviso_service.tool_results import ExtractedAnswer, ExtractedAnswers

_PROBABLY = 0.45
"""From here on a document is said to have what was asked for; below, it may have it."""

_LEAST_OF_SUREST = 0.62
"""Where no document comes up to this, none is said to have it for certain."""

_AS_SURE = 0.2
_AS_LIKELY, _LEAST_DOUBT = 0.25, 0.001
"""A document does not count as one that lacks something where its odds are so large a part of the surest one's."""

_LEAST_CHARS, _ENDING_CHARS = 4, 3
_MAX_LISTED = 12
_MAX_LESS_SURE = 4
_QUOTES = 2
"""So much is quoted of a document."""

_Having = Sequence[ExtractedAnswer]
"""The answers of a document, the surest first."""


def by_document(request: UserRequest, asked: EachDocument, extracted: ExtractedAnswers) -> str:
    """Says which of all documents have what was asked for, or have not, or which has most of it."""
    question, language = request.question, request.language
    surest_first = sorted(extracted.answers, key=lambda one: -one.confidence)
    having = list(of_each_document(surest_first, HAS_CLAUSE).values())
    places = _any_of((asked.place,) if asked.place else request.names)
    if pattern("of_a_state").search(question):
        places = pattern("us_states")
    named = [one for one in having if places.search(sentence_of(one[0]))]
    asks_largest = pattern("asks_largest").search(question) is not None
    asks_extreme = asks_largest or pattern("asks_smallest").search(question)
    if asked.lacks and not (asks_extreme or request.skip) and (having or extracted.documents_without):
        is_of_law = asked.place or (named and pattern("asks_law").search(question))
        others = [one for one in having if one not in named] if is_of_law else []
        some = _some_of_all(others, extracted, request) if others else ""
        return some or _what_lacks(extracted, having, request)
    meant = named if asked.place else named or having  # of laws, those of the country that is named
    certain = [one for one in meant if _is_certain(one)]
    if asks_extreme and (chosen := _extreme(certain or meant, largest=asks_largest)):
        others = [one for one in meant if one is not chosen]
        return _with_others(chosen, others, language) + _rest(having, extracted, request)
    if asked.bound and meant:
        return _within(asked.bound, meant, extracted, request)
    if request.skip and (asked.lacks or not certain):
        text = _paragraph("the_others" if asked.lacks else "less_sure", meant, language).strip()
        text = text + _rest((), extracted, request) or said("all_shown", language)
    elif not having:
        text = closest(extracted.answers, "", question, language)
    elif not certain or (certain[0][0].confidence < _LEAST_OF_SUREST and not request.skip):
        text = f"{said('none_for_certain', language)}\n{_lines(meant or having, language)}"
    else:
        less_sure = _less_sure(meant, language) if len(certain) <= _MAX_LISTED else ""
        text = _some_of_all(certain, extracted, request) + less_sure
    return text


def _with_others(chosen: _Having, others: Sequence[_Having], language: str) -> str:
    """Says what the document says that has most or least of something, and what the others say."""
    if chosen[0].confidence < _LEAST_OF_SUREST:
        return f"{said('none_for_certain', language)}\n{_lines([chosen, *others], language)}"
    return Place.of(chosen[0]).line + _paragraph("other_figures", others, language)


def _within(bound: Bound, meant: Sequence[_Having], extracted: ExtractedAnswers, request: UserRequest) -> str:
    """Says which documents state a figure within a bound, what others state, and which may state one."""
    language = request.language
    by_answer: dict[bool | None, list[_Having]] = {True: [], False: [], None: []}
    for one in meant:
        by_answer[bound.met_by(one[0].answer or one[0].text) if _is_certain(one) else None].append(one)
    met = by_answer[True]
    head = _some_of_all(met, extracted, request) if met else said("none_within", language)
    others = _paragraph("other_figures", by_answer[False], language)
    less_sure = _paragraph("less_sure", by_answer[None], language, _MAX_LESS_SURE)
    return head + others + less_sure + ("" if met else _rest(meant, extracted, request))


def _any_of(places: Sequence[str]) -> re.Pattern[str]:
    """A pattern of any of these names, also where a place is named by its adjective ("Californian", "English")."""
    beginnings = [r"[\w.]*\s+".join(map(_beginning, place.split())) for place in places]
    return re.compile(rf"\b(?:{'|'.join(beginnings)})" if beginnings else "(?!)")


def _beginning(word: str) -> str:
    return re.escape(table("countries").get(word.lower(), word[: max(_LEAST_CHARS, len(word) - _ENDING_CHARS)]))


def _what_lacks(extracted: ExtractedAnswers, having: Sequence[_Having], request: UserRequest) -> str:
    """Says which documents do not have what was asked for."""
    language = request.language
    certain = [one for one in having if _is_certain(one)]
    surest = max(map(_odds, having), default=0.0)
    unlikely = [one for one in having if not _is_certain(one) and _odds(one) < surest * _AS_LIKELY]
    without = sorted([*map(name, extracted.documents_without), *(name(one[0].filename) for one in unlikely)])
    if not without:
        key = "each_has" if len(certain) == extracted.documents_asked else "cannot_tell_each"
        return f"{said(key, language, all=extracted.documents_asked)}\n{_lines(having, language)}"
    more = extracted.documents_without_count - len(extracted.documents_without)
    where = ", ".join((*without, *_and_more(more, language)))
    head = said("lacking", language, count=len(without) + more, all=extracted.documents_asked, where=where)
    others = _paragraph("the_others", certain, language) + _less_sure(having, language)
    return head + others + _rest(having, extracted, request)


def _some_of_all(having: Sequence[_Having], extracted: ExtractedAnswers, request: UserRequest) -> str:
    """Lists the documents that have what was asked for, with how many they are, and says how many are not listed that
    may have it, too."""
    key = "more_of_all" if request.skip else "some_of_all" if _is_whole(extracted) else "at_least_of_all"
    listed = having[:_MAX_LISTED]
    count = len(listed if request.skip else having)
    head = said(key, request.language, count=count, all=extracted.documents_asked)
    rest = _rest(listed if len(having) > len(listed) else (), extracted, request)
    return f"{head}\n{_lines(listed, request.language)}{rest}"


def _is_whole(extracted: ExtractedAnswers) -> bool:
    """Tells whether no document is left out that may have what was asked for."""
    return not extracted.not_shown or extracted.not_shown_confidence < HAS_CLAUSE


def _rest(listed: Sequence[_Having], extracted: ExtractedAnswers, request: UserRequest) -> str:
    """Says how many documents may have something beside those up to the last that is `listed`, or up to all that there
    was room for; empty where there are none."""
    shown = list(of_each_document(extracted.answers, HAS_CLAUSE))
    last = listed[-1][0].document_id if listed else ""
    seen = shown.index(last) + 1 if last in shown else len(shown)
    may_have = extracted.documents_asked - extracted.documents_without_count - request.skip - len(shown)
    more = len(shown) - seen + (0 if _is_whole(extracted) else min(extracted.not_shown, may_have))
    key = "show_more_document" if more == 1 else "show_more_documents"
    return f"\n\n{said(key, request.language, seen=request.skip + seen, more=more)}" if more > 0 else ""


def _less_sure(having: Sequence[_Having], language: str) -> str:
    """Lists the documents of which it is not certain."""
    return _paragraph("less_sure", [one for one in having if not _is_certain(one)], language, _MAX_LESS_SURE)


def _paragraph(key: str, having: Sequence[_Having], language: str, most: int = _MAX_LISTED) -> str:
    """Lists documents below a sentence; empty where there are none."""
    return f"\n\n{said(key, language)}\n{_lines(having, language, most)}" if having else ""


def _lines(having: Sequence[_Having], language: str, most: int = _MAX_LISTED) -> str:
    return bullets([*map(_line, having[:most]), *_and_more(len(having) - most, language, "not_listed_document")])


def _and_more(count: int, language: str, key: str = "and_more_document") -> list[str]:
    return [said(f"{key}{'' if count == 1 else 's'}", language, count=count)] if count > 0 else []


def _line(having: _Having) -> str:
    """Writes the place and what the document says there, and what else it says, where it has it for certain."""
    places = places_of(having)[: _QUOTES if _is_certain(having) else 1]
    return "; ".join(one.line for one in places)


def _is_certain(having: _Having) -> bool:
    return having[0].confidence >= _PROBABLY


def _odds(having: _Having) -> float:
    return having[0].confidence / max(_LEAST_DOUBT, 1 - having[0].confidence)


def _extreme(having: Sequence[_Having], *, largest: bool) -> _Having | None:
    """Returns the document with the largest or smallest figure of the sort that most of them state, among those that
    are about as sure as the surest; None where they state none."""
    sure = max((one[0].confidence for one in having), default=0.0) - _AS_SURE
    found = [
        (figure, one)
        for one in having
        if one[0].confidence >= sure and (figure := only_measure(one[0].answer or one[0].text))
    ]
    sorts = Counter(figure.sort for figure, _ in found)
    figures = [(figure.amount, one) for figure, one in found if figure.sort == max(sorts, key=sorts.__getitem__)]
    if not figures:
        return None
    return (max if largest else min)(figures, key=lambda figure: figure[0])[1]

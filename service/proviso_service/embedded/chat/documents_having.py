"""Which of a matter's documents have something, or have not, how many, and which has most of it: the answer."""

from collections import Counter
from collections.abc import Sequence

from proviso_service.embedded.chat.comparison import only_figure
from proviso_service.embedded.chat.each_document import EachDocument
from proviso_service.embedded.chat.extracted import HAS_CLAUSE, closest, line_of, sentence_of
from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.wording import bullets, name, said
from proviso_service.tool_results import DocumentList, ExtractedAnswer, ExtractedAnswers

_PROBABLY = 0.45
_MAX_LISTED = 12

_ASKS_LAW = pattern("asks_law")
_OF_A_STATE = pattern("of_a_state")
_US_STATES = (
    *("Alabama", "Alaska", "Arizona", "Arkansas", "California", "Colorado", "Connecticut", "Delaware", "Florida"),
    *("Georgia", "Hawaii", "Idaho", "Illinois", "Indiana", "Iowa", "Kansas", "Kentucky", "Louisiana", "Maine"),
    *("Maryland", "Massachusetts", "Michigan", "Minnesota", "Mississippi", "Missouri", "Montana", "Nebraska"),
    *("Nevada", "New Hampshire", "New Jersey", "New Mexico", "New York", "North Carolina", "North Dakota", "Ohio"),
    *("Oklahoma", "Oregon", "Pennsylvania", "Rhode Island", "South Carolina", "South Dakota", "Tennessee", "Texas"),
    *("Utah", "Vermont", "Virginia", "Washington", "Wisconsin", "Wyoming"),
)
_ASKS_LARGEST = pattern("asks_largest")
_ASKS_SMALLEST = pattern("asks_smallest")


def by_document(
    request: UserRequest, asked: EachDocument, extracted: ExtractedAnswers, listing: DocumentList | None
) -> str:
    """Says which of all documents have what was asked for, or have not, or which has most of it."""
    answers, question, language = extracted.answers, request.question, request.language
    firsts = {one.document_id: one for one in reversed(answers)}
    having = [one for one in answers if one.confidence >= HAS_CLAUSE and firsts[one.document_id] is one]
    places = _US_STATES if _OF_A_STATE.search(question) else request.names
    named = [one for one in having if any(word in sentence_of(one) for word in places)]
    asks_extreme = _ASKS_LARGEST.search(question) or _ASKS_SMALLEST.search(question)
    if asked.lacks and having and not asks_extreme:
        others = [one for one in having if one not in named]
        if named and others and _ASKS_LAW.search(question):
            return _some_of_all(others, extracted, language)
        return _what_lacks(extracted, having, listing, language)
    having = named or having  # of laws, those of the country that is named
    if asks_extreme:
        chosen = _extreme(having, largest=_ASKS_LARGEST.search(question) is not None)
        others = [one for one in having if one is not chosen][: _MAX_LISTED - 1]
        if chosen is not None:
            rest = f"\n\n{said('other_figures', language)}\n{bullets(map(line_of, others))}" if others else ""
            return f"{line_of(chosen)}{rest}"
    if not having:
        return closest(answers, "", question, language)
    certain = [one for one in having if one.confidence >= _PROBABLY]
    if not certain:
        return f"{said('none_for_certain', language)}\n{_lines(having, language)}"
    return _some_of_all(certain, extracted, language)


def _what_lacks(
    extracted: ExtractedAnswers, having: Sequence[ExtractedAnswer], listing: DocumentList | None, language: str
) -> str:
    """Says which documents do not have what was asked for."""
    if listing is not None and listing.is_whole and _shows_all(extracted):
        return _lacking(having, listing, language)
    return f"{said('cannot_tell_each', language)}\n{_lines(having, language)}"


def _shows_all(extracted: ExtractedAnswers) -> bool:
    """Tells whether no document is left out that may have what was asked for."""
    return not extracted.not_shown or extracted.not_shown_confidence < HAS_CLAUSE


def _some_of_all(answers: Sequence[ExtractedAnswer], extracted: ExtractedAnswers, language: str) -> str:
    """Lists the documents that have what was asked for, with how many they are."""
    key = "some_of_all" if _shows_all(extracted) else "at_least_of_all"
    head = said(key, language, count=len(answers), all=extracted.documents_asked)
    return f"{head}\n{_lines(answers, language)}"


def _lines(answers: Sequence[ExtractedAnswer], language: str) -> str:
    more = len(answers) - _MAX_LISTED
    rest = [said("and_more", language, count=more)] if more > 0 else []
    return bullets([*map(line_of, answers[:_MAX_LISTED]), *rest])


def _lacking(having: Sequence[ExtractedAnswer], listing: DocumentList, language: str) -> str:
    has = {one.document_id for one in having}
    without = [name(one.filename) for one in listing.documents if one.is_ready and one.document_id not in has]
    lines = _lines(having, language)
    if not without:
        return f"{said('each_has', language, all=len(has))}\n{lines}"
    head = said("lacking", language, count=len(without), all=listing.total_count, where=", ".join(without))
    return head + (f"\n\n{said('the_others', language)}\n{lines}" if having else "")


def _extreme(answers: Sequence[ExtractedAnswer], *, largest: bool) -> ExtractedAnswer | None:
    """Returns the answer with the largest or smallest figure of the sort that most of them state; None where they state
    none."""
    found = [(figure, one) for one in answers if (figure := only_figure(one.answer or one.text))]
    sorts = Counter(sort for (sort, _), _ in found)
    figures = [(amount, one) for (sort, amount), one in found if sort == max(sorts, key=sorts.__getitem__)]
    if not figures:
        return None
    return (max if largest else min)(figures, key=lambda figure: figure[0])[1]

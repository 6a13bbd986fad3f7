"""Answers from what isaacus_extract has found: stated where it is sure, and otherwise offered as what comes closest."""

import re
from collections import Counter
from collections.abc import Sequence

from proviso_service.embedded.chat.comparison import only_figure
from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.text import (
    MAX_QUOTE_CHARS,
    content_stems,
    excerpt,
    marked_cuts,
    one_line,
    plain,
    split_sentences,
    stems,
)
from proviso_service.embedded.chat.wording import bullets, name, place, quote, said
from proviso_service.language import ENGLISH, language_of
from proviso_service.tool_results import DocumentList, ExtractedAnswer, ExtractedAnswers

SURE = 0.88
"""From this confidence on an answer is stated, not offered: lower, fewer of the questions that were worked with are
answered rightly and more wrongly."""

AGREED = 0.8
"""The same of an answer that is also what reads most like one among the passages of a search. From 0.7 on 80 of 100
answers to natural questions are right, from 0.8 on 86; of the questions that were worked with as many are answered."""

_LEAST = 0.08
_NEAR = 0.15
_OFFERED = 0.3
_FEW_WORDS = 2
_HAS_CLAUSE = 0.25
"""From here on a document is taken to have what was asked for, where all of them are asked."""

_PROBABLY = 0.45
_CLOSEST = 4
_OF_EACH = 2
_MAX_LISTED = 12
_ASKS_ALL = pattern("asks_all")
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


def is_sure(answers: Sequence[ExtractedAnswer]) -> bool:
    return bool(answers) and answers[0].confidence >= SURE


def sentence_of(answer: ExtractedAnswer) -> str:
    """Returns the sentence that holds the answer, cut around it where it is long. A list or table that it opens belongs
    to it."""
    wanted = one_line(plain(answer.answer))
    pattern = re.compile(re.escape(wanted[:MAX_QUOTE_CHARS]))
    shown = one_line(plain(answer.text))
    for sentence in split_sentences(answer.text, answer.heading):
        if wanted and wanted in sentence:
            at = shown.find(sentence) if sentence.endswith(":") else -1
            return excerpt(sentence, pattern) if at < 0 else excerpt(shown[at:])
    return excerpt(wanted if wanted and wanted in shown else shown)  # of a long answer a part is shown


def _quoted(answer: ExtractedAnswer) -> str:
    return quote(marked_cuts(sentence_of(answer)), answer.ref)


def line_of(answer: ExtractedAnswer) -> str:
    return f"{place(answer)}: {_quoted(answer)}"


def stated_answer(answer: ExtractedAnswer, language: str) -> str:
    return said("says", language, place=place(answer), quote=_quoted(answer))


def stated_by_several(answers: Sequence[ExtractedAnswer], language: str) -> str:
    """Lists the answer of each document that states one, for a question that names none of them; empty where it is one
    document."""
    firsts = {one.document_id: one for one in reversed(answers) if one.confidence >= AGREED}
    stated = [one for one in answers if firsts.get(one.document_id) is one]
    return f"{said('documents_say', language)}\n{bullets(map(line_of, stated))}" if len(stated) > 1 else ""


def closest(answers: Sequence[ExtractedAnswer], where: str, question: str, language: str) -> str:
    """Offers the likeliest answers where none is sure; empty where none comes near."""
    near = _distinct([one for one in answers if _comes_near(one, question)])[:_CLOSEST]
    if not near:
        return ""
    head = said("not_sure_in", language, where=where) if where else said("not_sure", language)
    return f"{head}\n{bullets(map(line_of, near))}"


def _comes_near(answer: ExtractedAnswer, question: str) -> bool:
    """Tells whether an answer may be offered. With a question of a word or two it shares one, unless it is likely."""
    if answer.confidence >= _OFFERED or language_of(question) != ENGLISH:
        return answer.confidence >= _LEAST
    asked = content_stems(question)
    shared = asked & (stems(sentence_of(answer)) | stems(answer.heading))
    return (bool(shared) and answer.confidence >= _LEAST) or (len(asked) > _FEW_WORDS and answer.confidence >= _NEAR)


def asks_for_all(request: UserRequest, target: TargetDocuments) -> bool:
    """Tells whether all places of a document are asked for that answer a question."""
    return len(target.documents) == 1 and _ASKS_ALL.search(request.question) is not None


def places_of_all(answers: Sequence[ExtractedAnswer], language: str) -> str:
    """Lists the likely answers of a document; empty where there are none."""
    likely = _distinct([one for one in answers if one.confidence >= _HAS_CLAUSE])
    return f"{said('all_found', language)}\n{bullets(map(line_of, likely))}" if likely else ""


def _distinct(answers: Sequence[ExtractedAnswer]) -> list[ExtractedAnswer]:
    return list({(one.document_id, sentence_of(one)): one for one in reversed(answers)}.values())[::-1]


def side_by_side(answers: Sequence[ExtractedAnswer], target: TargetDocuments, language: str) -> str:
    """Gives the best answers of each of the documents, and names those that have none."""
    best: dict[str, list[ExtractedAnswer]] = {}
    for answer in _distinct([one for one in answers if one.confidence >= _LEAST]):
        best.setdefault(answer.document_id, []).append(answer)
    lines = [_line_of_one(one, language) for document_id in target.ids for one in best.get(document_id, ())[:_OF_EACH]]
    lines += [
        said("nothing", language, where=name(one.filename)) + "."
        for one in target.documents
        if one.document_id not in best
    ]
    lines += lines_of_missing(target, language)
    return f"{said('side_by_side', language)}\n{bullets(lines)}" if best else ""


def _line_of_one(answer: ExtractedAnswer, language: str) -> str:
    if answer.confidence >= _HAS_CLAUSE:
        return line_of(answer)
    return said("nothing_certain", language, where=name(answer.filename), quote=_quoted(answer))


def lines_of_missing(target: TargetDocuments, language: str) -> list[str]:
    return [said("no_match", language, where=f"'{name(one)}'") for one in target.missing]


def by_document(request: UserRequest, extracted: ExtractedAnswers, listing: DocumentList | None) -> str:
    """Says which of all documents have what was asked for, or have not, or which has most of it."""
    answers, question = extracted.answers, request.question
    firsts = {one.document_id: one for one in reversed(answers)}
    having = [one for one in answers if one.confidence >= _HAS_CLAUSE and firsts[one.document_id] is one]
    places = _US_STATES if _OF_A_STATE.search(question) else request.names
    named = [one for one in having if any(word in sentence_of(one) for word in places)]
    asks_extreme = _ASKS_LARGEST.search(question) or _ASKS_SMALLEST.search(question)
    if request.asks_what_lacks and having and not asks_extreme:
        return _what_lacks(request, extracted, having, named, listing)
    having = named or having  # of laws, those of the country that is named
    if asks_extreme:
        chosen = _extreme(having, largest=_ASKS_LARGEST.search(question) is not None)
        others = [one for one in having if one is not chosen][: _MAX_LISTED - 1]
        if chosen is not None:
            rest = f"\n\n{said('other_figures', request.language)}\n{bullets(map(line_of, others))}" if others else ""
            return f"{line_of(chosen)}{rest}"
    if not having:
        return closest(answers, "", question, request.language)
    certain = [one for one in having if one.confidence >= _PROBABLY]
    if not certain:
        return f"{said('none_for_certain', request.language)}\n{_lines(having, request.language)}"
    return _some_of_all(certain, extracted, request.language, is_least=not _shows_all(extracted))


def _what_lacks(
    request: UserRequest,
    extracted: ExtractedAnswers,
    having: Sequence[ExtractedAnswer],
    named: Sequence[ExtractedAnswer],
    listing: DocumentList | None,
) -> str:
    """Says which documents do not have what was asked for: where the law of a place was, which have another one."""
    others = [one for one in having if one not in named]
    if named and others and _ASKS_LAW.search(request.question):
        return _some_of_all(others, extracted, request.language, is_least=not _shows_all(extracted))
    if listing is not None and listing.is_whole and _shows_all(extracted):
        return _lacking(having, listing, request.language)
    return f"{said('cannot_tell_each', request.language)}\n{_lines(having, request.language)}"


def _shows_all(extracted: ExtractedAnswers) -> bool:
    """Tells whether no document is left out that may have what was asked for."""
    return not extracted.not_shown or extracted.not_shown_confidence < _HAS_CLAUSE


def _some_of_all(
    answers: Sequence[ExtractedAnswer], extracted: ExtractedAnswers, language: str, *, is_least: bool = False
) -> str:
    """Lists the documents that have what was asked for, with how many they are."""
    key = "at_least_of_all" if is_least else "some_of_all"
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

"""Answers from what isaacus_extract has found: stated where it is sure, and otherwise offered as what comes closest."""

import re
from collections.abc import Iterable, Sequence

from proviso_service.embedded.chat.phrases import content_stems, pattern, stems
from proviso_service.embedded.chat.quoting import Place, enumeration_of, lines_of, listed, places_of, sentence_of
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.wording import bullets, joined, name, place, quote, said
from proviso_service.language import ENGLISH, language_of
from proviso_service.reading import CURRENCY_UNITS, DATE, PERIOD, only_measure
from proviso_service.tool_results import DocumentPart, ExtractedAnswer, ExtractedAnswers

_SURE, LIKELY = 0.88, 0.7
"""From the first on an answer is stated: all of 17 were right. Below, those from the second on are said to be the
likeliest: of 44 of them 38 were right, and of 40 just below 26, which are offered with others as what comes closest."""

_AGREED = 0.8
"""From here on an answer is stated that shares half of the question's words: of 16 of them 15 were right. It is what
short contracts in plain words score."""

_LEAST = 0.08
_NEAR = 0.15
_OFFERED = 0.4

_FEW_WORDS = 2
HAS_CLAUSE = 0.25
"""From here on a document may have what was asked for, where each of several is asked."""

_PLACE_OF_ALL = 0.2
"""From here on a place is shown where all of a document are asked for."""

_LEAST_OF_ALL = 0.5
"""Where the surest place is less sure, all places are offered alone."""

_CLOSEST, _FOUND = 6, 3
_OF_EACH, _OF_EACH_LIKELY = 2, 3
_MAX_OF_LIST_CHARS = 900

_IS_ITEM = re.compile(r"[;,]\s*(?:and|or)?\s*$")
_MOST_READ_ON = 3
_MIN_BEGINNING_CHARS = 20
_READ_BACK_CHARS = 1_500


def is_sure(answer: ExtractedAnswer, question: str) -> bool:
    """Tells whether an answer may be stated."""
    asked = content_stems(question)
    shared = asked & (stems(sentence_of(answer)) | stems(answer.heading))
    return answer.confidence >= (_AGREED if 2 * len(shared) >= len(asked) else _SURE)


def stated_answer(answer: ExtractedAnswer, language: str, others: Sequence[ExtractedAnswer] = ()) -> str:
    """States an answer, and lists those of the `others` that may be meant, the more of them the less sure it is."""
    is_sure = answer.confidence >= _SURE
    least = LIKELY if is_sure else _OFFERED
    first, *likely = listed(places_of([answer, *(one for one in others if one.confidence >= least)]))
    shown = Place.of(answer) if is_sure and not first.items else first
    return said("says", language, place=place(answer), quote=shown.quote) + _also(likely[: _CLOSEST - 1], language)


def stated_by_several(answers: Iterable[ExtractedAnswer], language: str) -> str:
    """Lists the sentence of each document that answers; empty where it is one document."""
    stated = [Place.of(some[0]) for some in of_each_document(answers).values()]
    return f"{said('documents_say', language)}\n{lines_of(stated)}" if len(stated) > 1 else ""


def closest(
    answers: Sequence[ExtractedAnswer],
    where: str,
    question: str,
    language: str,
    found: Sequence[ExtractedAnswer] = (),
) -> str:
    """Offers the likeliest answers where none is sure, and then what a search has `found`; empty where no answer comes
    near."""
    likely = [one.answer for one in _near(answers, question)[:_CLOSEST]]
    asks_all = pattern("asks_all").search(question) is not None
    near = listed(places_of([*likely, *found])[: len(likely) + _FOUND], asks_all=asks_all) if likely else []
    if near and near[0].answer.confidence >= LIKELY:
        likeliest = said("likeliest", language, place=place(near[0].answer), quote=near[0].quote)
        return likeliest + _also(near[1:], language)
    return _offered(near, where, language)


def offered(found: Sequence[ExtractedAnswer], where: str, language: str) -> str:
    """Offers what a search has found; empty where it is nothing."""
    return _offered(listed(places_of(found)[:_FOUND]), where, language)


def of_parts(request: UserRequest, found: Sequence[ExtractedAnswers], where: str) -> str:
    """Gives the answers to the two questions of one that asks two things at once: what is sure, and then what comes
    closest to the other, or that there is nothing on it. Empty where there is nothing on either."""
    language = request.language
    asked = [(part, one.answers) for part, one in zip(request.parts, found, strict=True)]
    sure = [answers[0] for part, answers in asked if answers and is_sure(answers[0], part)]
    answered = list(dict.fromkeys(stated_answer(one, language) for one in sure))
    near = [_near(answers, part)[:_OF_EACH] for part, answers in asked if not answers or answers[0] not in sure]
    if places := places_of(one.answer for some in near for one in some):
        answered.append(_offered(places, where, language))
    if answered and not all(near):
        answered.append(said("nothing_on_other", language))
    return "\n\n".join(answered)


def _also(others: Sequence[Place], language: str) -> str:
    return f"\n\n{said('others', language)}\n{lines_of(others)}" if others else ""


def _offered(near: Sequence[Place], where: str, language: str) -> str:
    head = said("not_sure_in", language, where=where) if where else said("not_sure", language)
    return f"{head}\n{lines_of(near)}" if near else ""


def _near(answers: Sequence[ExtractedAnswer], question: str) -> list[Place]:
    near = [one for one in answers if _comes_near(one, question)]
    clauses = [one for one in near if not pattern("no_clause").search(sentence_of(one))]
    return places_of(near if pattern("of_openings").search(question) else clauses or near)


def _comes_near(answer: ExtractedAnswer, question: str) -> bool:
    """Tells whether an answer may be offered. With a question of a word or two it shares one, unless it is likely."""
    if answer.confidence >= _OFFERED or language_of(question) != ENGLISH:
        return answer.confidence >= _LEAST
    asked = content_stems(question)
    shared = asked & (stems(sentence_of(answer)) | stems(answer.heading))
    return (bool(shared) and answer.confidence >= _LEAST) or (len(asked) > _FEW_WORDS and answer.confidence >= _NEAR)


def asks_for_all(request: UserRequest, target: TargetDocuments) -> bool:
    """Tells whether all places of a document are asked for that answer a question."""
    return len(target.documents) == 1 and pattern("asks_all").search(request.question) is not None


def places_of_all(answers: Sequence[ExtractedAnswer], where: str, language: str) -> str:
    """Lists the likely answers of a document, which are offered where none comes near a sure one; empty where there are
    none."""
    found = places_of((one for one in answers if one.confidence >= _PLACE_OF_ALL), _MAX_OF_LIST_CHARS)
    likely = listed(found, asks_all=True)
    if not likely or likely[0].answer.confidence < _LEAST_OF_ALL:
        return _offered(likely, where, language)
    return f"{said('all_found', language)}\n{lines_of(likely)}"


def to_read_on(answers: Sequence[ExtractedAnswer], *, asks_all: bool) -> list[tuple[ExtractedAnswer, int]]:
    """Returns the likeliest answer that opens an enumeration of which the passage does not hold all, or where all is
    asked for is an item of one, and where to read on in its document; nothing where there is none."""
    for one in answers[:_MOST_READ_ON]:
        own = sentence_of(one)
        whole = enumeration_of(one, own, asks_all=asks_all)
        is_item = asks_all and _IS_ITEM.search(own) is not None
        if one.confidence >= _LEAST and (is_item or own.endswith(":") or whole) and not (whole and whole.is_whole):
            at = max(0, one.text.find(own[:_MIN_BEGINNING_CHARS]))
            return [(one, max(0, one.start + at - (_READ_BACK_CHARS if is_item else 0)))]
    return []


def with_text(
    answers: Sequence[ExtractedAnswer], parts: Sequence[DocumentPart], *, asks_all: bool
) -> list[ExtractedAnswer]:
    """Returns the answers; those that open an enumeration of what was read on of their documents, or are in one where
    all is asked for, with this text."""
    found = list(answers)
    for part in parts:
        for at, one in enumerate(found):
            read = one.model_copy(update={"text": part.text, "ref": part.ref})
            if part.document_id == one.document_id and enumeration_of(read, sentence_of(one), asks_all=asks_all):
                found[at] = read
    return found


def of_each_document(answers: Iterable[ExtractedAnswer], least: float = 0) -> dict[str, list[ExtractedAnswer]]:
    """Returns the answers whose confidence is at `least` this, in order, by the id of their document, or its name."""
    found: dict[str, list[ExtractedAnswer]] = {}
    for one in answers:
        if one.confidence >= least:
            found.setdefault(one.document_id or one.filename, []).append(one)
    return found


def side_by_side(request: UserRequest, answers: Sequence[ExtractedAnswer], target: TargetDocuments) -> str:
    """Gives the best answers of each of the documents, names those that have none, and says which states the larger
    figure where that is asked for."""
    language = request.language
    best = of_each_document(answers, _LEAST)
    found = [_likely_or_closest(places_of(best[document_id])) for document_id in target.ids if document_id in best]
    lines = [_line_of_one(one, language) for some in found for one in some]
    without = [one for one in target.documents if one.document_id not in best]
    lines += [said("nothing", language, where=name(one.filename)) + "." for one in without]
    lines += lines_of_missing(target, language)
    firsts = [some[0].answer for some in found if some[0].answer.confidence >= HAS_CLAUSE]
    larger = larger_line(request.question, firsts) if len(firsts) == len(target.documents) else ""
    head = said("side_by_side" if firsts else "not_sure", language)
    return f"{head}\n{bullets(lines)}{larger}" if best else ""


def _likely_or_closest(places: Sequence[Place]) -> Sequence[Place]:
    """Returns the best of a document's answers that may be right, or of the others where there are none."""
    return [one for one in places if one.answer.confidence >= HAS_CLAUSE][:_OF_EACH_LIKELY] or places[:_OF_EACH]


def _line_of_one(found: Place, language: str) -> str:
    if found.answer.confidence >= HAS_CLAUSE:
        return found.line
    return said("nothing_certain", language, where=name(found.answer.filename), quote=found.quote)


def larger_line(question: str, answers: Sequence[ExtractedAnswer]) -> str:
    """Names the document with the larger or the smaller figure, which it quotes. The text is empty when the question
    does not ask for it or the answers do not tell."""
    wants_larger = bool(pattern("asks_larger").search(question))
    if len(answers) < 2 or not (wants_larger or pattern("asks_smaller").search(question)):
        return ""
    texts = [sentence_of(one) for one in answers]
    of_sorts = ([only_measure(text, sorts) for text in texts] for sorts in ((PERIOD,), CURRENCY_UNITS, (DATE,)))
    found = next((figures for some in of_sorts if len(figures := [one for one in some if one]) == len(texts)), [])
    if len({one.sort for one in found}) != 1:
        return ""
    amounts = [one.amount for one in found]
    best = max(amounts) if wants_larger else min(amounts)
    said_of = zip(texts, found, answers, strict=True)
    stated = [quote(text[figure.start : figure.end], one.ref) for text, figure, one in said_of]
    if amounts.count(best) > 1:
        return f"\n\n{said('figures_same', stated=joined(stated))}" if len(set(amounts)) == 1 else ""
    what = ("larger figure", "later date") if wants_larger else ("smaller figure", "earlier date")
    which, chosen = what[bool(pattern("asks_when").search(question))], amounts.index(best)
    return "\n\n" + said("figure_of", which=which, where=name(answers[chosen].filename), stated=stated[chosen])


def lines_of_missing(target: TargetDocuments, language: str) -> list[str]:
    return [said("no_match", language, where=f"'{name(one)}'") for one in target.missing]

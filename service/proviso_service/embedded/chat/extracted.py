"""Answers from what isaacus_extract has found: stated where it is sure, and otherwise offered as what comes closest."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from proviso_service.embedded.chat.comparison import larger_line
from proviso_service.embedded.chat.enumerations import Enumeration, holding, opened_at
from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.text import (
    MAX_QUOTE_CHARS,
    content_stems,
    excerpt,
    is_whole,
    marked_cuts,
    one_line,
    plain,
    split_sentences,
    stems,
    unmarked,
)
from proviso_service.embedded.chat.wording import bullets, name, place, quote, said
from proviso_service.language import ENGLISH, language_of
from proviso_service.tool_results import DocumentPart, ExtractedAnswer, ExtractedAnswers

_SURE, _LIKELY = 0.88, 0.7
"""From the first on an answer is stated: all of 17 were right. Below, those from the second on are said to be the
likeliest: of 44 of them 38 were right, and of 40 just below 26, which are offered with others as what comes closest."""

AGREED = 0.8
"""From here on an answer is stated that is also what reads most like one among the passages of a search: of 6 of them 5
were right. It is what short contracts in plain words score."""

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
_MAX_MARK_CHARS = 8

_MAX_ITEMS = 16
_MAX_ITEM_CHARS = 400
_IS_ITEM = re.compile(r"[;,]\s*(?:and|or)?\s*$")
_MOST_READ_ON = 3
_MIN_BEGINNING_CHARS = 20
_READ_BACK_CHARS = 1_500


class Place(NamedTuple):
    """An answer, and what is quoted of its passage: where this opens an enumeration that is too long for one quote, its
    `items` each by itself."""

    answer: ExtractedAnswer
    quoted: str
    items: tuple[str, ...] = ()


def is_sure(answers: Sequence[ExtractedAnswer]) -> bool:
    return bool(answers) and answers[0].confidence >= _SURE


def sentence_of(answer: ExtractedAnswer, most: int = MAX_QUOTE_CHARS) -> str:
    """Returns the sentence that holds the answer, cut around it to at most `most` characters. A list or table that it
    opens belongs to it."""
    wanted = unmarked(one_line(plain(answer.answer)))
    shown = one_line(plain(answer.text))
    for sentence in split_sentences(answer.text, answer.heading):
        if wanted and wanted in sentence:
            at = shown.find(sentence) if sentence.endswith(":") else -1
            beginning = re.compile(re.escape(wanted[:most]))
            return excerpt(sentence, beginning, most) if at < 0 else excerpt(shown[at:], most=most)
    return excerpt(wanted if wanted and wanted in shown else shown, most=most)  # of a long answer a part is shown


def _quoted(answer: ExtractedAnswer) -> str:
    return quote(marked_cuts(sentence_of(answer)), answer.ref)


def line_of(answer: ExtractedAnswer) -> str:
    return f"{place(answer)}: {_quoted(answer)}"


def stated_answer(answer: ExtractedAnswer, language: str, others: Sequence[ExtractedAnswer] = ()) -> str:
    """States an answer, and lists those of the `others` that may be meant, the more of them the less sure it is."""
    is_sure = answer.confidence >= _SURE
    least = _LIKELY if is_sure else _OFFERED
    first, *likely = _listed(places_of([answer, *(one for one in others if one.confidence >= least)]))
    quoted = _quoted(answer) if is_sure and not first.items else _quote_of(first)
    return said("says", language, place=place(answer), quote=quoted) + _also(likely[: _CLOSEST - 1], language)


def stated_by_several(answers: Sequence[ExtractedAnswer], language: str) -> str:
    """Lists the answer of each document that states one, for a question that names none of them; empty where it is one
    document."""
    stated = [some[0] for some in of_each_document(answers, AGREED).values()]
    return f"{said('documents_say', language)}\n{bullets(map(line_of, stated))}" if len(stated) > 1 else ""


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
    if not likely:
        return ""
    asks_all = pattern("asks_all").search(question) is not None
    near = _listed(places_of([*likely, *found])[: len(likely) + _FOUND], asks_all=asks_all)
    if near[0].answer.confidence >= _LIKELY:
        likeliest = said("likeliest", language, place=place(near[0].answer), quote=_quote_of(near[0]))
        return likeliest + _also(near[1:], language)
    return _offered(near, where, language)


def offered(found: Sequence[ExtractedAnswer], where: str, language: str) -> str:
    """Offers what a search has found; empty where it is nothing."""
    return _offered(_listed(places_of(found)[:_FOUND]), where, language)


def _also(others: Sequence[Place], language: str) -> str:
    return f"\n\n{said('others', language)}\n{bullets(map(line_of_place, others))}" if others else ""


def of_parts(request: UserRequest, found: Sequence[ExtractedAnswers], where: str) -> str:
    """Gives the answers to the two questions of one that asks two things at once: what is sure, and then what comes
    closest to the other, or that there is nothing on it. Empty where there is nothing on either."""
    language = request.language
    answered = list(dict.fromkeys(stated_answer(one.answers[0], language) for one in found if is_sure(one.answers)))
    unsure = [(part, one.answers) for part, one in zip(request.parts, found, strict=True) if not is_sure(one.answers)]
    near = [_near(answers, part)[:_OF_EACH] for part, answers in unsure]
    if offered := places_of([one.answer for some in near for one in some]):
        answered.append(_offered(offered, where, language))
    if answered and not all(near):
        answered.append(said("nothing_on_other", language))
    return "\n\n".join(answered)


def _offered(near: Sequence[Place], where: str, language: str) -> str:
    head = said("not_sure_in", language, where=where) if where else said("not_sure", language)
    return f"{head}\n{bullets(map(line_of_place, near))}" if near else ""


def _near(answers: Sequence[ExtractedAnswer], question: str) -> list[Place]:
    return places_of([one for one in answers if _comes_near(one, question)])


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
    found = places_of([one for one in answers if one.confidence >= _PLACE_OF_ALL], _MAX_OF_LIST_CHARS)
    likely = _listed(found, asks_all=True)
    if not likely or likely[0].answer.confidence < _LEAST_OF_ALL:
        return _offered(likely, where, language)
    return f"{said('all_found', language)}\n{bullets(map(line_of_place, likely))}"


def places_of(answers: Sequence[ExtractedAnswer], most: int = MAX_QUOTE_CHARS) -> list[Place]:
    """Returns the places of the answers, in order, with at most `most` characters each: what is part of one that is
    there, or holds it, is left out."""
    found: list[Place] = []
    for one in answers:
        own = sentence_of(one, most)
        others = [other.quoted for other in found if other.answer.document_id == one.document_id]
        if not any(own in text or text in own for text in others):
            found.append(Place(one, _with_neighbours(one, own, others, most)))
    return found


def _listed(places: Sequence[Place], *, asks_all: bool = False) -> list[Place]:
    """Returns the places, those that open an enumeration with its items; where all is asked for also those that are in
    one. What is then quoted already is left out."""
    found: list[Place] = []
    for one in places:
        own = sentence_of(one.answer)
        if any(own in text for other in found for text in (other.quoted, *other.items)):
            continue
        listed = _enumeration_of(one.answer, own, asks_all=asks_all)
        found.append(_place_of(one.answer, listed) if listed else one)
    return found


def _place_of(answer: ExtractedAnswer, listed: Enumeration) -> Place:
    whole = " ".join((listed.opening, *listed.items))
    if len(whole) <= MAX_QUOTE_CHARS and whole in one_line(plain(answer.text)):
        return Place(answer, whole)
    return Place(answer, listed.opening, listed.items)


def _enumeration_of(answer: ExtractedAnswer, own: str, *, asks_all: bool) -> Enumeration | None:
    text = plain(answer.text)
    at = re.search(r"\s+".join(map(re.escape, own.split())), text)
    if at is None or not (asks_all or own.endswith(":")):
        return None
    opened = opened_at(text, *at.span())
    return holding(text, at.start()) if opened is None and asks_all else opened


def to_read_on(answers: Sequence[ExtractedAnswer], *, asks_all: bool) -> tuple[ExtractedAnswer, int] | None:
    """Returns the likeliest answer that opens an enumeration of which the passage does not hold all, or where all is
    asked for is an item of one, and where to read on in its document; None where there is none."""
    for one in answers[:_MOST_READ_ON]:
        own = sentence_of(one)
        listed = _enumeration_of(one, own, asks_all=asks_all)
        is_item = asks_all and _IS_ITEM.search(own) is not None
        if one.confidence >= _LEAST and (is_item or own.endswith(":") or listed) and not (listed and listed.is_whole):
            before = one.text.partition(own[:_MIN_BEGINNING_CHARS])[0]
            at = len(before) if len(before) < len(one.text) else 0
            return one, max(0, one.start + at - (_READ_BACK_CHARS if is_item else 0))
    return None


def with_text(
    answers: Sequence[ExtractedAnswer], parts: Sequence[DocumentPart], *, asks_all: bool
) -> list[ExtractedAnswer]:
    """Returns the answers; those that open an enumeration of what was read on of their documents, or are in one where
    all is asked for, with this text."""
    found = list(answers)
    for part in parts:
        for at, one in enumerate(found):
            read = one.model_copy(update={"text": part.text, "ref": part.ref})
            if part.document_id == one.document_id and _enumeration_of(read, sentence_of(one), asks_all=asks_all):
                found[at] = read
    return found


def _with_neighbours(answer: ExtractedAnswer, own: str, others: Sequence[str], most: int) -> str:
    """Returns the sentence with those after it and before it, as far as they are whole, fit into a quote and are not
    quoted elsewhere: where it is not sure that a sentence answers, the answer may stand beside it."""
    shown = one_line(plain(answer.text))
    sentences = split_sentences(answer.text, answer.heading)
    at = next((index for index, one in enumerate(sentences) if own in one), None)
    start = shown.find(own)
    end = start + len(own)
    if at is None or start < 0:
        return own
    for one in (*sentences[at + 1 :], *reversed(sentences[:at])):
        after = shown.find(one, end)
        first = after if after >= 0 else shown.rfind(one, 0, start)
        last = first + len(one)
        gap = first - end if after >= 0 else start - last
        is_beside = first >= 0 and gap <= _MAX_MARK_CHARS and max(end, last) - min(start, first) <= most
        if is_beside and is_whole(one) and not any(one in text for text in others):
            start, end = min(start, first), max(end, last)
    return shown[start:end]


def of_each_document(answers: Iterable[ExtractedAnswer], least: float) -> dict[str, list[ExtractedAnswer]]:
    """Returns the answers whose confidence is at `least` this, in order, by the id of their document."""
    found: dict[str, list[ExtractedAnswer]] = {}
    for one in answers:
        if one.confidence >= least:
            found.setdefault(one.document_id, []).append(one)
    return found


def side_by_side(request: UserRequest, answers: Sequence[ExtractedAnswer], target: TargetDocuments) -> str:
    """Gives the best answers of each of the documents, names those that have none, and says which states the larger
    figure where that is asked for."""
    language = request.language
    best = of_each_document(answers, _LEAST)
    found = [_likely_or_closest(places_of(best[document_id])) for document_id in target.ids if document_id in best]
    lines = [_line_of_one(one, language) for some in found for one in some]
    lines += [
        said("nothing", language, where=name(one.filename)) + "."
        for one in target.documents
        if one.document_id not in best
    ]
    lines += lines_of_missing(target, language)
    best_of = [some[0].answer for some in found]
    firsts = [(one.filename, sentence_of(one), one.ref) for one in best_of if one.confidence >= HAS_CLAUSE]
    larger = larger_line(request.question, firsts) if len(firsts) == len(target.documents) else ""
    head = said("side_by_side" if firsts else "not_sure", language)
    return f"{head}\n{bullets(lines)}{larger}" if best else ""


def _likely_or_closest(places: Sequence[Place]) -> Sequence[Place]:
    """Returns the best of a document's answers that may be right, or of the others where there are none."""
    return [one for one in places if one.answer.confidence >= HAS_CLAUSE][:_OF_EACH_LIKELY] or places[:_OF_EACH]


def _line_of_one(found: Place, language: str) -> str:
    if found.answer.confidence >= HAS_CLAUSE:
        return line_of_place(found)
    return said("nothing_certain", language, where=name(found.answer.filename), quote=_quote_of(found))


def line_of_place(found: Place) -> str:
    return f"{place(found.answer)}: {_quote_of(found)}"


def _quote_of(found: Place) -> str:
    ref = found.answer.ref
    items = [f"\n  - {quote(marked_cuts(one_line(item, _MAX_ITEM_CHARS)), ref)}" for item in found.items[:_MAX_ITEMS]]
    if len(found.items) > _MAX_ITEMS:
        items.append(f"\n  - {said('and_more', count=len(found.items) - _MAX_ITEMS)}")
    return quote(marked_cuts(found.quoted), ref) + "".join(items)


def lines_of_missing(target: TargetDocuments, language: str) -> list[str]:
    return [said("no_match", language, where=f"'{name(one)}'") for one in target.missing]

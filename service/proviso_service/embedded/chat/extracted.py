"""Answers from what isaacus_extract has found: stated where it is sure, and otherwise offered as what comes closest."""

import re
from collections.abc import Sequence

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
from proviso_service.tool_results import ExtractedAnswer, ExtractedAnswers

SURE = 0.88
"""From this confidence on an answer is stated, not offered: lower, fewer of the questions that were worked with are
answered rightly and more wrongly."""

AGREED = 0.8
"""The same of an answer that is also what reads most like one among the passages of a search. From 0.7 on 80 of 100
answers to natural questions are right, from 0.8 on 86; of the questions that were worked with as many are answered."""

_LEAST = 0.08
_NEAR = 0.15
_OFFERED = 0.4
_FEW_WORDS = 2
HAS_CLAUSE = 0.25
"""From here on a document may have what was asked for, where each of several is asked."""

_PLACE_OF_ALL = 0.2
"""From here on a place is shown where all of a document are asked for."""

_CLOSEST = 4
_OF_EACH = 2
_ASKS_ALL = pattern("asks_all")


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
    return _offered(_distinct([one for one in answers if _comes_near(one, question)])[:_CLOSEST], where, language)


def of_parts(request: UserRequest, found: Sequence[ExtractedAnswers], where: str) -> str:
    """Gives the answers to the two questions of one that asks two things at once: what is sure, and then what comes
    closest to the other, or that there is nothing on it. Empty where there is nothing on either."""
    sure = [stated_answer(one.answers[0], request.language) for one in found if is_sure(one.answers)]
    near: list[ExtractedAnswer] = []
    lacks_one = False
    for part, one in zip(request.parts, found, strict=True):
        if not is_sure(one.answers):
            offered = _distinct([answer for answer in one.answers if _comes_near(answer, part)])[:_OF_EACH]
            near += offered
            lacks_one |= not offered
    answered = [*dict.fromkeys(sure), *filter(None, [_offered(_distinct(near), where, request.language)])]
    if answered and lacks_one:
        answered.append(said("nothing_on_other", request.language))
    return "\n\n".join(answered)


def _offered(near: Sequence[ExtractedAnswer], where: str, language: str) -> str:
    head = said("not_sure_in", language, where=where) if where else said("not_sure", language)
    return f"{head}\n{bullets(map(line_of, near))}" if near else ""


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
    likely = _distinct([one for one in answers if one.confidence >= _PLACE_OF_ALL])
    return f"{said('all_found', language)}\n{bullets(map(line_of, likely))}" if likely else ""


def _distinct(answers: Sequence[ExtractedAnswer]) -> list[ExtractedAnswer]:
    """Returns the first answer of each sentence, in order: what is part of one that is there, or holds it, is left
    out."""
    found: list[tuple[str, ExtractedAnswer]] = []
    for one in answers:
        own = sentence_of(one)
        others = (text for text, other in found if other.document_id == one.document_id)
        if not any(own in text or text in own for text in others):
            found.append((own, one))
    return [one for _, one in found]


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
    if answer.confidence >= HAS_CLAUSE:
        return line_of(answer)
    return said("nothing_certain", language, where=name(answer.filename), quote=_quoted(answer))


def lines_of_missing(target: TargetDocuments, language: str) -> list[str]:
    return [said("no_match", language, where=f"'{name(one)}'") for one in target.missing]

"""Writes the answer to a request from the evidence: quotes, names and counts that tools have given, nothing else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat import extracted
from proviso_service.embedded.chat.absence import none_in_view, not_found, offer, searched_document
from proviso_service.embedded.chat.comparison import compared
from proviso_service.embedded.chat.conversation import Evidence, Search
from proviso_service.embedded.chat.documents_having import by_document
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.quoting import best_by_document, distinct, listed, read_out, stated
from proviso_service.embedded.chat.ranking import ScoredSentence, rank
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.result_answers import count_answer, documents_answer, iql_answer, types_answer
from proviso_service.embedded.chat.text import excerpt, split_sentences
from proviso_service.embedded.chat.wording import (
    bullets,
    counted,
    document_lines,
    faulty_query,
    joined,
    name,
    place,
    quote,
    said,
)
from proviso_service.models import Embedder
from proviso_service.tool_results import DocumentList

_MAX_FOUND = 8

# A sentence is an answer when it shares enough words and meaning with the question. On the questions of the tests
# answers score above these values, and sentences that are merely close below.
_MIN_SIMILARITY = 0.22
_MIN_FULL_SCORE = 0.5
_MIN_SCORE = 0.62
_SURE_SIMILARITY = 0.55
_FAULT = re.compile(r"\bAt character (\d+),")
_MANY_DOCUMENTS = 3


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The text of an answer. `found` is false when the evidence does not answer the question."""

    text: str
    found: bool = True


async def answer(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, embedder: Embedder
) -> WrittenAnswer:
    """Writes the answer that the evidence supports, or the fixed refusal when it supports none."""
    where = searched_document(request, target) if target.documents else ""
    more = offer(request, target, evidence) if where else ""
    if request.clauses and evidence.analyses:
        last = evidence.analyses[-1]
        is_found = request.clauses.compares or last.total_matches > 0
        return WrittenAnswer(iql_answer(request.clauses, last, where) + ("" if is_found else more), found=is_found)
    if request.asks_types and evidence.classified:
        found = evidence.classified[-1]
        is_found = found.total_found > 0
        return WrittenAnswer(types_answer(found, where) + ("" if is_found else more), found=is_found)
    settled = _answer_without_search(request, target, evidence)
    if settled:
        return WrittenAnswer(settled)
    if request.intent is Intent.COUNT and evidence.searches:
        return WrittenAnswer(count_answer(request, target, evidence, where, more))
    if request.intent in (Intent.SHOW, Intent.SUMMARY):
        text = read_out(request, evidence)
        return WrittenAnswer(text) if text else _nothing(request, target, evidence)
    return await _quoted_answer(request, target, evidence, embedder)


async def _quoted_answer(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, embedder: Embedder
) -> WrittenAnswer:
    question = request.bare_question
    if request.term and (defined := _definition(request, evidence)):
        return WrittenAnswer(defined + _caveat(evidence))
    ranked = await rank(embedder, question, evidence.passages)
    good = [one for one in ranked if is_answer(one)]
    if evidence.extracted:
        if len(evidence.extracted) == len(request.parts) > 1:
            text = extracted.of_parts(request, evidence.extracted, searched_document(request, target))
        else:
            text = _extracted_answer(request, target, evidence, good)
        if not text:
            return _nothing(request, target, evidence)
        is_alone = len(target.documents) == 1
        missing = "".join(f"\n\n{line}" for line in extracted.lines_of_missing(target, request.language) if is_alone)
        return WrittenAnswer(text + missing + _caveat(evidence))
    if not good:
        return _nothing(request, target, evidence)
    if request.intent is Intent.COMPARE:
        opening = none_in_view(request, evidence, {one.document for one in good}) if request.viewed else ""
        return WrittenAnswer(opening + compared(request, target, good) + _caveat(evidence))
    if request.intent is Intent.FIND:
        chosen = distinct(good)[:_MAX_FOUND]
        text = bullets(listed(chosen, question, good, ranked))
    else:
        chosen = best_by_document(good)
        text = stated(good, question, request.language)
    documents = {one.document for one in chosen}
    opening = none_in_view(request, evidence, documents) if request.viewed else ""
    rest = _not_shown(evidence, len(documents)) + _caveat(evidence)
    return WrittenAnswer(opening + text + rest)


def _extracted_answer(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, good: Sequence[ScoredSentence]
) -> str:
    """Returns what the extracted answers say, surely where a sentence that reads like an answer is among them."""
    answers = evidence.answers
    asks_all = extracted.asks_for_all(request, target)
    if asks_all and (places := extracted.places_of_all(answers, request.language)):
        return places
    if evidence.calls[-1].args.get("each_document") and not asks_all:
        if target.documents:
            return extracted.side_by_side(answers, target, request.language)
        if (asked := request.asked_of_each) is not None:
            return by_document(request, asked, evidence.extracted[-1], evidence.listing)
    sentences = {extracted.sentence_of(one): one for one in reversed(answers) if one.confidence >= extracted.AGREED}
    agreed = [sentences[one.sentence] for one in good[:1] if one.sentence in sentences]
    if agreed or extracted.is_sure(answers):
        if not target.documents and (several := extracted.stated_by_several(answers, request.language)):
            return several
        stated_one = (agreed or answers)[0]
        opening = none_in_view(request, evidence, {stated_one.document_id}) if request.viewed else ""
        return opening + extracted.stated_answer(stated_one, request.language)
    where = searched_document(request, target) if target.documents else ""
    return extracted.closest(answers, where, request.question, request.language)


def _definition(request: UserRequest, evidence: Evidence) -> str:
    """Quotes the sentence that defines the term; empty where none is found."""
    term = r"\s+".join(map(re.escape, request.term.split()))
    marked = rf"[\"\u201c]\s*(?:the\s+)?{term}\s*[\"\u201d]"
    forms = (
        rf"{marked}\W+(?:\w+\W+){{0,6}}?(?:means?|shall mean|refers? to|includes?|is|has the meaning)\b",
        rf"\([^()]{{0,60}}{marked}[^()]*\)",
        marked,
    )
    sentences = [
        (passage, one)
        for passage in (*evidence.passages, *evidence.answers)
        for one in split_sentences(passage.text, passage.heading)
    ]
    for form in forms:
        pattern = re.compile(form, re.IGNORECASE)
        for passage, sentence in sentences:
            if pattern.search(sentence):
                quoted = quote(excerpt(sentence, pattern), passage.ref)
                return said("says", request.language, place=place(passage), quote=quoted)
    return ""


def _not_shown(evidence: Evidence, quoted: int) -> str:
    """Says how many documents the last search over the matter found beyond those it had room for."""
    last = evidence.searches[-1] if evidence.searches else Search()
    more = last.documents_not_shown
    if quoted < _MANY_DOCUMENTS or more <= 0:
        return ""
    documents = counted(more, "more document")
    if last.is_full:
        documents = said("at_least", count=documents)
    return "\n\n" + said("more_documents_one" if more == 1 else "more_documents", documents=documents)


def is_answer(scored: ScoredSentence) -> bool:
    """Tells whether a sentence may be given as an answer. Otherwise it is only close to the question."""
    if scored.similarity < _MIN_SIMILARITY:
        return False
    if scored.overlap == 1:
        return scored.score >= _MIN_FULL_SCORE
    if scored.overlap >= 1 / 2:
        return scored.score >= _MIN_SCORE
    return scored.overlap >= 1 / 3 and scored.similarity >= _SURE_SIMILARITY


def _answer_without_search(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Answers what needs no passage: questions about the documents themselves, and why nothing could be looked up.
    Returns an empty text for other questions."""
    listing = evidence.listing
    if listing and not listing.total_count:
        return said("no_documents")
    about_target = "" if target.documents else _missing(target, listing, request.language) or _unready(target)
    if about_target:
        return about_target
    looked = bool(evidence.searches or evidence.extracted)
    if listing and (request.intent is Intent.LIST or (request.intent is Intent.COUNT and not looked)):
        return documents_answer(request, target, listing)
    if evidence.searches or evidence.parts or evidence.extracted:
        return ""
    if listing and not evidence.failures and request.intent in (Intent.SHOW, Intent.SUMMARY):
        return f"{said('which_document')}\n{document_lines(listing)}"
    return _failed(request, evidence)


def _missing(target: TargetDocuments, listing: DocumentList | None, language: str) -> str:
    if not target.missing:
        return ""
    known = f" {said('it_has', language)}\n{document_lines(listing)}" if listing and listing.documents else ""
    names = joined([f"'{name(one)}'" for one in target.missing])
    return said("no_such_document", language, where=names) + known


def _unready(target: TargetDocuments) -> str:
    return " ".join(_unready_line(one.filename, one.processing_status) for one in target.unready)


def _failed(request: UserRequest, evidence: Evidence) -> str:
    stated = next((failure.error for failure in evidence.failures if failure.error), "")
    if request.clauses and (fault := _FAULT.search(stated)):
        return faulty_query(request.clauses.iql, int(fault[1]), stated)
    if stated:
        return said("tool_said", reason=name(stated).rstrip("."))
    return said("tool_failed" if evidence.failures else "no_tools")


def _unready_line(filename: str, status: str) -> str:
    if status.lower() == "failed":
        return said("unprocessed", where=name(filename))
    return said("processing", where=name(filename))


def _nothing(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> WrittenAnswer:
    text = not_found(request, target, evidence) or said("no_answer", request.language)
    return WrittenAnswer(text + _caveat(evidence).replace("\n\n", " "), found=False)


def _caveat(evidence: Evidence) -> str:
    processing = list(
        dict.fromkeys(name(one) for search in evidence.searches for one in search.documents_processing if one)
    )
    return "\n\n" + said("not_searched", where=joined(processing)) if processing else ""

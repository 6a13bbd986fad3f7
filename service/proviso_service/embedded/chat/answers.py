"""Writes the answer to a request from the evidence: quotes, names and counts that tools have given, nothing else."""

import re
from collections.abc import Sequence
from operator import attrgetter

from proviso_service.embedded.chat import extracted
from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.documents_having import by_document
from proviso_service.embedded.chat.phrases import Intent, pattern
from proviso_service.embedded.chat.quoting import excerpt, lines_of, listed, marked_cuts, places_of, read_out, until
from proviso_service.embedded.chat.ranking import ANSWERS, rank
from proviso_service.embedded.chat.request import Scope, TargetDocuments, UserRequest
from proviso_service.embedded.chat.result_answers import (
    count_answer,
    documents_answer,
    iql_answer,
    none_in_view,
    not_found,
    offer,
    searched_document,
    types_answer,
)
from proviso_service.embedded.chat.wording import (
    bullets,
    counted,
    document_lines,
    joined,
    name,
    not_analysed,
    place,
    quote,
    said,
)
from proviso_service.embedded.sentences import one_line, split_sentences
from proviso_service.language import ASKED_NOTE, ENGLISH
from proviso_service.models import Embedder
from proviso_service.tool_results import DocumentList, ExtractedAnswer, FoundPassage

_PASSAGE = attrgetter("document_id", "filename", "text")
_MAX_FOUND = 8
_MAX_DOCUMENTS = 12
_MANY_DOCUMENTS = 3
_LEAST_SIMILARITY = 0.35
"""A sentence that a search has found is offered where no answer is sure, if it is as near to the question as this."""


async def answer(request: UserRequest, target: TargetDocuments, evidence: Evidence, embedder: Embedder) -> str:
    """Writes the answer that the evidence supports; empty where it supports none."""
    where = searched_document(request, target)
    more = offer(request, target, evidence)
    if request.clauses and evidence.analyses:
        last = evidence.analyses[-1]
        is_found = request.clauses.compares or last.total_matches > 0
        return iql_answer(request.clauses, last, where, request.skip) + ("" if is_found else more)
    if request.asks_types and evidence.classified:
        types = evidence.classified[-1]
        return types_answer(types, where) + ("" if types.total_found > 0 else more)
    if settled := _answer_without_search(request, target, evidence):
        return settled
    if request.intent is Intent.COUNT and evidence.searches:
        return count_answer(request, target, evidence.searches[-1], where, more)
    if request.intent in (Intent.SHOW, Intent.SUMMARY) or (request.section and evidence.parts):
        return read_out(request, evidence)
    text = await _quoted_answer(request, target, evidence, embedder)
    return text + _caveat(evidence) if text else ""


def no_answer(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Says that the documents that were searched have no answer, or the fixed refusal where none was searched by
    itself."""
    text = not_found(request, target, evidence) or said("no_answer", request.language)
    return text + _caveat(evidence).replace("\n\n", " ")


def language_notes(evidence: Evidence, language: str) -> list[str]:
    """Returns what the tools tell of languages that the models do not read; of that of the question in this
    language."""
    results = (*evidence.searches, *evidence.analyses, *evidence.classified, *evidence.extracted)
    notes = dict.fromkeys(note for one in results for note in one.languages)
    return [said("asked_abroad", language) if note.startswith(ASKED_NOTE) else note for note in notes]


async def _quoted_answer(request: UserRequest, target: TargetDocuments, evidence: Evidence, embedder: Embedder) -> str:
    if request.term and (defined := _definition(request, evidence)):
        return defined
    if evidence.extracted:
        are_two = len(evidence.extracted) == len(request.parts) > 1
        text = extracted.of_parts(request, evidence.extracted, searched_document(request, target)) if are_two else ""
        text = text or await _extracted_answer(request, target, evidence, embedder)
        missing = extracted.lines_of_missing(target, request.language) if text and len(target.documents) == 1 else []
        return "\n\n".join((text, *missing))
    is_list = request.intent is Intent.CLAUSE
    ranked = await rank(embedder, request.bare_question, evidence.passages, _PASSAGE if is_list else _document)
    found = [one for one in ranked if one.confidence == ANSWERS][: _MAX_FOUND if is_list else _MAX_DOCUMENTS]
    if not found:
        return ""
    documents = set(map(_document, found))
    text = lines_of(listed(places_of(found))) if is_list else extracted.stated_by_several(found, request.language)
    text = text or extracted.stated_answer(found[0], request.language)
    return none_in_view(request, evidence, documents) + text + _not_shown(evidence, len(documents))


def _document(passage: FoundPassage) -> str:
    return passage.document_id or passage.filename


async def _extracted_answer(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, embedder: Embedder
) -> str:
    """Returns what the extracted answers say, surely where a sentence that reads like an answer is among them, or what
    comes closest."""
    asks_all = extracted.asks_for_all(request, target)
    answers = extracted.with_text(evidence.answers, evidence.parts, asks_all=asks_all)
    where = searched_document(request, target)
    if asks_all and (places := extracted.places_of_all(answers, where, request.language)):
        return places
    if evidence.asked_each and not asks_all:
        last, asked = evidence.extracted[-1], request.asked_of_each
        if target.documents or asked is None:
            text = extracted.side_by_side(request, answers, target)
        else:
            text = by_document(request, asked, last)
        return text + not_analysed(last.document_errors, request.language) if text else ""
    sure = [one for one in answers if extracted.is_sure(one, request.question)]
    if not sure:
        return await _closest(request, target, evidence, answers, embedder)
    if not target.documents and (several := extracted.stated_by_several(sure, request.language)):
        return several
    opening = none_in_view(request, evidence, {sure[0].document_id})
    return opening + extracted.stated_answer(sure[0], request.language, answers)


async def _closest(
    request: UserRequest,
    target: TargetDocuments,
    evidence: Evidence,
    answers: Sequence[ExtractedAnswer],
    embedder: Embedder,
) -> str:
    """Offers the likeliest answers, and where none is likely what a search has found; for a question that presumes an
    answer (who, what, all of them) also the latter alone, and from other documents than the one on view where these
    were searched too. Empty where nothing comes near."""
    is_likely = bool(answers) and answers[0].confidence >= extracted.LIKELY
    read = [] if is_likely else await rank(embedder, request.bare_question, evidence.passages, _PASSAGE)
    found = [one for one in read if one.confidence >= _LEAST_SIMILARITY]
    meant = [one for one in found if not target.documents or one.document_id in target.ids]
    where = searched_document(request, target)
    text = extracted.closest(answers, where, request.question, request.language, meant)
    presumes = any(pattern(asks).search(request.question) for asks in ("open", "asks_all"))
    if text or not (presumes or request.language != ENGLISH):
        return text
    if others := [one for one in found if one not in meant]:
        opening = none_in_view(request, evidence, {one.document_id for one in others})
        return opening + extracted.offered(others, "", request.language)
    may_widen = request.scope is Scope.VIEWED_FIRST and evidence.has_other_documents
    is_widened = any(not search.document_ids for search in evidence.searches)
    return "" if may_widen and not is_widened else extracted.offered(meant, where, request.language)


def _definition(request: UserRequest, evidence: Evidence) -> str:
    """Quotes the sentence of each document that defines the term; empty where there is none."""
    term = _in_any_number(r"\s+".join(map(re.escape, request.term.split())))
    marked = rf"[\"\u201c]\s*(?:the\s+)?{term}\s*[\"\u201d]"
    follows = rf"{marked}\W+(?:\w+\W+){{0,6}}?"
    forms = (
        rf"{follows}(?:means?|shall mean|refers? to|has the meaning)\b",
        rf"\([^()]{{0,60}}{marked}[^()]*\)",
        rf"{follows}(?:includes?|is)\b",
    )
    sentences = [
        (passage, one)
        for passage in (*evidence.passages, *evidence.answers)
        for one in split_sentences(passage.text, passage.heading)
    ]
    for form in forms:
        defines = re.compile(form, re.IGNORECASE)
        lines: dict[str, tuple[str, str]] = {}
        for passage, one in sentences:
            if defines.search(one):
                # What a term in brackets stands for is said before them.
                said_of_it = until(one, defines) if form is forms[1] else excerpt(one, defines)
                quoted = quote(marked_cuts(said_of_it), passage.ref)
                lines.setdefault(passage.document_id, (place(passage), quoted))
        found = list(lines.values())[:_MAX_DOCUMENTS]
        if len(found) > 1:  # each agreement of a matter may mean something else by it
            several = bullets(f"{where}: {quoted}" for where, quoted in found)
            return f"{said('documents_say', request.language)}\n{several}"
        if found:
            return said("says", request.language, place=found[0][0], quote=found[0][1])
    return ""


def _in_any_number(term: str) -> str:
    """A pattern of a term in the singular and in the plural."""
    if found := re.fullmatch(r"(.*[^aeiou])(?:y|ies)", term, re.IGNORECASE):
        return rf"{found[1]}(?:y|ies)"
    if found := re.fullmatch(r"(.*(?:ss|x|ch|sh))(?:es)?", term, re.IGNORECASE):
        return rf"{found[1]}(?:es)?"
    return rf"{term.removesuffix('s')}s?"


def _not_shown(evidence: Evidence, quoted: int) -> str:
    """Says how many documents the last search over the matter found beyond those it had room for."""
    if not evidence.searches or quoted < _MANY_DOCUMENTS:
        return ""
    last = evidence.searches[-1]
    more = last.documents_found - len({one.document_id or one.filename for one in last.results})
    if more <= 0:
        return ""
    documents = counted(more, "more document")
    if 0 < last.max_results <= last.total_found:  # as many as were asked for, so there may be more
        documents = said("at_least", count=documents)
    return "\n\n" + said("more_documents_one" if more == 1 else "more_documents", documents=documents)


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
        return documents_answer(target, listing)
    if looked or evidence.parts:
        return ""
    if listing and not evidence.failures and request.intent in (Intent.SHOW, Intent.SUMMARY):
        return f"{said('which_document')}\n{document_lines(listing)}"
    return _failed(request, target, evidence)


def _missing(target: TargetDocuments, listing: DocumentList | None, language: str) -> str:
    if not target.missing:
        return ""
    known = f" {said('it_has', language)}\n{document_lines(listing)}" if listing and listing.documents else ""
    names = joined([f"'{name(one)}'" for one in target.missing])
    return said("no_such_document", language, where=names) + known


def _unready(target: TargetDocuments) -> str:
    return " ".join(
        said("unprocessed" if one.processing_status.lower() == "failed" else "processing", where=name(one.filename))
        for one in target.unready
    )


def _failed(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    stated = next(filter(None, evidence.failures), "")
    if request.section and pattern("no_section").search(stated):
        where = searched_document(request, target) or name(target.documents[0].filename)
        return said("no_section", where=where, reason=name(stated).replace("; ask for a position", "."))
    if request.clauses and (fault := re.search(r"\bAt character (\d+),", stated)):
        caret = " " * (int(fault[1]) - 1) + "^"
        return said("faulty_query", query=one_line(request.clauses.iql), caret=caret, fault=stated)
    if stated:
        return said("tool_said", reason=name(stated).rstrip("."))
    return said("tool_failed" if evidence.failures else "no_tools")


def _caveat(evidence: Evidence) -> str:
    processing = list(
        dict.fromkeys(name(one) for search in evidence.searches for one in search.documents_processing if one)
    )
    return "\n\n" + said("not_searched", where=joined(processing)) if processing else ""

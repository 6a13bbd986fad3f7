"""Writes the answers that give the result of a tool as it is: lists, counts, matches of a query and types of clauses;
and what was looked for and where when there is none. The summaries of uploaded files are given in the same way."""

from collections.abc import Collection, Sequence

from proviso_service.embedded.chat.clause_queries import ClauseQuery
from proviso_service.embedded.chat.conversation import Asset, Evidence, Search, UserMessage
from proviso_service.embedded.chat.mentions import match_mention
from proviso_service.embedded.chat.phrases import pattern, stems
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.wording import (
    bullets,
    counted,
    document_lines,
    joined,
    name,
    not_analysed,
    place,
    quote,
    quoted_opening,
    reference,
    said,
)
from proviso_service.embedded.sentences import one_line
from proviso_service.language import ENGLISH
from proviso_service.tool_results import (
    AnalysedDocument,
    ClassifiedClauses,
    ClausesOfType,
    DocumentList,
    ListedDocument,
    QueryMatches,
    TurnResult,
)

_MAX_QUOTES = 16
_MAX_DOCUMENTS = 12


def documents_answer(target: TargetDocuments, listing: DocumentList) -> str:
    """Lists the documents of the matter, or those of them whose names match the request."""
    if target.matched and listing.is_whole:
        return _named_answer(target, listing)
    status = listing.summary
    parts = [said("ready", count=status.ready_for_search)]
    parts += [said("still_processing", count=status.still_processing)] if status.still_processing else []
    parts += [said("failed", count=status.failed)] if status.failed else []
    states = f" ({joined(parts)})" if len(parts) > 1 else ""
    head = said("matter_has", documents=counted(listing.total_count, "document") + states)
    return f"{head}\n{document_lines(listing)}"


def count_answer(request: UserRequest, target: TargetDocuments, search: Search, where: str, more: str) -> str:
    """Says how many documents hold the words asked for, as the tool has counted them. `where` names the one document
    that was searched, and `more` follows where nothing was found."""
    matching = search.documents_matching or ()
    subject = name(search.query)
    still = [name(one) for one in search.documents_processing if one]
    caveat = "\n" + said("not_counted", where=joined(still)) if still else ""
    if not matching:
        words = said("words_of" if " " in subject else "word", subject=subject)
        if where:
            return said("no_words_in", words=words, where=where) + more + caveat
        if target.documents:
            named = joined([name(one.filename) for one in target.documents])
            return said("no_words_of", words=words, where=named) + caveat
        return said("no_words", words=words) + caveat
    refs = {one.filename: one.ref for one in reversed(search.results)}
    lines = [
        f"{name(one.filename)}: {counted(one.passages, 'passage')}{reference(refs.get(one.filename))}"
        for one in matching
    ]
    passages = [one.passages for one in matching]
    total = max(search.documents_matching_count or 0, len(matching))
    if total > len(matching):
        lines.append(said("and_more", count=total - len(matching)))
    return f"{_headline(request.question, subject, total, passages)}:\n{bullets(lines)}{caveat}"


def _headline(question: str, subject: str, total: int, shown: Sequence[int]) -> str:
    """Writes how many documents there are in `total`, and, where that is asked, how many passages, whose numbers are
    known only of the documents that are `shown`."""
    count, who = total, counted(total, "document")
    if pattern("how_often").search(question):
        count = sum(shown)
        who = said("passages_of", passages=counted(count, "passage"), documents=who)
        who = said("at_least", count=who) if total > len(shown) else who
    key = f"{'hold_words' if ' ' in subject else 'mention'}{'_one' if count == 1 else ''}"
    return said(key, who=who, subject=subject)


def _named_answer(target: TargetDocuments, listing: DocumentList) -> str:
    names = [one.filename for one in listing.documents]
    indices = sorted({index for mention in target.matched for index in match_mention(mention, names)})
    wanted = joined([f"'{name(one.phrase)}'" for one in target.matched])
    count = counted(listing.total_count, "document")
    head = said("name_matches" if len(indices) == 1 else "names_match", count=len(indices), of=count, wanted=wanted)
    return f"{head}\n{bullets(name(names[index]) for index in indices)}"


def iql_answer(asked: ClauseQuery, analysis: QueryMatches, where: str, skip: int) -> str:
    """Says which passages match the query, with quotes, or how the documents score. It gives no figure that the result
    does not hold. `where` names the one document that was searched; `skip` matches have been shown before."""
    viewed = view_without_match(analysis) if analysis.total_matches else ""
    end = "." if asked.compares else f"; {said('from_others')}"
    none = f"{said('not_satisfied_in', query=asked.iql, where=viewed)}{end}\n\n" if viewed else ""
    body = _compared_documents(asked, analysis) if asked.compares else _matches(asked, analysis, where, skip)
    return none + body + not_analysed(analysis.errors)


def _matches(asked: ClauseQuery, analysis: QueryMatches, where: str, skip: int) -> str:
    if analysis.errors and not analysis.document_results:
        return said("none_analysed")
    if not analysis.total_matches and where and not analysis.errors:
        return said("not_satisfied_in", query=asked.iql, where=where) + "."
    if not analysis.total_matches:
        count = analysis.document_count - len(analysis.errors)
        return said("not_satisfied_in_one" if count == 1 else "not_satisfied_in_all", query=asked.iql, count=count)
    matches = [match for document in analysis.document_results for match in document.passages][:_MAX_QUOTES]
    seen = skip + len(matches)
    more = analysis.total_matches - seen
    rest = "\n\n" + said("show_more", seen=seen, passages=counted(more, "more passage")) if more > 0 else ""
    lines = bullets(f"{place(one)}: {quoted_opening(one)}" for one in matches)
    key = "satisfies" if analysis.total_matches == 1 else "satisfy"
    return f"{said(key, count=analysis.total_matches, query=asked.iql)}\n{lines}{rest}"


def _compared_documents(asked: ClauseQuery, analysis: QueryMatches) -> str:
    ranked = analysis.document_results[:_MAX_DOCUMENTS]
    lines = bullets(_document_line(document) for document in ranked)
    head = f"{said('scores', query=asked.iql)}\n{lines}"
    return f"{head}\n\n{_verdict(asked.subject, ranked)}" if len(ranked) > 1 else head


def _document_line(document: AnalysedDocument) -> str:
    quoted = next((f" {quoted_opening(one)}" for one in document.passages), "")
    return f"{name(document.filename)}: {document.score:.2f}{quoted}"


def _verdict(subject: str, ranked: Sequence[AnalysedDocument]) -> str:
    best = [name(one.filename) for one in ranked if one.score == ranked[0].score]
    if len(best) > 1:
        return said("equally_about", where=joined(best), subject=name(subject))
    return said("more_about" if len(ranked) == 2 else "most_about", where=best[0], subject=name(subject))


def types_answer(found: ClassifiedClauses, where: str) -> str:
    """Lists the types that were found, each with its counts and a quote of its surest clause, and names the types that
    were not found. `where` names the one document that was searched."""
    viewed = view_without_match(found) if found.total_found else ""
    none = f"{said('no_types_in', where=viewed)}; {said('from_others')}\n\n" if viewed else ""
    return none + _found_types(found, where) + _absent_types(found) + not_analysed(found.document_errors)


def _found_types(found: ClassifiedClauses, where: str) -> str:
    if not found.total_found:
        types = counted(found.types_searched, "type")
        is_in_one = where and not found.document_errors
        return said("no_type_in", types=types, where=where) if is_in_one else said("no_type", types=types)
    shown = bullets(_type_line(one) for one in found.clause_types)
    more = found.types_found - len(found.clause_types)
    rest = f"\n- {said('and_types', types=counted(more, 'more type'))}" if more > 0 else ""
    return f"{said('types_found', count=found.types_found, all=found.types_searched)}\n{shown}{rest}"


def _type_line(one: ClausesOfType) -> str:
    clauses = counted(one.clauses, "clause")
    if one.documents > 1:
        clauses = said("in_documents", clauses=clauses, documents=counted(one.documents, "document"))
    quoted = next(
        (f": {place(passage)}: {quoted_opening(passage)}" for passage in one.passages),
        "",
    )
    return f"{name(one.clause_type)} ({clauses}){quoted}"


def _absent_types(found: ClassifiedClauses) -> str:
    if not (found.total_found and found.not_found):
        return ""
    more = found.types_searched - found.types_found - len(found.not_found)
    names = [name(one) for one in found.not_found] + ([said("more", count=more)] if more > 0 else [])
    return "\n\n" + said("types_not_found", types=joined(names))


def is_about_uploads(message: UserMessage) -> bool:
    """Tells whether a message is about its uploaded files: it mentions them, names one of them, or comes without a
    matter."""
    if not message.assets:
        return False
    named = any(asset.filename.lower() in message.text.lower() for asset in message.assets)
    return named or not message.has_matter or bool(pattern("about_uploads").search(message.text))


def uploads_answer(question: str, assets: Sequence[Asset]) -> str:
    """Quotes the summaries of the files, first those that share words with the question."""
    asked = stems(question)
    ordered = sorted(assets, key=lambda one: -len(asked & stems(f"{one.filename} {one.summary}")))
    lines = [f"{name(one.filename)}: {quote(one.summary.removesuffix('...').strip(), None)}" for one in ordered]
    return f"{said('summaries')}\n{bullets(lines)}"


def not_found(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Says that the documents that were searched have no answer, of the one on view first where all were searched;
    empty where no document was searched by itself."""
    documents = target.documents or ((request.viewed,) if request.viewed else ())
    if not documents or not all(evidence.has_searched(one.document_id) for one in documents):
        return ""
    sentence = _none(request, joined([_named(request, one) for one in documents]))
    is_alone = evidence.listing is not None and evidence.listing.total_count == 1
    if not is_alone and any(not search.document_ids for search in evidence.searches):
        return f"{sentence}, {said('none_elsewhere', request.language)}"
    return f"{sentence}.{offer(request, target, evidence)}"


def none_in_view(request: UserRequest, evidence: Evidence, quoted: Collection[str]) -> str:
    """Returns the first sentence of an answer that quotes other documents only, where the document on view was searched
    by itself; empty for other answers. `quoted` are the ids of the documents."""
    viewed = request.viewed
    if viewed is None or viewed.document_id in quoted or not evidence.has_searched(viewed.document_id):
        return ""
    none = _none(request, on_view(viewed.filename, request.language))
    return f"{none}; {said('from_others', request.language)}\n\n"


def view_without_match(result: TurnResult) -> str:
    """Names the document on view where the result of an analysis tells that it was analysed and has none of what others
    have; empty otherwise."""
    viewed = result.on_view
    return on_view(viewed.filename) if viewed and viewed.searched and not viewed.found else ""


def offer(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Offers to look in the other documents where the document on view alone was searched and the matter has others."""
    is_view_alone = request.viewed is not None and target.ids == [request.viewed.document_id]
    return f" {said('offer', request.language)}" if is_view_alone and evidence.has_other_documents else ""


def on_view(filename: str, language: str = ENGLISH) -> str:
    return said("on_view", language, where=name(filename))


def searched_document(request: UserRequest, target: TargetDocuments) -> str:
    """Names the one document that was searched; empty where there are several, or all of the matter."""
    return _named(request, target.documents[0]) if len(target.documents) == 1 else ""


def _named(request: UserRequest, document: ListedDocument) -> str:
    is_viewed = request.viewed is not None and request.viewed.document_id == document.document_id
    return on_view(document.filename, request.language) if is_viewed else name(document.filename)


def _none(request: UserRequest, where: str) -> str:
    """Says that something was not found there, in the question's own words where they are a noun."""
    if request.section:
        return said("no_noun", noun="such section", where=where)
    if found := pattern("asked_noun").match(one_line(request.bare_question).rstrip(" ?.!")):
        what = pattern("place_of_noun").sub("", found["what"])
        if pattern("plain_noun").fullmatch(what):
            return said("no_noun", noun=what, where=where)
    return said("nothing", request.language, where=where)

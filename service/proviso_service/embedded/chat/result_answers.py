"""Writes the answers that give the result of a tool as it is: lists, counts, matches of a query and types of clauses.
The summaries of uploaded files are given in the same way."""

from collections.abc import Sequence

from proviso_service.embedded.chat.absence import view_without_match
from proviso_service.embedded.chat.clause_queries import ClauseQuery
from proviso_service.embedded.chat.conversation import Asset, Evidence, Search, UserMessage
from proviso_service.embedded.chat.mentions import match_mention
from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.quoting import opening_of
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.text import stems
from proviso_service.embedded.chat.wording import (
    bullets,
    counted,
    document_lines,
    joined,
    name,
    not_analysed,
    place,
    quote,
    reference,
    said,
)
from proviso_service.tool_results import (
    AnalysedDocument,
    ClassifiedClauses,
    ClausesOfType,
    DocumentList,
    MatchingDocument,
    QueryMatches,
)

_HOW_OFTEN = pattern("how_often")

_MAX_QUOTES = 16
_MAX_DOCUMENTS = 12

_ABOUT_UPLOADS = pattern("about_uploads")


def documents_answer(request: UserRequest, target: TargetDocuments, listing: DocumentList) -> str:
    """Lists the documents of the matter, or those of them whose names match the request."""
    if target.matched and listing.is_whole:
        return _named_answer(target, listing)
    status = listing.summary
    parts = [f"{status.ready_for_search} ready for search"]
    parts += [f"{status.still_processing} still being processed"] if status.still_processing else []
    parts += [f"{status.failed} failed"] if status.failed else []
    states = f" ({joined(parts)})" if len(parts) > 1 else ""
    return f"The matter has {counted(listing.total_count, 'document')}{states}:\n{document_lines(listing)}"


def count_answer(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, where: str = "", more: str = ""
) -> str:
    """Says how many documents hold the words asked for. The number is exact when the tool has counted; otherwise it is
    the least that can be said from the passages that were found. `where` names the one document that was searched, and
    `more` follows where nothing was found."""
    search = evidence.searches[-1]
    matching, is_exact = _matching(search)
    subject = name(search.query or request.subject(target.matched))
    still = [name(one) for one in search.documents_processing if one]
    caveat = "\n" + said("not_counted", where=joined(still)) if still else ""
    if not matching:
        if where:
            words = "all the words of " if " " in subject else ""
            return f"I found no passage with {words}'{subject}' in {where}.{more}{caveat}"
        of = f" of {joined([name(one.filename) for one in target.documents])}" if target.documents else ""
        return f"{_no_match(subject)}{of}.{caveat}"
    lines = [
        f"{name(one.filename)}: {counted(one.passages, 'passage')}{reference(_ref_of(search, one))}" for one in matching
    ]
    total = max(search.documents_matching_count or 0, len(matching))
    if total > len(matching):
        lines.append(f"and {total - len(matching)} more")
    return f"{_headline(request, subject, matching, total, is_exact)}:\n{bullets(lines)}{caveat}"


def _named_answer(target: TargetDocuments, listing: DocumentList) -> str:
    names = [one.filename for one in listing.documents]
    indices = sorted({index for mention in target.matched for index in match_mention(mention, names)})
    wanted = joined([f"'{name(one.phrase)}'" for one in target.matched])
    count = counted(listing.total_count, "document")
    verb = "has a name that matches" if len(indices) == 1 else "have names that match"
    return f"{len(indices)} of {count} {verb} {wanted}:\n{bullets(name(names[index]) for index in indices)}"


def _matching(search: Search) -> tuple[tuple[MatchingDocument, ...], bool]:
    if search.documents_matching is not None:
        return search.documents_matching, True
    found: dict[str, MatchingDocument] = {}
    for one in search.results:
        before = found.get(one.filename)
        passages = before.passages + 1 if before else 1
        found[one.filename] = MatchingDocument(document_id=one.document_id, filename=one.filename, passages=passages)
    return tuple(found.values()), False


def _headline(
    request: UserRequest, subject: str, matching: tuple[MatchingDocument, ...], total: int, is_exact: bool
) -> str:
    """Writes the counts. Documents are counted exactly when the tool did so; passages are known only of the documents
    that are shown."""
    documents = f"{'' if is_exact else 'At least '}{counted(total, 'document')}"
    if not _HOW_OFTEN.search(request.question):
        return f"{documents} {_holds(subject, total == 1)}"
    passages = sum(one.passages for one in matching)
    least = "" if is_exact and total == len(matching) else "At least "
    return f"{least}{counted(passages, 'passage')} of {counted(total, 'document')} {_holds(subject, passages == 1)}"


def _holds(subject: str, is_one: bool) -> str:
    if " " not in subject:
        return f"mention{'s' if is_one else ''} '{subject}'"
    return f"{'has' if is_one else 'have'} all the words of '{subject}' in one passage"


def _no_match(subject: str) -> str:
    return f"No searched passage holds {'all the words of ' if ' ' in subject else ''}'{subject}'"


def _ref_of(search: Search, document: MatchingDocument) -> int | None:
    same = (one.ref for one in search.results if one.filename == document.filename)
    return next(same, None)


def iql_answer(asked: ClauseQuery, analysis: QueryMatches, where: str = "") -> str:
    """Says which passages match the query, with quotes, or how the documents score. It gives no figure that the result
    does not hold. `where` names the one document that was searched."""
    body = _compared_documents(asked, analysis) if asked.compares else _matches(asked, analysis, where)
    return _without_match(asked, analysis) + body + not_analysed(analysis.errors)


def _without_match(asked: ClauseQuery, analysis: QueryMatches) -> str:
    """Returns the first sentence of an answer that quotes documents of which the one on view is none."""
    viewed = view_without_match(analysis) if analysis.total_matches else ""
    if not viewed:
        return ""
    others = "" if asked.compares else "; what follows comes from other documents"
    return f"I found no passage that satisfies the query {_shown(asked.iql)} in {viewed}{others}.\n\n"


def _matches(asked: ClauseQuery, analysis: QueryMatches, where: str) -> str:
    if analysis.errors and not analysis.document_results:
        return "I could not analyse any document."
    if not analysis.total_matches and where and not analysis.errors:
        return f"I found no passage that satisfies the query {_shown(asked.iql)} in {where}."
    if not analysis.total_matches:
        return f"No passage satisfies the query {_shown(asked.iql)} in {_analysed_documents(analysis)}."
    matches = [match for document in analysis.document_results for match in document.passages][:_MAX_QUOTES]
    passages = "passage satisfies" if analysis.total_matches == 1 else "passages satisfy"
    more = analysis.total_matches - len(matches) - asked.skip
    rest = f'\n\n{counted(more, "more passage")} not quoted here; say "show more" for the next.' if more > 0 else ""
    lines = bullets(f"{place(one)}: {quote(opening_of(one), one.ref)}" for one in matches)
    return f"{analysis.total_matches} {passages} the query {_shown(asked.iql)}:\n{lines}{rest}"


def _compared_documents(asked: ClauseQuery, analysis: QueryMatches) -> str:
    ranked = analysis.document_results[:_MAX_DOCUMENTS]
    lines = bullets(_document_line(document) for document in ranked)
    head = f"Scores of the query {_shown(asked.iql)}, from 0 to 1:\n{lines}"
    return f"{head}\n\n{_verdict(asked.subject, ranked)}" if len(ranked) > 1 else head


def _document_line(document: AnalysedDocument) -> str:
    said = next((f" {quote(opening_of(one), one.ref)}" for one in document.passages), "")
    return f"{name(document.filename)}: {document.score:.2f}{said}"


def _verdict(subject: str, ranked: Sequence[AnalysedDocument]) -> str:
    best = [name(one.filename) for one in ranked if one.score == ranked[0].score]
    if len(best) > 1:
        return f"By their scores {joined(best)} are equally about {name(subject)}."
    word = "more" if len(ranked) == 2 else "most"
    return f"By its score {best[0]} is {word} about {name(subject)}."


def _shown(query: str) -> str:
    return f"`{query}`"


def _analysed_documents(analysis: QueryMatches) -> str:
    count = analysis.document_count - len(analysis.errors)
    return "the document" if count == 1 else f"the {count} documents"


def types_answer(found: ClassifiedClauses, where: str = "") -> str:
    """Lists the types that were found, each with its counts and a quote of its surest clause, and names the types that
    were not found. `where` names the one document that was searched."""
    viewed = view_without_match(found) if found.total_found else ""
    none = (
        f"I found no clause of these types in {viewed}; what follows comes from other documents.\n\n" if viewed else ""
    )
    return none + _found_types(found, where) + _absent_types(found) + not_analysed(found.document_errors)


def _found_types(found: ClassifiedClauses, where: str) -> str:
    if not found.total_found:
        place = f" in {where}" if where and not found.document_errors else ""
        return f"I found no clause of the {counted(found.types_searched, 'type')} that I looked for{place}."
    shown = bullets(_type_line(one) for one in found.clause_types)
    more = found.types_found - len(found.clause_types)
    rest = f"\n- and {counted(more, 'more type')}" if more > 0 else ""
    return (
        f"I found clauses of {found.types_found} of the {found.types_searched} types that I looked for:\n{shown}{rest}"
    )


def _type_line(one: ClausesOfType) -> str:
    documents = f" in {counted(one.documents, 'document')}" if one.documents > 1 else ""
    head = f"{name(one.clause_type)} ({counted(one.clauses, 'clause')}{documents})"
    said = next((f": {place(passage)}: {quote(opening_of(passage), passage.ref)}" for passage in one.passages), "")
    return head + said


def _absent_types(found: ClassifiedClauses) -> str:
    if not (found.total_found and found.not_found):
        return ""
    more = found.types_searched - found.types_found - len(found.not_found)
    names = [name(one) for one in found.not_found] + ([f"{more} more"] if more > 0 else [])
    return f"\n\nNot found: {joined(names)}."


def is_about_uploads(message: UserMessage) -> bool:
    """Tells whether a message is about its uploaded files: it mentions them, names one of them, or comes without a
    matter."""
    if not message.assets:
        return False
    named = any(asset.filename.lower() in message.text.lower() for asset in message.assets)
    return named or not message.has_matter or bool(_ABOUT_UPLOADS.search(message.text))


def uploads_answer(question: str, assets: Sequence[Asset]) -> str:
    """Quotes the summaries of the files, first those that share words with the question."""
    asked = stems(question)
    ordered = sorted(assets, key=lambda one: -len(asked & stems(f"{one.filename} {one.summary}")))
    lines = [f"{name(one.filename)}: {quote(one.summary.removesuffix('...').strip(), None)}" for one in ordered]
    return f"{said('summaries')}\n{bullets(lines)}"

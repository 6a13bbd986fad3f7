"""Answers out of IQL results: the query that was run, the passages that satisfy it, the documents by their scores."""

from collections.abc import Sequence

from proviso_service.embedded.chat.clause_queries import ClauseQuery
from proviso_service.embedded.chat.evidence import Analysed, Analysis
from proviso_service.embedded.chat.quoting import opening_of
from proviso_service.embedded.chat.rendering import bullets, counted, joined, name, not_analysed, place, quote

_MAX_QUOTES = 8
_MAX_COMPARED = 12


def iql_answer(asked: ClauseQuery, analysis: Analysis) -> str:
    """With quotes where anything matched; without a figure that the result does not hold."""
    body = _compared(asked, analysis) if asked.compares else _found(asked, analysis)
    return body + not_analysed(analysis.errors)


def _found(asked: ClauseQuery, analysis: Analysis) -> str:
    if not analysis.total_matches:
        return f"No passage satisfies the query {_shown(asked.iql)} in {_documents(analysis)}."
    matches = [match for document in analysis.document_results for match in document.passages][:_MAX_QUOTES]
    passages = "passage satisfies" if analysis.total_matches == 1 else "passages satisfy"
    more = analysis.total_matches - len(matches)
    rest = f"\n\n{counted(more, 'more passage')} not quoted here." if more > 0 else ""
    lines = bullets(f"{place(one)}: {quote(opening_of(one), one.ref)}" for one in matches)
    return f"{analysis.total_matches} {passages} the query {_shown(asked.iql)}:\n{lines}{rest}"


def _compared(asked: ClauseQuery, analysis: Analysis) -> str:
    ranked = analysis.document_results[:_MAX_COMPARED]
    lines = bullets(_line(document) for document in ranked)
    head = f"Scores of the query {_shown(asked.iql)}, from 0 to 1:\n{lines}"
    return f"{head}\n\n{_verdict(asked.subject, ranked)}" if len(ranked) > 1 else head


def _line(document: Analysed) -> str:
    said = next((f" {quote(opening_of(one), one.ref)}" for one in document.passages), "")
    return f"{name(document.filename)}: {document.score:.2f}{said}"


def _verdict(subject: str, ranked: Sequence[Analysed]) -> str:
    best = [name(one.filename) for one in ranked if one.score == ranked[0].score]
    if len(best) > 1:
        return f"By their scores {joined(best)} are equally about {name(subject)}."
    word = "more" if len(ranked) == 2 else "most"
    return f"By its score {best[0]} is {word} about {name(subject)}."


def _shown(query: str) -> str:
    return f"`{query}`"


def _documents(analysis: Analysis) -> str:
    count = analysis.document_count - len(analysis.errors)
    return "the document" if count == 1 else f"the {count} documents"

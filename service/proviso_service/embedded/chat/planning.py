"""Chooses the next tool calls for a request, or none when it is time to answer. A turn has at most three calls."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.extracted import asks_for_all
from proviso_service.embedded.chat.intents import speaks_of_documents
from proviso_service.embedded.chat.mentions import ABBREVIATIONS, proper_words, without_mentions
from proviso_service.embedded.chat.phrases import Intent, pattern
from proviso_service.embedded.chat.request import (
    Scope,
    TargetDocuments,
    UserRequest,
    as_listed,
    may_widen,
    needs_listing,
)
from proviso_service.embedded.chat.text import one_line
from proviso_service.reading import joined_words
from proviso_service.tool_results import (
    CLASSIFY_TOOL,
    EXTRACT_TOOL,
    IQL_TOOL,
    LIST_TOOL,
    RETRIEVER_TOOL,
    SEARCH_TOOL,
    TEXT_TOOL,
    ListedDocument,
)

MAX_CALLS = 3
_MAX_QUERY_CHARS = 300
_MAX_TEXT_CHARS = 2_000
# Low, because the model scores the sentences of the passages itself; what is plainly unrelated is still left out.
_THRESHOLD = 0.1
# With 0.3 and 0.8 fewer of the questions that were worked with are answered.
_SEMANTIC_WEIGHT = 0.6
# Numbers of passages to ask for: the more passages, the less is shown of each.
_MANY = 20
_FEW = 4
_FEWEST = 2
_EACH = 3
_MENTIONS = pattern("mentions")
_ABOUT_DOCUMENTS = frozenset({Intent.LIST, Intent.SHOW, Intent.SUMMARY, Intent.COMPARE})

Tools = Mapping[str, frozenset[str]]
"""The names of the arguments of each tool that is offered, by the name of the tool."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call to make."""

    name: str
    args: Mapping[str, Any]


def next_calls(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    """Returns the calls to make now. None of them was made before, and all are to tools that are offered."""
    left = MAX_CALLS - len(evidence.calls)
    if request.is_document_free or left <= 0:
        return []
    if _needs_listing(request, tools) and not evidence.has_called(LIST_TOOL) and LIST_TOOL in tools:
        named = {"name": _names(request)} if request.mentions or request.names else {}
        return [_accepted(PlannedCall(LIST_TOOL, named), tools)]
    wanted = [] if _is_settled(request, target) else _calls_for(request, target, evidence, tools)
    made = [(call.name, dict(call.args)) for call in evidence.calls]
    offered = [_accepted(call, tools) for call in wanted if call.name in tools]
    return [call for call in offered if (call.name, call.args) not in made][:left]


def documentation_call(request: UserRequest, evidence: Evidence, tools: Tools) -> PlannedCall | None:
    """Returns the one search of the documentation for a question without a matter. It is None for questions about a
    matter's own documents or clauses, which only a matter answers."""
    about_documents = request.intent in _ABOUT_DOCUMENTS or (
        request.intent is Intent.COUNT and speaks_of_documents(request.question)
    )
    if about_documents or request.is_about_clauses or RETRIEVER_TOOL not in tools or evidence.calls:
        return None
    return _accepted(PlannedCall(RETRIEVER_TOOL, {"query": one_line(request.question, _MAX_QUERY_CHARS)}), tools)


def _needs_listing(request: UserRequest, tools: Tools) -> bool:
    """Tells whether the list of documents is needed first. Clauses are searched in all documents, without a list, when
    the question means no document in particular."""
    is_analysed = _analysis(request, TargetDocuments(), tools) is not None
    return needs_listing(request) and (not is_analysed or bool(request.mentions) or request.scope is Scope.EARLIER)


def second_look(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    """Returns what to try, once, when the evidence gave no answer. Where only the beginning of one document was read,
    it is a search; where only the document on view was searched for an open question, the rest of the matter; otherwise
    a search in the question's own words."""
    is_analysed = bool(evidence.analyses or evidence.classified)
    if len(evidence.calls) >= MAX_CALLS or is_analysed or request.intent in (Intent.SHOW, Intent.SUMMARY):
        return []
    if not evidence.searches:
        was_opened = evidence.has_called(TEXT_TOOL) and SEARCH_TOOL in tools
        return [_accepted(_first_search(request, target), tools)] if was_opened else []
    is_searched = any(call.name == SEARCH_TOOL and not call.args.get("document_ids") for call in evidence.calls)
    if may_widen(request, target) and evidence.has_other_documents and SEARCH_TOOL in tools and not is_searched:
        return [_accepted(_search(request, TargetDocuments(), _MANY, each=2), tools)]
    return []


def _names(request: UserRequest) -> str:
    """Returns words that the names of the documents meant may hold, with abbreviations written out."""
    phrases = " ".join((*(one.phrase for one in request.mentions), *request.names))
    spelled_out = [ABBREVIATIONS[word] for word in joined_words(phrases) if word in ABBREVIATIONS]
    return one_line(" ".join([phrases, *spelled_out]), _MAX_QUERY_CHARS)


def _is_settled(request: UserRequest, target: TargetDocuments) -> bool:
    """Tells whether nothing is left to look up: the list was the answer, or the documents that are meant are missing
    or not ready."""
    if not request.is_about_clauses and _is_about_documents(request, target):
        return True
    return bool((target.missing or target.unready) and not target.documents)


def _is_about_documents(request: UserRequest, target: TargetDocuments) -> bool:
    return request.intent is Intent.LIST or (request.intent is Intent.COUNT and not request.subject(target.matched))


def _calls_for(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    if analysis := _analysis(request, target, tools):
        return [] if evidence.has_called(analysis.name) else [analysis]
    if request.intent in (Intent.SHOW, Intent.SUMMARY):
        return _reading(request, target, evidence, tools)
    is_looked_for = evidence.has_called(SEARCH_TOOL) or evidence.has_called(EXTRACT_TOOL)
    return [] if is_looked_for else _looking(request, target, evidence, tools)


def _looking(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    """Returns the first calls that look for what is asked."""
    if _asks_each(request, target, tools):
        return [_extraction(request, target, each=True)]
    if request.intent is Intent.COMPARE and len(target.documents) != 1:
        return _comparison(request, target, evidence)
    return [_first_search(request, target), *_asked_too(request, target, tools)]


def _asks_each(request: UserRequest, target: TargetDocuments, tools: Tools) -> bool:
    """Tells whether each of several documents is asked, in one call."""
    if "each_document" not in tools.get(EXTRACT_TOOL, ()) or request.section or request.term:
        return False
    if len(target.documents) > 1:
        return request.intent in (Intent.COMPARE, Intent.FACT, Intent.CLAUSE)
    is_of_words = request.intent is Intent.COUNT and _MENTIONS.search(request.question) is not None
    return request.asks_each_document and not (target.documents or target.missing or is_of_words)


def _asked_too(request: UserRequest, target: TargetDocuments, tools: Tools) -> list[PlannedCall]:
    """Returns the call that looks for the answer itself, for questions that ask for one."""
    compares_one = request.intent is Intent.COMPARE and request.viewed is None
    asks = (compares_one or request.intent in (Intent.FACT, Intent.CLAUSE)) and not request.section
    if not asks or EXTRACT_TOOL not in tools:
        return []
    # Asked as each of several, a document gives more than one answer.
    return [_extraction(request, target, each=asks_for_all(request, target))]


def _extraction(request: UserRequest, target: TargetDocuments, *, each: bool) -> PlannedCall:
    question = without_mentions(request.question, target.matched, "agreement")
    if len(target.documents) > 1 and (names := proper_words(question)):
        # Names have told which documents are meant; each calls its parties otherwise.
        question = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "the party", question)
    args: dict[str, Any] = {"question": one_line(question)}
    if target.documents:
        args["document_ids"] = target.ids
    return PlannedCall(EXTRACT_TOOL, args | ({"each_document": True} if each else {}))


def _first_search(request: UserRequest, target: TargetDocuments) -> PlannedCall:
    """Returns a search for few long passages of one document, or for many short ones of many documents."""
    if request.intent is Intent.COUNT or request.section:
        return _search(request, target, _FEWEST)
    if len(target.documents) == 1:
        return _search(request, target, _FEWEST if request.intent is Intent.FIND else _FEW)
    return _search(request, target, _MANY, each=_EACH)


def _reading(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    documents = target.documents
    if not documents and evidence.listing and len(evidence.listing.documents) == 1:
        documents = evidence.listing.documents
    if not documents or evidence.has_called(TEXT_TOOL) or evidence.has_called(SEARCH_TOOL):
        return []
    if request.section or TEXT_TOOL not in tools:
        return [_search(request, TargetDocuments(documents), _FEWEST)]
    return [_opening_of(documents[0])]


def _opening_of(document: ListedDocument) -> PlannedCall:
    return PlannedCall(TEXT_TOOL, {"document_id": document.document_id, "start": 0, "max_length": _MAX_TEXT_CHARS})


def _comparison(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> list[PlannedCall]:
    """Returns two searches, each in one half of the documents, so that there is room for all of them. Where all
    documents are compared and they are very many, one of the two is in the document on view."""
    documents = target.documents
    if not documents and not request.mentions and evidence.listing and evidence.listing.is_whole:
        documents = tuple(one for one in evidence.listing.documents if one.is_ready)
    if len(documents) == 1:
        return [_first_search(request, replace(target, documents=documents))]
    if not 2 <= len(documents) <= 2 * _MANY:
        everywhere = _search(request, target, _MANY, each=1)
        if documents or request.viewed is None:
            return [everywhere]
        return [_first_search(request, TargetDocuments((as_listed(request.viewed),))), everywhere]
    half = -(-len(documents) // 2)
    each = max(1, _FEW // half)
    return [
        _search(request, TargetDocuments(part, matched=target.matched), each * len(part), each=each)
        for part in (documents[:half], documents[half:])
    ]


def _analysis(request: UserRequest, target: TargetDocuments, tools: Tools) -> PlannedCall | None:
    """Returns the one call that answers a question about clauses; None for other questions, and where its tool is not
    offered."""
    where = {"document_ids": target.ids} if target.documents else {}
    if request.asks_types and CLASSIFY_TOOL in tools:
        return PlannedCall(CLASSIFY_TOOL, where)
    if request.clauses and IQL_TOOL in tools:
        compares_all = request.clauses.compares and not request.mentions
        seen = {"skip": request.clauses.skip} if request.clauses.skip else {}
        return PlannedCall(IQL_TOOL, {"query": request.clauses.iql} | seen | ({} if compares_all else where))
    return None


def _search(request: UserRequest, target: TargetDocuments, max_results: int, *, each: int = 0) -> PlannedCall:
    args: dict[str, Any] = {
        "query": query_for(request, target),
        "max_results": min(max_results, _MANY),
        "threshold": _THRESHOLD,
        "semantic_weight": _SEMANTIC_WEIGHT,
    }
    if each:
        args["max_per_document"] = each
    if target.documents:
        args["document_ids"] = target.ids
    return PlannedCall(SEARCH_TOOL, args)


def query_for(request: UserRequest, target: TargetDocuments) -> str:
    """Returns what to search for. A count needs the bare subject, because it counts the passages that hold all words
    of the query."""
    if request.intent is Intent.COUNT:
        return one_line(request.subject(target.matched), _MAX_QUERY_CHARS)
    if request.section:
        return f"section {request.section}"
    if request.term:
        return f'"{request.term}" means'
    asked = without_mentions(request.question, target.matched)
    return one_line(re.sub(r"\s+(?=[?.!])|\b(?:in|of|to|from|under)\s*(?=[?.!]?$)", "", asked), _MAX_QUERY_CHARS)


def _accepted(call: PlannedCall, tools: Tools) -> PlannedCall:
    """Drops the arguments that the tool does not declare, so that an older version of the tool still works."""
    return PlannedCall(call.name, {name: value for name, value in call.args.items() if name in tools[call.name]})

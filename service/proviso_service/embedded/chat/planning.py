"""Chooses the next tool calls for a request, or none when it is time to answer. A turn has at most three calls. Which
ones are made for what is asked is data: `plans.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.extracted import asks_for_all
from proviso_service.embedded.chat.intents import speaks_of_documents
from proviso_service.embedded.chat.mentions import ABBREVIATIONS, find_mentions, proper_words, without_mentions
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
_MENTIONS = pattern("mentions")
_LEFT_BEHIND = re.compile(r"\s*\b(?:in|of|to|from|under)(?: (?:the|our|my|this|that))?\s*(?=[?.!]?$)|\s+(?=[?.!])")
"""What stood before the name of a document at the end of a question."""
_ABOUT_DOCUMENTS = frozenset({Intent.LIST, Intent.SHOW, Intent.SUMMARY, Intent.COMPARE})

Tools = Mapping[str, frozenset[str]]
"""The names of the arguments of each tool that is offered, by the name of the tool."""

Facts = Mapping[str, bool]
"""Whether each thing that plans ask about holds of a request."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call to make."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is called where all of `when` holds."""

    when: Sequence[str]
    calls: Sequence[Mapping[str, Any]]

    def fits(self, facts: Facts) -> bool:
        """Tells whether such a request is meant. Raises KeyError for a condition that nothing is told about."""
        return all(any(_holds(one, facts) for one in condition.split("|")) for condition in self.when)


def next_calls(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    """Returns the calls to make now. None of them was made before, and all are to tools that are offered."""
    if request.is_document_free or any(call.name != LIST_TOOL for call in evidence.calls):
        return []
    if _needs_listing(request, tools) and not evidence.calls and LIST_TOOL in tools:
        is_named = request.asked_of_each is None and bool(request.mentions or request.names)
        named = {"name": _names(request)} if is_named else {}
        return [_accepted(PlannedCall(LIST_TOOL, named), tools)]
    wanted = [] if _is_settled(request, target) else _calls_for(request, target, evidence, tools)
    return [_accepted(call, tools) for call in wanted if call.name in tools][: MAX_CALLS - len(evidence.calls)]


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
    is_analysed = (request.asks_types and CLASSIFY_TOOL in tools) or (request.clauses and IQL_TOOL in tools)
    return needs_listing(request) and (not is_analysed or bool(request.mentions) or request.scope is Scope.EARLIER)


def second_look(request: UserRequest, target: TargetDocuments, evidence: Evidence, tools: Tools) -> list[PlannedCall]:
    """Returns what to try, once, when the evidence gave no answer: where only the document on view was searched for an
    open question, a search of the rest of the matter."""
    was_searched = bool(evidence.searches) and request.intent not in (Intent.SHOW, Intent.SUMMARY)
    if len(evidence.calls) >= MAX_CALLS or evidence.analyses or evidence.classified or not was_searched:
        return []
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
    facts = facts_of(request, target, tools)
    plan = next(one for one in plans() if one.fits(facts))
    made = []
    for call in plan.calls:
        made += made_of(request, target, evidence, call)
    return made


def facts_of(request: UserRequest, target: TargetDocuments, tools: Tools) -> Facts:
    """Tells what holds of a request, in the words of the plans: its intent and the tools that are offered among it."""
    asks_words = request.intent is Intent.COUNT and _MENTIONS.search(request.question) is not None
    can_ask_each = "each_document" in tools.get(EXTRACT_TOOL, ()) and not request.section and not request.term
    return {
        **{str(intent): intent is request.intent for intent in Intent},
        **{f"offers {name}": name in tools for name in (CLASSIFY_TOOL, IQL_TOOL, TEXT_TOOL)},
        "types": request.asks_types,
        "clauses": request.clauses is not None,
        "section": bool(request.section),
        "one": len(target.documents) == 1,
        "several": len(target.documents) > 1,
        "named": bool(target.documents or target.missing),
        "on view": request.viewed is not None,
        "can ask each": can_ask_each,
        "asks each": request.asked_of_each is not None,
        "asks all": asks_for_all(request, target),
        "counts words": asks_words,
        "asks two": len(request.parts) > 1,
    }


@cache
def plans() -> tuple[Plan, ...]:
    read = tomllib.loads(resources.files(__package__).joinpath("plans.toml").read_text("utf-8"))
    return tuple(Plan(one["when"], one["calls"]) for one in read["plans"])


def _holds(fact: str, facts: Facts) -> bool:
    return not facts[fact[1:]] if fact.startswith("!") else facts[fact]


def made_of(
    request: UserRequest, target: TargetDocuments, evidence: Evidence, call: Mapping[str, Any]
) -> list[PlannedCall]:
    """Makes a call of a plan. Raises ValueError for one that there is not."""
    read = replace(target, documents=_documents_read(target, evidence))
    match call:
        case {"call": "classify"}:
            made = [PlannedCall(CLASSIFY_TOOL, _where(target))]
        case {"call": "query"} if request.clauses:
            seen = {"skip": request.clauses.skip} if request.clauses.skip else {}
            where = {} if request.clauses.compares and not request.mentions else _where(target)
            made = [PlannedCall(IQL_TOOL, {"query": request.clauses.iql} | seen | where)]
        case {"call": "open"}:
            made = [PlannedCall(TEXT_TOOL, _opening_of(one)) for one in read.documents[:1]]
        case {"call": "search_read", "most": most}:
            made = [_search(request, read, most)] if read.documents else []
        case {"call": "compare"}:
            made = _comparison(request, target, evidence)
        case {"call": "extract", **given} if given.keys() <= {"of_each", "part"}:
            asked = request.parts[: given["part"]][-1] if "part" in given else request.question
            made = [_extraction(request, asked, target, each=given.get("of_each", False))]
        case {"call": "search", "most": most, **given} if given.keys() <= {"each"}:
            made = [_search(request, target, most, each=given.get("each", 0))]
        case _:
            raise ValueError(f"There is no such call: {call}")
    return made


def _where(target: TargetDocuments) -> dict[str, Any]:
    return {"document_ids": target.ids} if target.documents else {}


def _extraction(request: UserRequest, text: str, target: TargetDocuments, *, each: bool) -> PlannedCall:
    asked = request.asked_of_each if each and not target.documents else None
    named = {one.phrase for one in target.matched}
    is_whole = text == request.question
    matched = target.matched if is_whole else [one for one in find_mentions(text) if one.phrase in named]
    question = asked.question if asked else without_mentions(text, matched, "agreement")
    if len(target.documents) > 1 and (names := proper_words(question)):
        # Names have told which documents are meant; each calls its parties otherwise.
        question = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "the party", question)
    args = {"question": one_line(question)} | _where(target) | ({"each_document": True} if each else {})
    return PlannedCall(EXTRACT_TOOL, args)


def _documents_read(target: TargetDocuments, evidence: Evidence) -> tuple[ListedDocument, ...]:
    """Returns the documents that are meant where a text is to be read: those that are named, or the only one of the
    matter."""
    listed = evidence.listing.documents if evidence.listing else ()
    return target.documents or (listed if len(listed) == 1 else ())


def _opening_of(document: ListedDocument) -> dict[str, Any]:
    return {"document_id": document.document_id, "start": 0, "max_length": _MAX_TEXT_CHARS}


def _comparison(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> list[PlannedCall]:
    """Returns two searches, each in one half of the documents, so that there is room for all of them. Where all
    documents are compared and they are very many, one of the two is in the document on view."""
    documents = target.documents
    if not documents and not request.mentions and evidence.listing and evidence.listing.is_whole:
        documents = tuple(one for one in evidence.listing.documents if one.is_ready)
    if len(documents) == 1:
        return [_search(request, replace(target, documents=documents), _FEW)]
    if not 2 <= len(documents) <= 2 * _MANY:
        everywhere = _search(request, target, _MANY, each=1)
        if documents or request.viewed is None:
            return [everywhere]
        return [_search(request, TargetDocuments((as_listed(request.viewed),)), _FEW), everywhere]
    half = -(-len(documents) // 2)
    each = max(1, _FEW // half)
    return [
        _search(request, TargetDocuments(part, matched=target.matched), each * len(part), each=each)
        for part in (documents[:half], documents[half:])
    ]


def _search(request: UserRequest, target: TargetDocuments, max_results: int, *, each: int = 0) -> PlannedCall:
    args: dict[str, Any] = {
        "query": query_for(request, target),
        "max_results": min(max_results, _MANY),
        "threshold": _THRESHOLD,
        "semantic_weight": _SEMANTIC_WEIGHT,
    }
    if each:
        args["max_per_document"] = each
    return PlannedCall(SEARCH_TOOL, args | _where(target))


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
    return one_line(_LEFT_BEHIND.sub("", asked), _MAX_QUERY_CHARS)


def _accepted(call: PlannedCall, tools: Tools) -> PlannedCall:
    """Drops the arguments that the tool does not declare, so that an older version of the tool still works."""
    return PlannedCall(call.name, {name: value for name, value in call.args.items() if name in tools[call.name]})
